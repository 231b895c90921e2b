// The chunks that WAV files are made of.
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
// Forward by reading, so that pipes will do. False: the file ends before.
bool skip(std::FILE* f, uint64_t bytes);
bool read_chunk(std::FILE* f, Chunk& chunk);
// How WAV files begin.
constexpr size_t kWavHead = 12;
bool is_wav_head(std::span<const std::byte> bytes);
// False: the file does not begin so.
bool read_wav_head(std::FILE* f);

// Behind a chunk of samples that claims to be empty: whether its length was never written, as whoever made the file was
// stopped or wrote to a pipe, and what follows are samples. Else other chunks follow, up to the end of the file, or
// nothing. The file stays where it is; a pipe cannot be asked, and is taken for unfinished.
bool is_unfinished(std::FILE* f);

// A length that was never written: where it should stand, and what it should be.
struct MissingLength {
  int64_t at = 0;
  uint32_t bytes = 0;
};
// Of a file whose beginning is `begin`. It may stand anywhere afterwards.
std::optional<MissingLength> missing_length(std::FILE* f, int64_t begin);

}  // namespace lapilli::recordings
