// Pictures as sources: numbers in planes become rows of patches.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/features.hpp"

namespace lapilli::model {

// What follows from the size of pictures and of patches: rows of features, maps of stages, positions. `where` begins
// the message. Errors: no patch, too many, a map that is smaller than a window.
Status fit_picture(Config& config, const std::string& where);
// Pictures of another size than config.json says: positions are brought to it when weights are loaded. Errors: the
// model reads no pictures, sizes that have no patch, or too many.
Status set_picture_size(Config& config, uint32_t height, uint32_t width);
// A table of positions, `front` rows and then a row for each patch, brought from one number of patches to another: each
// number by itself, bicubic (Keys 1981, a = -0.75).
struct PatchGrid {
  uint32_t front = 0, rows = 0, columns = 0, new_rows = 0, new_columns = 0;
};
std::vector<float> resized_positions(const PatchGrid& grid, std::span<const float> table, uint32_t width);

// `pixels` are PatchInput::channels planes of height * width. What is left over at the right and at the bottom belongs
// to no patch. Error: another number of them.
Result<Features> patches_of(const PatchInput& input, std::span<const float> pixels);

}  // namespace lapilli::model
