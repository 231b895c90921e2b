#include "image/picture_kind.hpp"

#include <cstring>
#include <string_view>

namespace lapilli::image {

namespace {

struct FirstBytes {
  PictureKind kind;
  size_t at;
  std::string_view bytes;
};

// The first match decides.
constexpr FirstBytes kFirstBytes[] = {{PictureKind::png, 0, {"\x89PNG\r\n\x1a\n", 8}},
                                      {PictureKind::jpeg, 0, {"\xff\xd8", 2}},
                                      {PictureKind::gif, 0, "GIF87a"},
                                      {PictureKind::gif, 0, "GIF89a"},
                                      {PictureKind::bmp, 0, "BM"},
                                      {PictureKind::webp, 8, "WEBP"},
                                      {PictureKind::tiff, 0, {"II*\0", 4}},
                                      {PictureKind::tiff, 0, {"MM\0*", 4}},
                                      {PictureKind::tiff, 0, {"II+\0", 4}},  // BigTIFF
                                      {PictureKind::tiff, 0, {"MM\0+", 4}},
                                      {PictureKind::avif, 4, "ftypavif"},
                                      {PictureKind::avif, 4, "ftypavis"},
                                      {PictureKind::heif, 4, "ftyphei"},
                                      {PictureKind::heif, 4, "ftyphev"},
                                      {PictureKind::heif, 4, "ftypmif1"},
                                      {PictureKind::heif, 4, "ftypmsf1"},
                                      {PictureKind::jpeg_xl, 0, {"\xff\x0a", 2}},
                                      {PictureKind::jpeg_xl, 4, "JXL "},
                                      {PictureKind::jpeg_2000, 4, "jP  "},
                                      {PictureKind::jpeg_2000, 0, {"\xff\x4f\xff\x51", 4}},
                                      {PictureKind::pdf, 0, "%PDF-"},
                                      {PictureKind::svg, 0, "<svg"}};

}  // namespace

PictureKind kind_of_picture(std::span<const unsigned char> file) {
  for (const FirstBytes& first : kFirstBytes)
    if (file.size() >= first.at + first.bytes.size() &&
        std::memcmp(file.data() + first.at, first.bytes.data(), first.bytes.size()) == 0)
      return first.kind;
  return PictureKind::unknown;
}

const char* name_of(PictureKind kind) {
  constexpr const char* kNames[] = {"",     "PNG",  "JPEG",    "GIF",       "BMP", "WebP", "TIFF",
                                    "HEIF", "AVIF", "JPEG XL", "JPEG 2000", "PDF", "SVG"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace lapilli::image
