// Rows for which the device's memory did not suffice, while another start, or another node, may have enough for them.
#pragma once

#include <vector>

#include "cli/run/run_state.hpp"

namespace lapilli::cli {

// Runs each of them once more, alone, if the run is that of a shard. One that does not fit then, though a short text
// does, is too large by itself (LineResult::too_large): without that its shard would end at it again and again.
// `results` are of `lines`.
void try_alone(const RunState& run, const std::vector<Line>& lines, LineResults& results);

}  // namespace lapilli::cli
