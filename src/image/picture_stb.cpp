#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "image/bmp_rows.hpp"
#include "image/gif_blocks.hpp"
#include "image/jpeg_segments.hpp"
#include "image/orientation.hpp"
#include "image/picture_decoders.hpp"
#include "image/png_checksums.hpp"

namespace {

// Bytes that one decoding may hold at a time: a file may unpack to any size, whatever its header says. Each block is
// preceded by its size.
thread_local uint64_t budget = 0;
constexpr size_t kFront = alignof(std::max_align_t);

void* take(size_t size) {
  if (size > budget) return nullptr;
  // Zeroed: versions of stb before 2.28 read tables that a damaged file omits.
  auto* p = static_cast<unsigned char*>(std::calloc(1, kFront + size));
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

// stb's functions are static here, so that they never clash with those of a program that uses stb itself. Its
// assertions are off, as they would abort. Only the formats that people's pictures have are enabled, as each is a
// parser of untrusted input.
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
#define STBI_ONLY_GIF
#define STBI_ONLY_BMP
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

// True if all tables of codes fit: a table has the number of codes for each length 1 to 16, then as many bytes. stb has
// room for 256 codes, which versions before 2.28 do not check.
bool tables_fit(std::span<const stbi_uc> segment) {
  constexpr size_t kFront = 17, kMostCodes = 256;
  while (segment.size() >= kFront) {
    size_t codes = 0;
    for (const stbi_uc n : segment.subspan(1, 16)) codes += n;
    if (codes > kMostCodes || segment.size() < kFront + codes) return false;
    segment = segment.subspan(kFront + codes);
  }
  return segment.empty();
}

bool jpeg_tables_fit(std::span<const stbi_uc> file) {
  return visit_jpeg_segments(
      file, [](stbi_uc marker, std::span<const stbi_uc> data) { return marker != kJpegTables || tables_fit(data); });
}

struct Header {
  int width = 0, height = 0, channels = 0;
};

// Reads the size of a PNG file from its header: stb refuses a picture that is too large without saying so.
bool read_png_size(std::span<const stbi_uc> file, uint64_t& width, uint64_t& height) {
  constexpr std::string_view kBegin("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  if (file.size() < kBegin.size() + 8 || std::memcmp(file.data(), kBegin.data(), kBegin.size()) != 0) return false;
  const auto number = [&](size_t at) {
    return uint64_t{file[at]} << 24 | uint64_t{file[at + 1]} << 16 | uint64_t{file[at + 2]} << 8 | file[at + 3];
  };
  width = number(kBegin.size());
  height = number(kBegin.size() + 4);
  return true;
}

Result<Header> read_header(const stbi_uc* data, int size, const std::string& name) {
  Header h;
  uint64_t width = 0, height = 0;
  if (read_png_size({data, static_cast<size_t>(size)}, width, height) && width > 0 && height > 0)
    LAPILLI_CHECK(check_size(width, height, name));
  if (!stbi_info_from_memory(data, size, &h.width, &h.height, &h.channels))
    return fail(ErrorCode::invalid_data, "%s cannot be read: %s; it may be damaged or cut off", name,
                stbi_failure_reason());
  if (h.width == 0 || h.height == 0)
    return fail(ErrorCode::invalid_data, "%s cannot be read: it has no pixels; it may be damaged or cut off", name);
  // The height is negative in BMP files that begin with their upper row; elsewhere that means too many pixels.
  if (kind_of_picture({data, static_cast<size_t>(size)}) == PictureKind::bmp && h.height < 0)
    h.height = static_cast<int>(0u - static_cast<uint32_t>(h.height));
  LAPILLI_CHECK(check_size(static_cast<uint32_t>(h.width), static_cast<uint32_t>(h.height), name));
  return h;
}

Status check_sums(FileBytes file, const std::string& name) {
  if (!jpeg_tables_fit(file))
    return fail(ErrorCode::invalid_data, "%s cannot be read: its tables of codes are damaged", name);
  if (!png_chunks_whole(file))
    return fail(ErrorCode::invalid_data, "%s is damaged: a part of it does not match its checksum", name);
  return {};
}

bool is_whole(FileBytes file) {
  const PictureKind kind = kind_of_picture(file);
  return kind == PictureKind::gif ? look_at_gif(file).whole : kind != PictureKind::bmp || bmp_rows_whole(file);
}

// stb omits a GIF's transparent pixels; here their colours are read, as in every other kind.
FileBytes without_transparency(FileBytes file, std::vector<unsigned char>& own) {
  const auto place = kind_of_picture(file) == PictureKind::gif ? look_at_gif(file).transparency : std::nullopt;
  if (!place) return file;
  own.assign(file.begin(), file.end());
  own[*place] &= 0xfe;
  return own;
}

}  // namespace

Result<Picture> decode_by_stb(FileBytes file, const std::string& name) {
  constexpr uint64_t kBytesForPixel = 24;  // PNG with 16 bits a channel has 8, twice; JPEG in passes 3 and 6, and 3
  constexpr uint64_t kBesides = uint64_t{4} << 20;
  LAPILLI_CHECK(check_sums(file, name));
  std::vector<unsigned char> own;
  const FileBytes read = without_transparency(file, own);
  const int size = static_cast<int>(read.size());
  budget = kBesides;
  LAPILLI_TRY(Header h, read_header(read.data(), size, name));
  if (!is_whole(file)) return fail(ErrorCode::invalid_data, "%s cannot be read: it is cut off", name);
  const uint64_t pixels = uint64_t{static_cast<uint32_t>(h.width)} * static_cast<uint32_t>(h.height);
  budget = kBesides + kBytesForPixel * pixels + 3 * read.size();
  struct Free {
    void operator()(stbi_uc* p) const { stbi_image_free(p); }
  };
  const std::unique_ptr<stbi_uc, Free> rgb(
      stbi_load_from_memory(read.data(), size, &h.width, &h.height, &h.channels, STBI_rgb));
  if (!rgb)
    return fail(ErrorCode::invalid_data, "%s cannot be read: %s; it may be damaged or cut off", name,
                stbi_failure_reason());
  const auto width = static_cast<uint32_t>(h.width), height = static_cast<uint32_t>(h.height);
  if (uint64_t{width} * height != pixels)
    return fail(ErrorCode::invalid_data, "%s: its parts contradict each other in its size", name);
  return upright({rgb.get(), static_cast<size_t>(3 * pixels)}, width, height, orientation_of(file));
}

}  // namespace lapilli::image
