#include "formats/zip.hpp"

#include <algorithm>
#include <cstdint>

#include "formats/byte_reader.hpp"
#include "formats/quote.hpp"

namespace lapilli {
namespace {

constexpr uint32_t end_signature = 0x06054b50, end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr uint32_t central_signature = 0x02014b50, local_signature = 0x04034b50;
constexpr uint64_t end_bytes = 22, locator64_bytes = 20, record64_bytes = 56, local_bytes = 30, max_comment = 0xffff;
constexpr uint64_t max_entries = 1 << 20;

struct Directory {
  uint64_t entries = 0, offset = 0, bytes = 0;
};

Failure damaged_archive(const std::string& path, const std::string& what) {
  return fail(ErrorCode::invalid_data, "%s: the zip archive is damaged or truncated (%s); fetch the file again", path,
              what);
}

// Finds the end record in `tail`; a comment of up to 64 KiB may follow it.
bool find_end(std::span<const std::byte> tail, uint64_t& position) {
  if (tail.size() < end_bytes) return false;
  const uint64_t last = tail.size() - end_bytes, first = last > max_comment ? last - max_comment : 0;
  for (uint64_t p = last + 1; p-- > first;) {
    uint32_t signature = 0;
    ByteReader r(tail, p);
    if (r.number(signature) && signature == end_signature) {
      position = p;
      return true;
    }
  }
  return false;
}

// Finds the zip64 record, through the locator in front of the end record.
bool find_record64(std::span<const std::byte> tail, uint64_t end, uint64_t& at) {
  if (end < locator64_bytes) return false;
  ByteReader locator(tail, end - locator64_bytes);
  uint32_t signature = 0, disk = 0;
  return locator.number(signature) && signature == locator64_signature && locator.number(disk) && locator.number(at);
}

bool read_record64(std::span<const std::byte> record, Directory& d) {
  ByteReader r(record);
  uint32_t signature = 0;
  uint64_t here = 0;
  return r.number(signature) && signature == end64_signature && r.skip(20) && r.number(here) && r.number(d.entries) &&
         r.number(d.bytes) && r.number(d.offset) && here == d.entries;
}

Status read_directory64(const File& archive, std::span<const std::byte> tail, uint64_t end, Directory& d) {
  uint64_t at = 0;
  const bool there = find_record64(tail, end, at) && at < archive.size();
  if (!there) return damaged_archive(archive.path(), "its zip64 record");
  LAPILLI_TRY(const auto record, archive.view(at, std::min(record64_bytes, archive.size() - at)));
  if (!read_record64(record, d)) return damaged_archive(archive.path(), "its zip64 record");
  return {};
}

Result<Directory> read_directory(const File& archive) {
  const std::string& path = archive.path();
  const uint64_t tail_bytes = std::min(archive.size(), locator64_bytes + end_bytes + max_comment);
  const uint64_t tail_offset = archive.size() - tail_bytes;
  LAPILLI_TRY(const auto tail, archive.view(tail_offset, tail_bytes));
  uint64_t end = 0;
  if (!find_end(tail, end)) return damaged_archive(path, "it has no directory");
  ByteReader r(tail, end + 4);
  uint16_t disk = 0, directory_disk = 0, here = 0, entries = 0;
  uint32_t bytes = 0, offset = 0;
  if (!(r.number(disk) && r.number(directory_disk) && r.number(here) && r.number(entries) && r.number(bytes) &&
        r.number(offset)))
    return damaged_archive(path, "its last record is cut");
  Directory d{entries, offset, bytes};
  const bool is64 = entries == 0xffff || bytes == 0xffffffff || offset == 0xffffffff;
  if (is64) LAPILLI_CHECK(read_directory64(archive, tail, end, d));
  if (!is64 && (disk != 0 || directory_disk != 0 || here != entries))
    return fail(ErrorCode::unsupported, "%s: zip archives in several parts are not read", path);
  if (d.entries > max_entries)
    return fail(ErrorCode::unsupported, "%s: the zip archive claims %u entries, more than a checkpoint has", path,
                d.entries);
  end += tail_offset;
  if (d.offset > end || d.bytes > end - d.offset) return damaged_archive(path, "its directory lies outside the file");
  return d;
}

struct Header {
  std::string_view name;
  uint16_t flags = 0, method = 0;
  uint64_t packed = 0, size = 0, local = 0;
  uint32_t crc = 0;
};

constexpr uint16_t kStored = 0, kDeflated = 8;

// Replaces sizes of all ones by those in the zip64 field, in its fixed order.
bool apply_zip64(std::span<const std::byte> extra, Header& h) {
  constexpr uint64_t full = 0xffffffff;
  if (h.size != full && h.packed != full && h.local != full) return true;
  ByteReader r(extra);
  uint16_t id = 0, length = 0;
  while (r.number(id) && r.number(length)) {
    std::span<const std::byte> field;
    if (!r.bytes(length, field)) return false;
    if (id != 1) continue;
    ByteReader f(field);
    return (h.size != full || f.number(h.size)) && (h.packed != full || f.number(h.packed)) &&
           (h.local != full || f.number(h.local));
  }
  return false;
}

bool read_central(ByteReader& r, Header& h) {
  uint32_t signature = 0, packed = 0, size = 0, local = 0;
  uint16_t name_bytes = 0, extra_bytes = 0, comment_bytes = 0;
  std::span<const std::byte> extra;
  const bool there = r.number(signature) && signature == central_signature && r.skip(4) && r.number(h.flags) &&
                     r.number(h.method) && r.skip(4) && r.number(h.crc) && r.number(packed) && r.number(size) &&
                     r.number(name_bytes) && r.number(extra_bytes) && r.number(comment_bytes) && r.skip(8) &&
                     r.number(local) && r.text(name_bytes, h.name) && r.bytes(extra_bytes, extra) &&
                     r.skip(comment_bytes);
  h.packed = packed;
  h.size = size;
  h.local = local;
  return there && apply_zip64(extra, h);
}

// "../x", "/x" and "..\\x" name files elsewhere.
bool leads_elsewhere(std::string_view name) {
  if (name.starts_with('/') || name.find('\\') != name.npos) return true;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

Status check_header(const Header& h, const std::string& path) {
  const auto name = quote_name(h.name);
  if (h.flags & 1) return fail(ErrorCode::unsupported, "%s: entry %s is encrypted", path, name);
  if (leads_elsewhere(h.name))
    return fail(ErrorCode::invalid_data, "%s: entry %s would lie outside the archive: refused", path, name);
  if (h.method != kStored && h.method != kDeflated)
    return fail(ErrorCode::unsupported,
                "%s: entry %s is compressed by method %u, which is not read; pack the archive again without "
                "compression (zip -0)",
                path, name, h.method);
  if (h.method == kStored && h.packed != h.size) return damaged_archive(path, "two sizes of entry " + name);
  return {};
}

Result<ZipEntry> locate(const File& archive, const Header& h) {
  const std::string& path = archive.path();
  LAPILLI_CHECK(check_header(h, path));
  const Error outside = damaged_archive(path, "entry " + quote_name(h.name) + " lies outside the file");
  if (h.local > archive.size()) return outside;
  const uint64_t most = archive.size() - h.local;
  LAPILLI_TRY(const auto start, archive.view(h.local, std::min(local_bytes + h.name.size(), most)));
  ByteReader r(start);
  uint32_t signature = 0;
  uint16_t name_bytes = 0, extra_bytes = 0;
  std::string_view local_name;
  if (!r.number(signature) || signature != local_signature || !r.skip(22) || !r.number(name_bytes) ||
      !r.number(extra_bytes))
    return outside;
  const uint64_t before = local_bytes + name_bytes + extra_bytes;
  if (before > most || h.packed > most - before) return outside;
  if (name_bytes != h.name.size() || !r.text(name_bytes, local_name) || local_name != h.name)
    return damaged_archive(path, "two names of entry " + quote_name(h.name));
  return ZipEntry{h.name, h.local + before, h.size, h.packed, h.crc, h.method == kDeflated};
}

}  // namespace

Result<std::vector<ZipEntry>> read_zip(const File& archive) {
  const std::string& path = archive.path();
  LAPILLI_TRY(const auto directory, read_directory(archive));
  LAPILLI_TRY(const auto headers, archive.view(directory.offset, directory.bytes));
  ByteReader r(headers);
  std::vector<ZipEntry> entries;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    Header h;
    if (!read_central(r, h)) return damaged_archive(path, "its directory is cut");
    LAPILLI_TRY(auto entry, locate(archive, h));
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].name == entries[i - 1].name)
      return fail(ErrorCode::invalid_data, "%s: the zip archive holds %s twice: refused", path,
                  quote_name(entries[i].name));
  return entries;
}

const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, std::string_view name) {
  const auto it = std::lower_bound(entries.begin(), entries.end(), name,
                                   [](const ZipEntry& e, std::string_view n) { return e.name < n; });
  return it != entries.end() && it->name == name ? &*it : nullptr;
}

}  // namespace lapilli
