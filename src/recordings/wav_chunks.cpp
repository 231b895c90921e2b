#include "recordings/wav_chunks.hpp"

#include <algorithm>

#include "recordings/bytes.hpp"

namespace lapilli::recordings {

namespace {

constexpr uint64_t kChunkHeader = 8;  // name and length

bool is_name(const Chunk& chunk) {
  return std::all_of(chunk.name.begin(), chunk.name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// True if chunks fill the file from `at` to its end; the padding byte of the last one may be missing.
bool chunks_fill(std::FILE* f, int64_t at, int64_t end) {
  Chunk chunk;
  while (end - at >= static_cast<int64_t>(kChunkHeader)) {
    if (seek_to(f, at) != 0 || !read_chunk(f, chunk) || !is_name(chunk)) return false;
    at += static_cast<int64_t>(kChunkHeader + chunk.bytes);
    if (at > end) return false;
    at = std::min(at + static_cast<int64_t>(chunk.bytes % 2), end);
  }
  return at == end;
}

}  // namespace

bool read_bytes(std::FILE* f, std::span<std::byte> to) { return std::fread(to.data(), 1, to.size(), f) == to.size(); }

bool skip(std::FILE* f, uint64_t bytes) {
  std::byte buffer[4096];
  while (bytes > 0) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes, sizeof(buffer)));
    if (!read_bytes(f, std::span(buffer).first(n))) return false;
    bytes -= n;
  }
  return true;
}

bool read_chunk(std::FILE* f, Chunk& chunk) {
  std::byte header[kChunkHeader];
  if (!read_bytes(f, header)) return false;
  std::memcpy(chunk.name.data(), header, 4);
  chunk.bytes = number_of(header + 4, 4);
  return true;
}

bool is_wav_head(std::span<const std::byte> bytes) {
  return bytes.size() >= kWavHead && std::memcmp(bytes.data(), "RIFF", 4) == 0 &&
         std::memcmp(bytes.data() + 8, "WAVE", 4) == 0;
}

bool read_wav_head(std::FILE* f) {
  std::byte head[kWavHead];
  return read_bytes(f, head) && is_wav_head(head);
}

bool is_unfinished(std::FILE* f) {
  if (!can_seek(f)) return true;
  const int64_t here = position_of(f);
  if (here < 0 || seek_to(f, 0, SEEK_END) != 0) return true;
  const bool finished = chunks_fill(f, here, position_of(f));
  return seek_to(f, here) == 0 && !finished;
}

std::optional<MissingLength> missing_length(std::FILE* f, int64_t begin) {
  if (seek_to(f, begin) != 0 || !read_wav_head(f)) return std::nullopt;
  Chunk chunk;
  while (read_chunk(f, chunk) && !chunk.is("data"))
    if (!skip(f, chunk.bytes + chunk.bytes % 2)) return std::nullopt;
  const int64_t samples = position_of(f);
  if (!chunk.is("data") || chunk.bytes != 0 || !is_unfinished(f) || seek_to(f, 0, SEEK_END) != 0) return std::nullopt;
  constexpr int64_t kMost = 0xfffffffe;  // the largest number means an unknown length
  return MissingLength{samples - 4 - begin, static_cast<uint32_t>(std::min(position_of(f) - samples, kMost))};
}

}  // namespace lapilli::recordings
