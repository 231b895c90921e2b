// Pretends a lesser device.
#pragma once

#include <string>

#include "base/result.hpp"
#include "vulkan/caps/capabilities.hpp"

namespace lapilli {

// Narrows `caps`; never widens limits or features. `mask` is a comma-separated list of: full (nothing), floor (every
// default above), small-bindings (64 KiB bindings, 64 groups per dimension), small-work (only recorded here:
// ops/core/work_limit.hpp then allows a million operations at a time), no-subgroup, no-timeline, no-indirect, no-fp16,
// no-halves (words of two fp16), no-int8, no-coop (cooperative matrices), staging (memory treated as not host-visible),
// gpu (a CPU driver gets a GPU's work: only the type changes, and texels go; every other limit and feature stays), or
// the name of a JSON file of capabilities to intersect with.
Result<Capabilities> apply_mask(Capabilities caps, const std::string& mask);

}  // namespace lapilli
