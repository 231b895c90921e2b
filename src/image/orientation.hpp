// The orientation of the camera, which EXIF data state, and turning the picture upright.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lapilli::image {

// 1 to 8 as EXIF counts the ways in which a picture is stored; 1 is upright.
constexpr uint32_t kUpright = 1;

// Reads a JPEG file (segment APP1), a PNG file (chunk eXIf) or a WebP file (chunk EXIF); kUpright if they state no
// orientation, or an invalid one.
uint32_t orientation_of(std::span<const unsigned char> file);

// True if width and height swap.
constexpr bool lies_on_its_side(uint32_t orientation) { return orientation >= 5; }

// `rgb` holds width * height pixels as they are stored, rows without padding.
std::vector<uint8_t> turned_upright(std::span<const uint8_t> rgb, uint32_t width, uint32_t height,
                                    uint32_t orientation);

}  // namespace lapilli::image
