#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "image/picture.hpp"

namespace {

// What one decoding may have at a time: files unpack to as much as they like, whatever their header says. The size of
// each block stands in front of it.
thread_local uint64_t budget = 0;
constexpr size_t kFront = alignof(std::max_align_t);

void* take(size_t size) {
  if (size > budget) return nullptr;
  auto* p = static_cast<unsigned char*>(std::malloc(kFront + size));
  if (!p) return nullptr;
  budget -= size;
  *reinterpret_cast<size_t*>(p) = size;
  return p + kFront;
}

size_t size_of(void* p) { return *reinterpret_cast<size_t*>(static_cast<unsigned char*>(p) - kFront); }

void give_back(void* p) {
  if (!p) return;
  budget += size_of(p);
  std::free(static_cast<unsigned char*>(p) - kFront);
}

void* take_again(void* p, size_t size) {
  void* larger = take(size);
  if (!larger || !p) return larger;
  std::copy_n(static_cast<unsigned char*>(p), std::min(size, size_of(p)), static_cast<unsigned char*>(larger));
  give_back(p);
  return larger;
}

}  // namespace

// stb's functions are static here, so that they never meet those of a program that uses stb itself. Its assertions
// would end programs. Of its formats only those that people's pictures have: each is a parser of what strangers wrote.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wcast-qual"
#endif
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ASSERT(x) ((void)0)
#define STBI_MALLOC(size) take(size)
#define STBI_REALLOC(p, size) take_again(p, size)
#define STBI_FREE(p) give_back(p)
#include <stb_image.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace lapilli::image {

namespace {

struct Header {
  int width = 0, height = 0, channels = 0;
};

Result<Header> read_header(const stbi_uc* data, int size, const std::string& name) {
  Header h;
  if (!stbi_info_from_memory(data, size, &h.width, &h.height, &h.channels))
    return fail(ErrorCode::invalid_data, "%s is no picture that can be read; PNG and JPEG are (%s)", name.c_str(),
                stbi_failure_reason());
  const auto longest = static_cast<int>(kLongestSide);
  if (h.width <= 0 || h.height <= 0 || h.width > longest || h.height > longest ||
      uint64_t{static_cast<uint32_t>(h.width)} * static_cast<uint32_t>(h.height) > kMostPixels)
    return fail(ErrorCode::unsupported,
                "%s is a picture of %d by %d pixels; at most %llu million pixels, %u a side, are read: make it smaller",
                name.c_str(), h.width, h.height, static_cast<unsigned long long>(kMostPixels / 1'000'000),
                kLongestSide);
  return h;
}

}  // namespace

Result<Picture> decode_picture(std::span<const std::byte> file, const std::string& name) {
  if (file.empty()) return fail(ErrorCode::invalid_data, "%s is empty", name.c_str());
  if (file.size() > kLargestFile)
    return fail(ErrorCode::unsupported, "%s: a picture of %zu bytes is too large; save it smaller", name.c_str(),
                file.size());
  constexpr uint64_t kBytesForPixel = 24;  // PNG with 16 bits a channel has 8, twice; JPEG in passes 3 and 6, and 3
  constexpr uint64_t kBesides = uint64_t{4} << 20;
  const auto* data = reinterpret_cast<const stbi_uc*>(file.data());
  const int size = static_cast<int>(file.size());
  budget = kBesides;
  LAPILLI_TRY(Header h, read_header(data, size, name));
  const uint64_t pixels = uint64_t{static_cast<uint32_t>(h.width)} * static_cast<uint32_t>(h.height);
  budget = kBesides + kBytesForPixel * pixels + 3 * file.size();
  struct Free {
    void operator()(stbi_uc* p) const { stbi_image_free(p); }
  };
  const std::unique_ptr<stbi_uc, Free> rgb(
      stbi_load_from_memory(data, size, &h.width, &h.height, &h.channels, STBI_rgb));
  if (!rgb)
    return fail(ErrorCode::invalid_data, "%s cannot be read: %s; it may be damaged or cut off", name.c_str(),
                stbi_failure_reason());
  Picture picture{static_cast<uint32_t>(h.width), static_cast<uint32_t>(h.height), {}};
  if (uint64_t{picture.width} * picture.height != pixels)
    return fail(ErrorCode::invalid_data, "%s: its parts contradict each other in its size", name.c_str());
  try {
    picture.rgb.assign(rgb.get(), rgb.get() + static_cast<ptrdiff_t>(3 * pixels));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "%s: no memory for a picture of %d by %d pixels", name.c_str(), h.width,
                h.height);
  }
  return picture;
}

}  // namespace lapilli::image
