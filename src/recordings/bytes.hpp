// Reading files from the beginning, and numbers in them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#ifdef _WIN32
#include <io.h>
#include <sys/stat.h>
#endif

namespace lapilli::recordings {

// Like std::fseek and std::ftell, also beyond 2 GiB.
inline int seek_to(std::FILE* f, int64_t offset, int whence = SEEK_SET) {
#ifdef _WIN32
  return _fseeki64(f, offset, whence);
#else
  return fseeko(f, static_cast<off_t>(offset), whence);
#endif
}
inline int64_t position_of(std::FILE* f) {
#ifdef _WIN32
  return _ftelli64(f);
#else
  return ftello(f);
#endif
}

// False for pipes, which can be read only once and in order.
inline bool can_seek(std::FILE* f) {
#ifdef _WIN32
  struct _stat64 info {};
  return _fstat64(_fileno(f), &info) == 0 && (info.st_mode & _S_IFREG) != 0;
#else
  return fseeko(f, 0, SEEK_CUR) == 0;
#endif
}

// A little-endian number of `size` bytes.
inline uint64_t number_of(const std::byte* bytes, size_t size) {
  uint64_t n = 0;
  for (size_t i = size; i-- > 0;) n = n << 8 | static_cast<uint64_t>(bytes[i]);
  return n;
}

// The stored types of samples.
enum class Stored : uint8_t { u8, s16, s24, s32, f32, f64 };
constexpr uint32_t bytes_of(Stored s) {
  constexpr uint32_t kBytes[] = {1, 2, 3, 4, 4, 8};
  return kBytes[static_cast<size_t>(s)];
}
inline float sample_of(Stored stored, const std::byte* at) {
  switch (stored) {
    case Stored::u8: return (static_cast<float>(number_of(at, 1)) - 128) / 128;
    case Stored::s16: return static_cast<float>(static_cast<int16_t>(number_of(at, 2))) / 32768;
    case Stored::s24: return static_cast<float>(static_cast<int32_t>(number_of(at, 3) << 8)) / 2147483648.0f;
    case Stored::s32: return static_cast<float>(static_cast<int32_t>(number_of(at, 4))) / 2147483648.0f;
    case Stored::f32: return std::bit_cast<float>(static_cast<uint32_t>(number_of(at, 4)));
    case Stored::f64: return static_cast<float>(std::bit_cast<double>(number_of(at, 8)));
  }
  return 0;
}

// Reads whole samples, as many as there are and `to` holds.
inline uint64_t read_samples(std::FILE* stream, Stored stored, std::span<float> to) {
  std::byte buffer[6144];  // a multiple of every sample size
  const size_t each = bytes_of(stored);
  uint64_t done = 0;
  while (done < to.size()) {
    const size_t wanted = std::min<size_t>(sizeof(buffer) / each, to.size() - done);
    const size_t got = std::fread(buffer, each, wanted, stream);
    for (size_t i = 0; i < got; ++i) to[done + i] = sample_of(stored, buffer + i * each);
    done += got;
    if (got < wanted) break;
  }
  return done;
}

}  // namespace lapilli::recordings
