// The decoders behind decode_picture(), one for each library; and what they have in common.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "image/picture.hpp"
#include "image/picture_kind.hpp"

namespace lapilli::image {

using FileBytes = std::span<const unsigned char>;

// An error of a picture that is larger than may be read, or has no pixels.
Status check_size(uint64_t width, uint64_t height, const std::string& name);

// Turns width * height pixels upright that are as the file stores them.
Picture upright(std::span<const uint8_t> rgb, uint32_t width, uint32_t height, uint32_t orientation);

// Files of these kinds, whole. std::bad_alloc is caught by the caller.
Result<Picture> decode_by_stb(FileBytes file, const std::string& name);  // PNG, JPEG, GIF, BMP
Result<Picture> decode_webp(FileBytes file, const std::string& name);    // where it is built with libwebp
Result<Picture> decode_tiff(FileBytes file, const std::string& name);    // where it is built with libtiff

}  // namespace lapilli::image
