// Pictures as sources: numbers in planes become rows of patches.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/features.hpp"

namespace lapilli::model {

// Sets all that follows from the sizes of pictures and patches: rows of features, maps of stages, positions. `where`
// begins the message. Errors: no patch, too many, a map smaller than a window.
Status fit_picture(Config& config, const std::string& where);
// Sets a picture size other than config.json's: positions are resized when weights are loaded. Errors: the model reads
// no pictures, sizes without a patch or with too many.
Status set_picture_size(Config& config, uint32_t height, uint32_t width);
// Resizing of a table of positions, `front` rows and then a row per patch, to another grid of patches: each number by
// itself, bicubic (Keys 1981, a = -0.75).
struct PatchGrid {
  uint32_t front = 0, rows = 0, columns = 0, new_rows = 0, new_columns = 0;
};
std::vector<float> resized_positions(const PatchGrid& grid, std::span<const float> table, uint32_t width);

// `pixels` are PatchInput::channels planes of height * width. A remainder at the right and bottom is dropped, or padded
// with zeros (PatchInput::filled). Fails on another number of pixels.
Result<Features> patches_of(const PatchInput& input, std::span<const float> pixels);

}  // namespace lapilli::model
