#include "model/patches.hpp"

#include <algorithm>
#include <cmath>

namespace lapilli::model {

namespace {

// The numbers of the patch whose corner this is.
void append_patch(const PatchInput& p, std::span<const float> pixels, uint64_t top, uint64_t left,
                  std::vector<float>& values) {
  for (uint64_t c = 0; c < p.channels; ++c)
    for (uint64_t y = top; y < top + p.patch_height; ++y) {
      const auto row = pixels.begin() + static_cast<ptrdiff_t>((c * p.height + y) * p.width + left);
      values.insert(values.end(), row, row + p.patch_width);
    }
}

// Four neighbours of a place between old ones, and their weights.
struct Neighbours {
  uint32_t at[4];
  double weight[4];
};

double near(double x) { return ((-0.75 + 2) * x - (-0.75 + 3)) * x * x + 1; }
double far(double x) { return ((-0.75 * x - 5 * -0.75) * x + 8 * -0.75) * x - 4 * -0.75; }

Neighbours neighbours(uint32_t i, uint32_t from, uint32_t to) {
  const double place = static_cast<double>(from) / to * (i + 0.5) - 0.5, below = std::floor(place), t = place - below;
  Neighbours n{{}, {far(t + 1), near(t), near(1 - t), far(2 - t)}};
  for (int k = 0; k < 4; ++k)
    n.at[k] = static_cast<uint32_t>(std::clamp<int64_t>(static_cast<int64_t>(below) + k - 1, 0, int64_t{from} - 1));
  return n;
}

}  // namespace

Status set_picture_size(Config& c, uint32_t height, uint32_t width) {
  PatchInput& p = c.patches;
  if (p.channels == 0) return fail(ErrorCode::invalid_argument, "%s models read no pictures", c.family.c_str());
  constexpr uint64_t kMost = 1u << 16;
  const uint64_t patches = uint64_t{height / p.patch_height} * (width / p.patch_width);
  if (patches == 0 || patches >= kMost || uint64_t{height} * width > kMost * kMost / 64)
    return fail(ErrorCode::invalid_argument, "pictures of %u by %u have %llu patches of %u by %u", height, width,
                static_cast<unsigned long long>(patches), p.patch_height, p.patch_width);
  p.stored_rows = p.height / p.patch_height;
  p.stored_columns = p.width / p.patch_width;
  p.height = height;
  p.width = width;
  c.features.rows = p.count();
  c.encoder.max_positions = p.count() + c.features.front;
  return {};
}

std::vector<float> resized_positions(const PatchGrid& g, std::span<const float> table, uint32_t width) {
  std::vector<float> out(table.begin(), table.begin() + static_cast<ptrdiff_t>(uint64_t{g.front} * width));
  out.reserve((g.front + uint64_t{g.new_rows} * g.new_columns) * width);
  const auto patches = table.subspan(uint64_t{g.front} * width);
  for (uint32_t r = 0; r < g.new_rows; ++r)
    for (uint32_t c = 0; c < g.new_columns; ++c) {
      const Neighbours y = neighbours(r, g.rows, g.new_rows), x = neighbours(c, g.columns, g.new_columns);
      for (uint32_t i = 0; i < width; ++i) {
        double sum = 0;
        for (int j = 0; j < 4; ++j)
          for (int k = 0; k < 4; ++k)
            sum += y.weight[j] * x.weight[k] * patches[(uint64_t{y.at[j]} * g.columns + x.at[k]) * width + i];
        out.push_back(static_cast<float>(sum));
      }
    }
  return out;
}

Result<Features> patches_of(const PatchInput& p, std::span<const float> pixels) {
  if (p.channels == 0) return fail(ErrorCode::invalid_argument, "the model reads no pictures");
  if (pixels.size() != uint64_t{p.channels} * p.height * p.width)
    return fail(ErrorCode::invalid_argument, "a picture of %zu numbers; the model wants %u channels of %u by %u",
                pixels.size(), p.channels, p.height, p.width);
  Features f{p.count(), p.numbers(), {}};
  f.values.reserve(uint64_t{f.rows} * f.width);
  for (uint64_t y = 0; y + p.patch_height <= p.height; y += p.patch_height)
    for (uint64_t x = 0; x + p.patch_width <= p.width; x += p.patch_width) append_patch(p, pixels, y, x, f.values);
  return f;
}

}  // namespace lapilli::model
