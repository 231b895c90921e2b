// Pictures of another size, by the reference's rules for 8 bits a channel: weights are rounded to 16 bits, columns are
// brought to the new width first, rounded to 8 bits, then rows to the new height.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "image/picture.hpp"

namespace lapilli::pictures {

enum class Filter : uint8_t { nearest, bilinear, bicubic };

struct Size {
  uint32_t height = 0, width = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

// Bilinear and bicubic look at all pixels that a new one covers where the picture gets smaller. Errors: a size of 0,
// and more than image::kMostPixels on the way.
Result<image::Picture> resize(const image::Picture& picture, Size size, Filter filter);

}  // namespace lapilli::pictures
