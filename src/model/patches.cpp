#include "model/patches.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"

namespace lapilli::model {

namespace {

// Appends the numbers of the patch with this corner.
void append_patch(const PatchInput& p, std::span<const float> pixels, uint64_t top, uint64_t left,
                  std::vector<float>& values) {
  for (uint64_t c = 0; c < p.channels; ++c)
    for (uint64_t y = top; y < top + p.patch_height; ++y) {
      const uint64_t there = y < p.height ? std::min<uint64_t>(p.patch_width, p.width - left) : 0;
      const auto row = pixels.begin() + static_cast<ptrdiff_t>((c * p.height + y) * p.width + left);
      if (there) values.insert(values.end(), row, row + static_cast<ptrdiff_t>(there));
      values.insert(values.end(), p.patch_width - there, 0.0f);
    }
}

// The four stored points around a new one, and their weights.
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

Status fit_picture(Config& c, const std::string& where) {
  constexpr uint64_t kMostPixels = 1u << 26, kMostPlaces = 1u << 22, kMostRows = 1u << 16;
  const PatchInput& p = c.patches;
  const uint64_t pixels = uint64_t{p.height} * p.width, most = c.stages.empty() ? kMostRows : kMostPlaces;
  if (pixels > kMostPixels || p.patch_height > p.height || p.patch_width > p.width || p.count() >= most)
    return fail(ErrorCode::invalid_data, "%s: patches of %u by %u in pictures of %u by %u", where, p.patch_height,
                p.patch_width, p.height, p.width);
  c.features.rows = p.count();
  c.encoder.max_positions = p.count() + c.features.front;
  if (c.stages.empty()) return {};
  uint32_t height = p.rows(), width = p.columns();
  for (StageConfig& s : c.stages) {
    if (std::min(height, width) < s.side)
      return fail(ErrorCode::unsupported,
                  "%s: windows of %u do not fit the map of %u by %u that a stage makes of pictures of %u by %u", where,
                  s.side, height, width, p.height, p.width);
    s.height = height;
    s.width = width;
    if (!s.merges) continue;
    height = div_up(height, 2u);
    width = div_up(width, 2u);
  }
  const uint64_t rows = uint64_t{height} * width;
  if (rows >= kMostRows)
    return fail(ErrorCode::invalid_data, "%s: pictures of %u by %u come to %u rows; fewer than %u are supported", where,
                p.height, p.width, rows, kMostRows);
  c.features.merged = c.encoder.max_positions = static_cast<uint32_t>(rows);
  return {};
}

Status set_picture_size(Config& c, uint32_t height, uint32_t width) {
  PatchInput& p = c.patches;
  if (p.channels == 0) return fail(ErrorCode::invalid_argument, "%s models read no pictures", c.family);
  const Config before = c;
  p.stored_rows = p.rows();
  p.stored_columns = p.columns();
  p.height = height;
  p.width = width;
  Status fits = fit_picture(c, "the model");
  if (fits) return fits;
  c = before;
  return fail(ErrorCode::invalid_argument, "%s", fits.error().message);
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

Result<Features> patches_of(const PatchInput& input, std::span<const float> pixels) {
  if (input.channels == 0) return fail(ErrorCode::invalid_argument, "the model reads no pictures");
  if (pixels.size() != uint64_t{input.channels} * input.height * input.width)
    return fail(ErrorCode::invalid_argument, "a picture of %u numbers; the model wants %u channels of %u by %u",
                pixels.size(), input.channels, input.height, input.width);
  Features f{input.count(), input.numbers(), {}};
  f.values.reserve(uint64_t{f.rows} * f.width);
  for (uint64_t y = 0; y < input.rows(); ++y)
    for (uint64_t x = 0; x < input.columns(); ++x)
      append_patch(input, pixels, y * input.patch_height, x * input.patch_width, f.values);
  return f;
}

}  // namespace lapilli::model
