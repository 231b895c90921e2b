// What drivers promise and do not keep.
#pragma once

#include "vulkan/capabilities.hpp"

namespace lapilli::vulkan {

// Clears what the table in quirks.cpp says for this driver and appends the quirks' names to caps.quirks.
void apply_quirks(Capabilities& caps);

}  // namespace lapilli::vulkan
