#include "formats/doors/trained/tf_table.hpp"

#include <array>
#include <cstring>

#include "base/protobuf_reader.hpp"

namespace lapilli::doors::trained {

namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kFooter = 48, kTrailer = 5;
// Far above the index of any published model.
constexpr size_t kMostBlockBytes = size_t{64} << 20, kMostEntries = 1u << 20;
// Keys share their beginnings: together they may be far longer than the file.
constexpr size_t kMostKeyBytes = 4096, kMostKeyTotal = size_t{64} << 20;

struct Entries {
  std::vector<TableEntry> all;
  size_t key_bytes = 0;
};

constexpr std::array<uint32_t, 256> kSums = [] {
  std::array<uint32_t, 256> sums{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) sum = sum & 1 ? sum >> 1 ^ 0x82f63b78u : sum >> 1;
    sums[i] = sum;
  }
  return sums;
}();

Failure damaged(const std::string& path, const char* what) {
  return fail(ErrorCode::invalid_data, "%s: %s; the index is damaged", path, what);
}

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct Handle {
  uint64_t offset = 0, size = 0;
};

bool take_handle(std::string_view& bytes, Handle& handle) {
  return take_varint(bytes, handle.offset) && take_varint(bytes, handle.size);
}

// ---- Snappy ---------------------------------------------------------------------------------------------------------

// Copies `length` bytes from `back` bytes before the end, which may overlap what is written.
bool copy_back(std::string& out, uint64_t back, uint64_t length, uint64_t whole) {
  if (back == 0 || back > out.size() || length > whole - out.size()) return false;
  for (uint64_t i = 0; i < length; ++i) out += out[out.size() - back];
  return true;
}

bool take_literal(std::string_view& in, std::string& out, uint8_t tag, uint64_t whole) {
  uint64_t length = tag >> 2;
  if (length >= 60) {
    const size_t bytes = length - 59;
    if (in.size() < bytes) return false;
    length = 0;
    std::memcpy(&length, in.data(), bytes);
    in.remove_prefix(bytes);
  }
  ++length;
  if (length > in.size() || length > whole - out.size()) return false;
  out += in.substr(0, length);
  in.remove_prefix(length);
  return true;
}

bool take_copy(std::string_view& in, std::string& out, uint8_t tag, uint64_t whole) {
  const size_t bytes = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;
  if (in.size() < bytes) return false;
  uint64_t back = 0;
  std::memcpy(&back, in.data(), bytes);
  in.remove_prefix(bytes);
  if (bytes > 1) return copy_back(out, back, (tag >> 2) + 1u, whole);
  return copy_back(out, back | static_cast<uint64_t>(tag >> 5) << 8, (tag >> 2 & 7) + 4u, whole);
}

// False for what is no such stream, or claims more than a byte could stand for.
bool uncompress(std::string_view in, std::string& out) {
  constexpr uint64_t kMostFactor = 64;
  uint64_t whole = 0;
  if (!take_varint(in, whole) || whole > kMostBlockBytes || whole > in.size() * kMostFactor) return false;
  while (!in.empty()) {
    const auto tag = static_cast<uint8_t>(in[0]);
    in.remove_prefix(1);
    if (!((tag & 3) == 0 ? take_literal(in, out, tag, whole) : take_copy(in, out, tag, whole))) return false;
  }
  return out.size() == whole;
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

Result<std::string> read_block(std::string_view file, const Handle& h, const std::string& path) {
  if (h.size > kMostBlockBytes || h.offset > file.size() || file.size() - h.offset < h.size + kTrailer)
    return damaged(path, "a block lies beyond its end");
  const std::string_view data = file.substr(h.offset, h.size);
  if (masked(crc32c(0, file.substr(h.offset, h.size + 1))) != number_at<uint32_t>(file, h.offset + h.size + 1))
    return damaged(path, "a block's checksum is wrong");
  const char type = file[h.offset + h.size];
  if (type == 0) return std::string(data);
  std::string out;
  if (type != 1 || !uncompress(data, out)) return damaged(path, "a block is packed in a way that cannot be read");
  return out;
}

// The entries stand before the restarts, whose number is the last word.
Status add_entries(std::string_view block, Entries& entries, const std::string& path) {
  if (block.size() < 4) return damaged(path, "a block is cut");
  const uint64_t restarts = number_at<uint32_t>(block, block.size() - 4);
  if (restarts > (block.size() - 4) / 4) return damaged(path, "a block has more restarts than bytes");
  block = block.substr(0, block.size() - 4 - 4 * restarts);
  std::string key;
  while (!block.empty()) {
    uint64_t shared = 0, own = 0, size = 0;
    if (!take_varint(block, shared) || !take_varint(block, own) || !take_varint(block, size) || shared > key.size() ||
        own > block.size() || size > block.size() - own)
      return damaged(path, "an entry does not fit its block");
    if (entries.all.size() == kMostEntries) return damaged(path, "it has more than 2^20 entries");
    if (shared + own > kMostKeyBytes) return damaged(path, "a name has more than 4096 bytes");
    entries.key_bytes += shared + own;
    if (entries.key_bytes > kMostKeyTotal) return damaged(path, "its names have more than 64 MiB together");
    key.resize(shared);
    key += block.substr(0, own);
    entries.all.push_back({key, std::string(block.substr(own, size))});
    block.remove_prefix(own + size);
  }
  return {};
}

}  // namespace

uint32_t crc32c(uint32_t before, std::string_view bytes) {
  uint32_t sum = ~before;
  for (const char c : bytes) sum = sum >> 8 ^ kSums[(sum ^ static_cast<uint8_t>(c)) & 0xff];
  return ~sum;
}

uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

Result<std::vector<TableEntry>> read_table(std::string_view file, const std::string& path) {
  if (file.size() < kFooter || number_at<uint64_t>(file, file.size() - 8) != kMagic)
    return damaged(path, "it does not end as a table does");
  std::string_view footer = file.substr(file.size() - kFooter);
  Handle meta, index;
  if (!take_handle(footer, meta) || !take_handle(footer, index)) return damaged(path, "its last bytes are no handles");
  LAPILLI_TRY(const auto index_block, read_block(file, index, path));
  Entries blocks, entries;
  LAPILLI_CHECK(add_entries(index_block, blocks, path));
  uint64_t total = 0;
  for (const TableEntry& block : blocks.all) {
    std::string_view value = block.value;
    Handle handle;
    if (!take_handle(value, handle)) return damaged(path, "an entry of its index is no handle");
    LAPILLI_TRY(const auto bytes, read_block(file, handle, path));
    total += bytes.size();
    if (total > kMostBlockBytes) return damaged(path, "its blocks lie over each other");
    LAPILLI_CHECK(add_entries(bytes, entries, path));
  }
  return std::move(entries.all);
}

}  // namespace lapilli::doors::trained
