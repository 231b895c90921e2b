#include "model/patches.hpp"

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

}  // namespace

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
