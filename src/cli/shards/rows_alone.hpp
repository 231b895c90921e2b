// Rows for which the device's memory did not suffice, while another start, or another node, may have enough for them.
#pragma once

#include <cstdint>
#include <vector>

#include "cli/run/text_model.hpp"

namespace lapilli::cli {

// Runs each of them once more, alone. One that does not fit then, though a short text does, is too large by itself
// (LineResult::too_large): without that its shard would end at it again and again. `results` are of `lines`.
void try_alone(TextModel& model, const std::vector<Line>& lines, uint64_t lines_before, LineResults& results);

}  // namespace lapilli::cli
