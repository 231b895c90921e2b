// The first half of "log_softmax", for nodes that do the second half themselves.
#pragma once

#include "ops/core/op.hpp"

namespace lapilli {

// Maximum and sum of exponentials for each slice of the rows, as in `node`, a "log_softmax"; all rows fit a binding.
Result<Dispatch> lower_log_softmax_parts(const LowerContext& context, const graph::Node& node, const Numbers& numbers);

}  // namespace lapilli
