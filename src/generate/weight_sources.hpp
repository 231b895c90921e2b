// A network's weights as the device loads them.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/network.hpp"
#include "runtime/weights/weights.hpp"

namespace lapilli {

// The sources read from the checkpoint when their turn comes; it must live until they are loaded.
Result<std::vector<WeightSource>> weight_sources(const model::Network& network);

// Their room on the device, for the model's ledger.
vulkan::MemoryNeed need_of_weights(std::span<const WeightSource> sources);

}  // namespace lapilli
