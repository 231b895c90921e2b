// The kind of a picture's file, by its first bytes, whatever its name.
#pragma once

#include <cstdint>
#include <span>

namespace lapilli::image {

enum class PictureKind : uint8_t { unknown, png, jpeg, gif, bmp, webp, tiff, heif, avif, jpeg_xl, jpeg_2000, pdf, svg };

PictureKind kind_of_picture(std::span<const unsigned char> file);
// For messages: "WebP"; "" for `unknown`.
const char* name_of(PictureKind kind);

}  // namespace lapilli::image
