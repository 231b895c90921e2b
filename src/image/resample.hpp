// Resizing by the reference's rules for 8 bits a channel: weights are rounded to 16 bits; columns are resized first,
// the result rounded to 8 bits, then rows.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "image/picture.hpp"

namespace lapilli::image {

enum class Filter : uint8_t { nearest, bilinear, bicubic };

struct Size {
  uint32_t height = 0, width = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

// When shrinking, bilinear and bicubic consider all pixels that a new one covers. Errors: a size of 0, and more than
// kMostPixels in between.
Result<Picture> resize(const Picture& picture, Size size, Filter filter);

}  // namespace lapilli::image
