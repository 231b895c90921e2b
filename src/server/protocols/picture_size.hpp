// The size of a picture by the head of its file, before anything is decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lapilli::server {

// Width times height of a PNG, JPEG, GIF, BMP, WebP or TIFF; nothing if the head says none.
std::optional<uint64_t> pixels_of(std::string_view file);

}  // namespace lapilli::server
