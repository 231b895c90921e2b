#include "shards/model_hash.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/path.hpp"
#include "shards/hash.hpp"
#include "shards/shard.hpp"

namespace lapilli::shards {

namespace {

constexpr uint64_t kReadWhole = uint64_t{1} << 20;
constexpr uint64_t kSamples = 16, kSampleBytes = uint64_t{1} << 16;
constexpr uint64_t kBorderBytes = 2048, kLongestList = uint64_t{64} << 20;
constexpr int kDeepest = 2;

bool seek_to(std::FILE* stream, uint64_t at) {
#if defined(_WIN32)
  return _fseeki64(stream, static_cast<long long>(at), SEEK_SET) == 0;
#else
  return fseeko(stream, static_cast<off_t>(at), SEEK_SET) == 0;
#endif
}

void add_range(std::FILE* stream, uint64_t at, uint64_t bytes, Hash& hash) {
  std::vector<char> room(static_cast<size_t>(bytes));
  if (!seek_to(stream, at)) return;
  hash.add(std::string_view(room.data(), std::fread(room.data(), 1, room.size(), stream)));
}

// The length of the list of tensors in front of them, as a file of safetensors begins; 0: it is none.
uint64_t list_bytes(std::FILE* stream, uint64_t size) {
  unsigned char head[9] = {};
  if (!seek_to(stream, 0) || std::fread(head, 1, sizeof head, stream) != sizeof head || head[8] != '{') return 0;
  uint64_t bytes = 0;
  for (size_t i = 8; i-- > 0;) bytes = bytes << 8 | head[i];
  return bytes <= std::min(kLongestList, size - 8) ? bytes : 0;
}

// Where each tensor begins and ends behind the list; fine-tuned models may differ in one of them alone.
std::vector<uint64_t> borders_of_tensors(std::FILE* stream, uint64_t bytes) {
  std::string text(static_cast<size_t>(bytes), '\0');
  std::vector<uint64_t> borders;
  if (!seek_to(stream, 8) || std::fread(text.data(), 1, text.size(), stream) != text.size()) return borders;
  constexpr std::string_view kOffsets = "\"data_offsets\":[";
  for (size_t at = 0; (at = text.find(kOffsets, at)) != std::string::npos;) {
    at += kOffsets.size();
    for (const char end : {',', ']'}) {
      const size_t stop = std::min(text.find(end, at), text.size());
      if (const auto number = number_in(text.substr(at, stop - at))) borders.push_back(*number);
      at = std::min(stop + 1, text.size());
    }
  }
  return borders;
}

void add_tensors(std::FILE* stream, uint64_t size, Hash& hash) {
  const uint64_t list = list_bytes(stream, size);
  if (list == 0) return;
  for (const uint64_t border : borders_of_tensors(stream, list))
    if (border < size) add_range(stream, 8 + list + border - std::min(border, kBorderBytes), 2 * kBorderBytes, hash);
}

// Its beginning, its end, places between at equal distances, and both ends of each tensor.
void add_file(const std::string& path, Hash& hash) {
  const uint64_t size = file_size(path);
  hash.add(size);
  std::FILE* stream = open_stream(path, "rb");
  if (!stream) return;
  if (size <= kReadWhole) {
    add_range(stream, 0, size, hash);
  } else {
    for (uint64_t i = 0; i < kSamples; ++i)
      add_range(stream, (size - kSampleBytes) / (kSamples - 1) * i, kSampleBytes, hash);
    add_range(stream, size - kSampleBytes, kSampleBytes, hash);
    add_tensors(stream, size, hash);
  }
  std::fclose(stream);
}

// Hidden files are those of version control and of downloads.
void add_folder(const std::string& folder, int depth, Hash& hash) {
  std::vector<FolderEntry> entries;
  list_folder(folder, entries);
  for (const FolderEntry& entry : entries) {
    if (entry.name.starts_with('.')) continue;
    const std::string path = folder + "/" + entry.name;
    hash.add(entry.name + '\0');
    if (entry.kind == FileKind::regular) add_file(path, hash);
    if (entry.kind == FileKind::directory && depth > 0) add_folder(path, depth - 1, hash);
  }
}

}  // namespace

std::string hash_of_samples(const std::string& path) {
  Hash hash;
  add_file(path, hash);
  return hash.text();
}

std::string hash_of_model(const std::string& path) {
  Hash hash;
  if (directory_exists(path))
    add_folder(path, kDeepest, hash);
  else
    add_file(path, hash);
  return hash.text();
}

}  // namespace lapilli::shards
