// A network's weights as the device loads them.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/network.hpp"
#include "runtime/weights/weights.hpp"

namespace lapilli {

// Reading from the checkpoint, which lives until they are loaded, when their turn comes.
Result<std::vector<WeightSource>> weight_sources(const model::Network& network);

}  // namespace lapilli
