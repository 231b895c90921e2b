// The rows of BMP files.
#pragma once

#include <span>

namespace lapilli::image {

// False: the file ends before its last pixel. True also if its header is invalid.
bool bmp_rows_whole(std::span<const unsigned char> file);

}  // namespace lapilli::image
