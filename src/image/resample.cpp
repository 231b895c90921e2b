#include "image/resample.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lapilli::image {

namespace {

double triangle(double x) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}

// Keys 1981, with a = -0.5.
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// The old pixels that each new pixel of a line combines: `count` from `first` on, weights from `begin` on.
struct Taps {
  struct Range {
    uint32_t first = 0, count = 0;
    size_t begin = 0;
  };
  std::vector<Range> ranges;
  std::vector<int32_t> weights;
  int precision = 0;  // fractional bits
};

// Towards zero, as the reference's casts.
int64_t truncated(double value) { return static_cast<int64_t>(value); }

// As many bits as leave the largest weight within 16 signed bits.
int precision_of(double largest) {
  int bits = 0;
  while (bits < 22 && truncated(0.5 + largest * (1 << (bits + 1))) < 1 << 15) ++bits;
  return bits;
}

void append_weights(Filter filter, double center, double inverse, Taps::Range range, std::vector<double>& all) {
  double sum = 0;
  for (uint32_t j = 0; j < range.count; ++j) {
    const double x = (static_cast<double>(j + range.first) - center + 0.5) * inverse;
    all.push_back(filter == Filter::bilinear ? triangle(x) : cubic(x));
    sum += all.back();
  }
  if (sum != 0)
    for (size_t j = range.begin; j < all.size(); ++j) all[j] /= sum;
}

Taps make_taps(uint32_t from, uint32_t to, Filter filter) {
  const double scale = static_cast<double>(from) / to, stretch = std::max(scale, 1.0), inverse = 1 / stretch;
  const double support = (filter == Filter::bilinear ? 1 : 2) * stretch;
  const auto most = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  Taps taps;
  std::vector<double> weights;
  for (uint32_t i = 0; i < to; ++i) {
    const double center = scale * (i + 0.5);
    const auto low = std::max<int64_t>(truncated(center - support + 0.5), 0);
    const auto high = std::min<int64_t>(truncated(center + support + 0.5), from);
    const Taps::Range range{static_cast<uint32_t>(low), static_cast<uint32_t>(std::clamp<int64_t>(high - low, 0, most)),
                            weights.size()};
    append_weights(filter, center, inverse, range, weights);
    taps.ranges.push_back(range);
  }
  double largest = 0;
  for (const double w : weights) largest = std::max(largest, w);
  taps.precision = precision_of(largest);
  for (const double w : weights)
    taps.weights.push_back(static_cast<int32_t>(w * (1 << taps.precision) + (w < 0 ? -0.5 : 0.5)));
  return taps;
}

// One line: `from` and `to` point to a channel of its first pixels, `step` and `new_step` lead to the next pixel.
struct Line {
  const uint8_t* from = nullptr;
  uint8_t* to = nullptr;
  size_t step = 0, new_step = 0;
};

void resample_line(const Taps& taps, Line line) {
  for (size_t i = 0; i < taps.ranges.size(); ++i) {
    const Taps::Range& range = taps.ranges[i];
    int64_t sum = int64_t{1} << taps.precision >> 1;
    for (uint32_t j = 0; j < range.count; ++j)
      sum += int64_t{taps.weights[range.begin + j]} * line.from[(range.first + j) * line.step];
    line.to[i * line.new_step] = static_cast<uint8_t>(std::clamp<int64_t>(sum >> taps.precision, 0, 255));
  }
}

Picture resample_columns(const Picture& p, uint32_t width, Filter filter) {
  const Taps taps = make_taps(p.width, width, filter);
  Picture out{width, p.height, std::vector<uint8_t>(size_t{3} * width * p.height)};
  for (size_t y = 0; y < p.height; ++y)
    for (size_t c = 0; c < 3; ++c)
      resample_line(taps, {p.rgb.data() + 3 * y * p.width + c, out.rgb.data() + 3 * y * width + c, 3, 3});
  return out;
}

Picture resample_rows(const Picture& p, uint32_t height, Filter filter) {
  const Taps taps = make_taps(p.height, height, filter);
  const size_t row = size_t{3} * p.width;
  Picture out{p.width, height, std::vector<uint8_t>(row * height)};
  for (size_t x = 0; x < row; ++x) resample_line(taps, {p.rgb.data() + x, out.rgb.data() + x, row, row});
  return out;
}

// The old pixel under the centre of each new one, in the reference's arithmetic.
std::vector<uint32_t> nearest_of(uint32_t from, uint32_t to) {
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  std::vector<uint32_t> nearest(to);
  for (uint32_t i = 0; i < to; ++i)
    nearest[i] = std::min(static_cast<uint32_t>(std::floor(static_cast<float>(i + 0.5) * scale)), from - 1);
  return nearest;
}

Picture take_nearest(const Picture& p, Size size) {
  const auto rows = nearest_of(p.height, size.height), columns = nearest_of(p.width, size.width);
  Picture out{size.width, size.height, {}};
  out.rgb.reserve(size_t{3} * size.width * size.height);
  for (const uint32_t y : rows)
    for (const uint32_t x : columns) {
      const auto at = p.rgb.begin() + static_cast<ptrdiff_t>(3 * (size_t{y} * p.width + x));
      out.rgb.insert(out.rgb.end(), at, at + 3);
    }
  return out;
}

}  // namespace

Result<Picture> resize(const Picture& picture, Size size, Filter filter) {
  const uint64_t most = uint64_t{size.width} * std::max(size.height, picture.height);
  if (size.width == 0 || size.height == 0 || most > kMostPixels)
    return fail(ErrorCode::unsupported,
                "a picture of %u by %u pixels cannot be brought to %u by %u, which leads over %u pixels; cut it to a "
                "shape closer to that first",
                picture.width, picture.height, size.width, size.height, most);
  if (size.width == picture.width && size.height == picture.height) return picture;
  if (filter == Filter::nearest) return take_nearest(picture, size);
  if (size.width == picture.width) return resample_rows(picture, size.height, filter);
  if (size.height == picture.height) return resample_columns(picture, size.width, filter);
  return resample_rows(resample_columns(picture, size.width, filter), size.height, filter);
}

}  // namespace lapilli::image
