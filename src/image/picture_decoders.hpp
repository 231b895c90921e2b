// The decoders behind decode_picture(), one for each library, and what they share.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "image/picture.hpp"
#include "image/picture_kind.hpp"

namespace lapilli::image {

using FileBytes = std::span<const unsigned char>;

// Fails for a picture that is too large or has no pixels.
Status check_size(uint64_t width, uint64_t height, const std::string& name);

// Turns width * height pixels, in the file's order, upright.
Picture upright(std::span<const uint8_t> rgb, uint32_t width, uint32_t height, uint32_t orientation);

// Decode complete files of these kinds. The caller catches std::bad_alloc.
Result<Picture> decode_by_stb(FileBytes file, const std::string& name);  // PNG, JPEG, GIF, BMP
Result<Picture> decode_webp(FileBytes file, const std::string& name);    // in builds with libwebp
Result<Picture> decode_tiff(FileBytes file, const std::string& name);    // in builds with libtiff

}  // namespace lapilli::image
