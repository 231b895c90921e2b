#include "shards/model_hash.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/path.hpp"
#include "shards/hash.hpp"

namespace lapilli::shards {

namespace {

constexpr uint64_t kReadWhole = uint64_t{1} << 20;
constexpr uint64_t kSamples = 16, kSampleBytes = uint64_t{1} << 16;
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

// Its beginning, its end, and places between at equal distances.
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
