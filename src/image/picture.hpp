// Reading pictures from files: PNG, JPEG, GIF and BMP; WebP and TIFF in builds with their libraries. Files are
// untrusted: the claims of a header are checked before memory is allocated, and the decoder's memory is bounded
// whatever the file unpacks to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli::image {

constexpr uint32_t kLongestSide = 65'535;             // pixels; the limit of JPEG
constexpr uint64_t kMostPixels = uint64_t{1} << 26;   // of one picture, 67 million
constexpr uint64_t kLargestFile = uint64_t{1} << 28;  // bytes

// 8 bits a channel: red, green, blue; rows from the top, without padding.
struct Picture {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

// Decodes by the file's content, whatever its name. As in the reference, grey becomes three equal channels,
// transparency is dropped, 16 bits a channel are cut to 8, and a picture is turned upright if the file states its
// orientation (orientation.hpp). The first of several pictures is read. `name` stands for the file in messages. Errors:
// an unsupported kind (the message has the command that converts it to PNG), damaged, too large.
Result<Picture> decode_picture(std::span<const std::byte> file, const std::string& name);
Result<Picture> read_picture(const FileName& name);

}  // namespace lapilli::image
