// The chunks of WAV files.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

namespace lapilli::recordings {

struct Chunk {
  std::array<char, 4> name{};
  uint64_t bytes = 0;
  [[nodiscard]] bool is(const char* wanted) const { return std::memcmp(name.data(), wanted, 4) == 0; }
};

bool read_bytes(std::FILE* f, std::span<std::byte> to);
// Skips by reading, so that pipes work. False: the file ends before that.
bool skip(std::FILE* f, uint64_t bytes);
bool read_chunk(std::FILE* f, Chunk& chunk);
// The beginning of a WAV file.
constexpr size_t kWavHead = 12;
bool is_wav_head(std::span<const std::byte> bytes);
// False: the file begins otherwise.
bool read_wav_head(std::FILE* f);

// For a chunk of samples that claims to be empty: true if its length was never written (the writer was stopped or wrote
// to a pipe), so that samples follow; false if other chunks follow up to the end of the file, or nothing. Keeps the
// file position. A pipe cannot be checked and counts as unfinished.
bool is_unfinished(std::FILE* f);

// A length that was never written: its place in the file, and its value.
struct MissingLength {
  int64_t at = 0;
  uint32_t bytes = 0;
};
// The missing length of the file that begins at `begin`. Moves the file position.
std::optional<MissingLength> missing_length(std::FILE* f, int64_t begin);

}  // namespace lapilli::recordings
