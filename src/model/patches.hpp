// Pictures as sources: numbers in planes become rows of patches.
#pragma once

#include <span>

#include "base/result.hpp"
#include "model/features.hpp"

namespace lapilli::model {

// `pixels` are PatchInput::channels planes of height * width. What is left over at the right and at the bottom belongs
// to no patch. Error: another number of them.
Result<Features> patches_of(const PatchInput& input, std::span<const float> pixels);

}  // namespace lapilli::model
