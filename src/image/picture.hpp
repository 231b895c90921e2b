// Pictures read from files: PNG, JPEG, GIF and BMP; WebP and TIFF where Lapilli is built with what reads them. Files
// are taken for hostile: what a file's header claims is checked before memory is asked for, and what its decoder takes
// is bounded whatever the file unpacks to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli::image {

constexpr uint32_t kLongestSide = 65'535;             // pixels; JPEG has no more
constexpr uint64_t kMostPixels = uint64_t{1} << 26;   // of one picture, 67 million
constexpr uint64_t kLargestFile = uint64_t{1} << 28;  // bytes

// 8 bits a channel: red, green, blue; rows from the top, without padding.
struct Picture {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

// By the file's content, whatever its name. Grey becomes three equal channels, transparency is dropped, 16 bits a
// channel are cut to 8; a picture is turned upright where the file says how the camera was held (orientation.hpp): as
// the reference does. The first of several in a file is read. `name` stands for the file in messages. Errors: a kind
// that is not read, with the line that makes a PNG of it; damaged, too large.
Result<Picture> decode_picture(std::span<const std::byte> file, const std::string& name);
Result<Picture> read_picture(const FileName& name);

}  // namespace lapilli::image
