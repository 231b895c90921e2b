// A white image to draw on; drawing outside of it is clipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "drawing/typeface.hpp"
#include "image/picture.hpp"

namespace lapilli::drawing {

class Canvas {
 public:
  Canvas(uint32_t width, uint32_t height) : picture_{width, height, {}} {
    picture_.rgb.assign(size_t{width} * height * 3, 255);
  }
  void fill(int32_t x, int32_t y, int32_t w, int32_t h, const uint8_t (&rgb)[3]) {
    for (int32_t row = y; row < y + h; ++row) {
      for (int32_t column = x; column < x + w; ++column) {
        if (uint8_t* p = pixel(column, row)) std::copy(std::begin(rgb), std::end(rgb), p);
      }
    }
  }
  // Draws black text with its top left corner there; `upwards` turns it to read from below.
  void text(const TextImage& image, int32_t x, int32_t y, bool upwards = false) {
    for (int32_t row = 0; row < image.height; ++row) {
      for (int32_t column = 0; column < image.width; ++column) {
        const uint32_t ink =
            image.coverage[static_cast<size_t>(row) * static_cast<size_t>(image.width) + static_cast<size_t>(column)];
        if (ink == 0) continue;
        uint8_t* p = upwards ? pixel(x + row, y + image.width - 1 - column) : pixel(x + column, y + row);
        for (int k = 0; p && k < 3; ++k) p[k] = static_cast<uint8_t>(p[k] * (255 - ink) / 255);
      }
    }
  }
  void set(int32_t x, int32_t y, const uint8_t (&rgb)[3]) {
    if (uint8_t* p = pixel(x, y)) std::copy(std::begin(rgb), std::end(rgb), p);
  }
  image::Picture take() && { return std::move(picture_); }

 private:
  uint8_t* pixel(int32_t x, int32_t y) {
    if (x < 0 || y < 0 || x >= static_cast<int32_t>(picture_.width) || y >= static_cast<int32_t>(picture_.height))
      return nullptr;
    return &picture_.rgb[(static_cast<size_t>(y) * picture_.width + static_cast<size_t>(x)) * 3];
  }
  image::Picture picture_;
};

}  // namespace lapilli::drawing
