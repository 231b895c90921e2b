#include "image/processor.hpp"

#include <algorithm>

namespace lapilli::image {

namespace {

// The reference's quotients: truncated from double precision.
uint32_t share(uint32_t n, uint32_t of, uint32_t by) {
  const double value = static_cast<double>(uint64_t{n} * of) / by;
  return value < 4e9 ? static_cast<uint32_t>(value) : ~0u;
}

Size with_shortest_edge(const Picture& p, uint32_t edge) {
  return p.width <= p.height ? Size{share(edge, p.height, p.width), edge} : Size{edge, share(edge, p.width, p.height)};
}

Picture turned_right(const Picture& p) {
  Picture out{p.height, p.width, std::vector<uint8_t>(p.rgb.size())};
  for (size_t y = 0; y < out.height; ++y)
    for (size_t x = 0; x < out.width; ++x) {
      const auto from = p.rgb.begin() + static_cast<ptrdiff_t>(3 * ((p.height - 1 - x) * p.width + y));
      std::copy_n(from, 3, out.rgb.begin() + static_cast<ptrdiff_t>(3 * (y * out.width + x)));
    }
  return out;
}

// As in Pillow: ITU-R 601-2 with 16 fractional bits.
uint8_t grey(const uint8_t* rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

Picture part(const Picture& p, Size corner, Size size) {
  Picture out{size.width, size.height, std::vector<uint8_t>(size_t{3} * size.width * size.height)};
  for (size_t y = 0; y < size.height; ++y) {
    const size_t from = 3 * ((corner.height + y) * p.width + corner.width);
    std::copy_n(p.rgb.begin() + static_cast<ptrdiff_t>(from), size_t{3} * size.width,
                out.rgb.begin() + static_cast<ptrdiff_t>(y * size.width * 3));
  }
  return out;
}

// Crops to all pixels darker than 200 of 255 after stretching the range of brightness to 0..255.
Picture without_margin(const Picture& p) {
  constexpr double kThreshold = 200;
  std::vector<uint8_t> greys(size_t{p.width} * p.height);
  for (size_t i = 0; i < greys.size(); ++i) greys[i] = grey(&p.rgb[3 * i]);
  const auto [least, most] = std::minmax_element(greys.begin(), greys.end());
  const double low = *least, range = *most - low;
  if (range == 0) return p;
  Size first{p.height, p.width}, last;
  for (uint32_t y = 0; y < p.height; ++y)
    for (uint32_t x = 0; x < p.width; ++x) {
      if ((greys[size_t{y} * p.width + x] - low) / range * 255 >= kThreshold) continue;
      first = {std::min(first.height, y), std::min(first.width, x)};
      last = {std::max(last.height, y), std::max(last.width, x)};
    }
  return part(p, first, {last.height - first.height + 1, last.width - first.width + 1});
}

Size shrunk_into(const Picture& p, Size room) {
  Size s{std::min(p.height, room.height), std::min(p.width, room.width)};
  if (s.height == p.height && s.width == p.width) return s;
  if (p.height > p.width)
    s.width = share(p.width, s.height, p.height);
  else if (p.width > p.height)
    s.height = share(p.height, s.width, p.width);
  return s;
}

// Copies the picture into a window of `size`, its corner at (top, left) of the window; black around it.
Picture window(const Picture& p, Size size, int64_t top, int64_t left) {
  Picture out{size.width, size.height, std::vector<uint8_t>(size_t{3} * size.width * size.height)};
  const int64_t begin = std::max<int64_t>(left, 0), end = std::min<int64_t>(left + p.width, size.width);
  for (int64_t y = std::max<int64_t>(top, 0); y < std::min<int64_t>(top + p.height, size.height); ++y) {
    if (begin >= end) break;
    const auto from = p.rgb.begin() + 3 * ((y - top) * p.width + begin - left);
    std::copy_n(from, 3 * (end - begin), out.rgb.begin() + 3 * (y * size.width + begin));
  }
  return out;
}

int64_t half_rounded_down(int64_t n) { return n >= 0 ? n / 2 : -((1 - n) / 2); }

// Pads with black on both sides, the odd pixel at the right and bottom; or crops, the odd pixel at the left and top.
Picture padded(const Picture& p, Size size) {
  return window(p, size, half_rounded_down(int64_t{size.height} - p.height),
                half_rounded_down(int64_t{size.width} - p.width));
}

// Crops a side that is too long, or pads one that is too short, by the odd pixel less at its beginning.
Picture center_cropped(const Picture& p, Size size) {
  return window(p, size, (int64_t{size.height} - p.height) / 2, (int64_t{size.width} - p.width) / 2);
}

bool lies_across(const Picture& p, Size size) {
  return (size.width < size.height && p.width > p.height) || (size.width > size.height && p.width < p.height);
}

}  // namespace

Result<Picture> prepare(const Processor& p, const Picture& picture) {
  if (picture.width == 0 || picture.height == 0) return fail(ErrorCode::invalid_argument, "a picture without pixels");
  Picture now = p.crop_margin ? without_margin(picture) : picture;
  if (p.turn && lies_across(now, p.size)) now = turned_right(now);
  if (p.resize) {
    const Size size = p.shortest_edge ? with_shortest_edge(now, p.shortest_edge) : p.size;
    LAPILLI_TRY(now, resize(now, size, p.filter));
  }
  if (p.shrink) {
    LAPILLI_TRY(now, resize(now, shrunk_into(now, p.size), p.filter));
  }
  if (p.pad) now = padded(now, p.size);
  if (p.center_crop) now = center_cropped(now, p.crop);
  return now;
}

// In the reference's arithmetic: with both steps, mean and deviation are divided by the factor first.
Pixels pixels_of(const Processor& p, const Picture& prepared) {
  const size_t area = size_t{prepared.width} * prepared.height;
  Pixels out{{prepared.height, prepared.width}, std::vector<float>(3 * area)};
  for (size_t c = 0; c < 3; ++c) {
    const float back = p.rescale ? static_cast<float>(1 / p.rescale_factor) : 1.0f;
    const float mean = p.mean[c] * back, deviation = p.deviation[c] * back;
    const auto factor = static_cast<float>(p.rescale_factor);
    for (size_t i = 0; i < area; ++i) {
      const float x = prepared.rgb[3 * i + c];
      out.values[c * area + i] = p.normalize ? (x - mean) / deviation : p.rescale ? x * factor : x;
    }
  }
  return out;
}

Result<Pixels> process(const Processor& p, const Picture& picture) {
  LAPILLI_TRY(const auto prepared, prepare(p, picture));
  return pixels_of(p, prepared);
}

}  // namespace lapilli::image
