// The chunks of WebP files.
#pragma once

#include <span>
#include <string_view>

namespace lapilli::image {

// The data of the first chunk of that type; empty if there is none, it is truncated, or the file is no WebP file.
std::span<const unsigned char> webp_chunk_of(std::span<const unsigned char> file, std::string_view type);

}  // namespace lapilli::image
