#include "documents/archive/zip_archive.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "documents/archive/deflate.hpp"

namespace lapilli::documents {

namespace {

constexpr uint32_t kEndSignature = 0x06054b50, kEntrySignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30, kMostComment = 0xffff;
constexpr uint16_t kStoredMethod = 0, kDeflateMethod = 8;
constexpr uint16_t kEncryptedFlag = 1, kTrailerFlag = 8;

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

template <class T>
void put_number(std::string& bytes, size_t at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

Failure damaged_zip(const std::string& what) {
  return fail(ErrorCode::invalid_data, "the archive is damaged or cut off (%s): save the file again", what);
}

std::string quoted(std::string_view name) {
  constexpr size_t kLongest = 100;
  std::string out = "'";
  for (const char c : name.substr(0, kLongest)) out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return out + "'";
}

// The last record, in front of a comment.
size_t find_last_record(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return std::string_view::npos;
  const size_t last = bytes.size() - kEndBytes, first = last > kMostComment ? last - kMostComment : 0;
  for (size_t at = last + 1; at-- > first;)
    if (number_at<uint32_t>(bytes, at) == kEndSignature) return at;
  return std::string_view::npos;
}

}  // namespace

bool have_deflate() { return have_zlib(); }

Result<ZipArchive> ZipArchive::open(std::string_view bytes) {
  ZipArchive archive;
  archive.bytes_ = bytes;
  LAPILLI_CHECK(archive.read_directory());
  size_t at = archive.directory_.begin;
  while (at < archive.directory_.end) LAPILLI_CHECK(archive.read_entry(at));
  LAPILLI_CHECK(archive.sort_files());
  return archive;
}

Status ZipArchive::read_directory() {
  end_ = find_last_record(bytes_);
  if (end_ == std::string_view::npos) return damaged_zip("it has no directory");
  const auto here = number_at<uint16_t>(bytes_, end_ + 8), count = number_at<uint16_t>(bytes_, end_ + 10);
  const auto size = number_at<uint32_t>(bytes_, end_ + 12), begin = number_at<uint32_t>(bytes_, end_ + 16);
  if (count == 0xffff || size == UINT32_MAX || begin == UINT32_MAX)
    return fail(ErrorCode::unsupported,
                "the archive is zip64, which no document of this size needs: save the file again");
  if (here != count) return fail(ErrorCode::unsupported, "the archive is one part of several: save it as one file");
  if (begin > end_ || size > end_ - begin) return damaged_zip("its directory lies outside of it");
  directory_ = {begin, size_t{begin} + size};
  return {};
}

Status ZipArchive::read_entry(size_t& at) {
  if (directory_.end - at < kEntryBytes || number_at<uint32_t>(bytes_, at) != kEntrySignature)
    return damaged_zip("its directory");
  const auto name = number_at<uint16_t>(bytes_, at + 28), extra = number_at<uint16_t>(bytes_, at + 30),
             comment = number_at<uint16_t>(bytes_, at + 32);
  const size_t end = at + kEntryBytes + name + extra + comment;
  if (end > directory_.end) return damaged_zip("its directory");
  ArchivedFile file;
  file.name = bytes_.substr(at + kEntryBytes, name);
  file.entry = {at, end};
  file.method = number_at<uint16_t>(bytes_, at + 10);
  file.crc = number_at<uint32_t>(bytes_, at + 16);
  file.size = number_at<uint32_t>(bytes_, at + 24);
  if (number_at<uint16_t>(bytes_, at + 8) & kEncryptedFlag)
    return fail(ErrorCode::unsupported, "the archive is encrypted (%s): save the file without a password",
                quoted(file.name));
  LAPILLI_CHECK(find_data(file, number_at<uint32_t>(bytes_, at + 42), number_at<uint32_t>(bytes_, at + 20)));
  if (files_.size() == kMostFiles)
    return fail(ErrorCode::unsupported, "the archive has more than %u files", kMostFiles);
  files_.push_back(file);
  at = end;
  return {};
}

Status ZipArchive::find_data(ArchivedFile& file, uint32_t local, uint32_t packed) const {
  const std::string where = "its file " + quoted(file.name);
  if (local > directory_.begin || directory_.begin - local < kLocalBytes ||
      number_at<uint32_t>(bytes_, local) != kLocalSignature)
    return damaged_zip(where);
  const auto name = number_at<uint16_t>(bytes_, local + 26), extra = number_at<uint16_t>(bytes_, local + 28);
  const size_t data = size_t{local} + kLocalBytes + name + extra;
  if (data > directory_.begin || packed > directory_.begin - data) return damaged_zip(where);
  if (bytes_.substr(local + kLocalBytes, name) != file.name) return damaged_zip("two names of " + quoted(file.name));
  file.data = {data, data + packed};
  file.local = {local, data + packed};
  return {};
}

// Files that share bytes are one of the ways to make a bomb; files that share a name hide one.
Status ZipArchive::sort_files() {
  by_place_.resize(files_.size());
  std::iota(by_place_.begin(), by_place_.end(), 0);
  by_name_ = by_place_;
  std::sort(by_place_.begin(), by_place_.end(),
            [&](size_t a, size_t b) { return files_[a].local.begin < files_[b].local.begin; });
  std::sort(by_name_.begin(), by_name_.end(), [&](size_t a, size_t b) { return files_[a].name < files_[b].name; });
  for (size_t i = 1; i < files_.size(); ++i) {
    if (files_[by_place_[i - 1]].local.end > files_[by_place_[i]].local.begin)
      return damaged_zip("two files share bytes");
    if (files_[by_name_[i - 1]].name == files_[by_name_[i]].name)
      return damaged_zip("it has " + quoted(files_[by_name_[i]].name) + " twice");
  }
  return {};
}

const ArchivedFile* ZipArchive::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [&](size_t i, std::string_view n) { return files_[i].name < n; });
  return at != by_name_.end() && files_[*at].name == name ? &files_[*at] : nullptr;
}

Result<std::string> ZipArchive::read(const ArchivedFile& file) const {
  const std::string name = quoted(file.name);
  if (file.size > kMostUnpacked)
    return fail(ErrorCode::unsupported, "the archive's %s has %u bytes, at most %u are read", name, file.size,
                kMostUnpacked);
  const std::string_view data = file.data.of(bytes_);
  std::string bytes;
  if (file.method == kDeflateMethod) {
    auto unpacked = unpack_deflate(data, file.size);
    if (!unpacked) return std::move(unpacked).error().in("the archive's " + name);
    bytes = std::move(*unpacked);
  } else if (file.method == kStoredMethod) {
    bytes = std::string(data);
  } else {
    return fail(ErrorCode::unsupported, "the archive's %s is compressed by method %u: save the file again", name,
                file.method);
  }
  if (bytes.size() != file.size || zip_checksum(bytes) != file.crc) return damaged_zip("the checksum of " + name);
  return bytes;
}

namespace {

// A file that is written: its new data, and the numbers that heads and directory have of them.
struct Written {
  std::string data;
  uint32_t crc = 0, packed = 0, size = 0;
};

Result<Written> write_file(const ArchivedFile& file, std::string bytes) {
  if (bytes.size() > ZipArchive::kMostUnpacked)
    return fail(ErrorCode::unsupported, "the archive's %s would have %u bytes", quoted(file.name), bytes.size());
  Written written{{}, zip_checksum(bytes), 0, static_cast<uint32_t>(bytes.size())};
  if (file.method == kDeflateMethod) {
    LAPILLI_TRY(written.data, pack_deflate(bytes));
  } else {
    written.data = std::move(bytes);
  }
  written.packed = static_cast<uint32_t>(written.data.size());
  return written;
}

// Writes the numbers into a head or a record of the directory, and that no record of sizes follows the data.
void note_sizes(std::string& head, size_t flags, size_t sizes, const Written& written) {
  put_number(head, flags, static_cast<uint16_t>(number_at<uint16_t>(head, flags) & ~kTrailerFlag));
  put_number(head, sizes, written.crc);
  put_number(head, sizes + 4, written.packed);
  put_number(head, sizes + 8, written.size);
}

}  // namespace

// Bytes between files (records behind their data, whatever a program put there) stay in front of the next file; those
// behind a replaced file's data are the record of its old sizes.
Result<std::string> ZipArchive::replace(const std::vector<Replacement>& replacements) const {
  std::unordered_map<std::string_view, const Replacement*> by_name;
  for (const Replacement& r : replacements) by_name[r.name] = &r;
  std::string out;
  std::vector<std::string> entries(files_.size());
  size_t at = 0;
  for (size_t i = 0; i < files_.size(); ++i) {
    const ArchivedFile& file = files_[by_place_[i]];
    std::string& entry = entries[by_place_[i]] = std::string(file.entry.of(bytes_));
    out += Range{at, file.local.begin}.of(bytes_);
    put_number(entry, 42, static_cast<uint32_t>(out.size()));
    at = i + 1 < files_.size() ? files_[by_place_[i + 1]].local.begin : directory_.begin;
    if (const auto other = by_name.find(file.name); other == by_name.end()) {
      out += Range{file.local.begin, at}.of(bytes_);
    } else {
      LAPILLI_TRY(const Written written, write_file(file, other->second->bytes));
      std::string head(Range{file.local.begin, file.data.begin}.of(bytes_));
      note_sizes(head, 6, 14, written);
      note_sizes(entry, 8, 16, written);
      out += head + written.data;
    }
  }
  return with_directory(std::move(out), entries);
}

std::string ZipArchive::with_directory(std::string out, const std::vector<std::string>& entries) const {
  const size_t begin = out.size();
  for (const std::string& entry : entries) out += entry;
  std::string last(bytes_.substr(directory_.end));
  const size_t record = end_ - directory_.end;
  put_number(last, record + 12, static_cast<uint32_t>(out.size() - begin));
  put_number(last, record + 16, static_cast<uint32_t>(begin));
  return out + last;
}

}  // namespace lapilli::documents
