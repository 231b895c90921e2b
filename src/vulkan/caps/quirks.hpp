// Features that drivers promise but get wrong.
#pragma once

#include "vulkan/caps/capabilities.hpp"

namespace lapilli::vulkan {

// Clears what the table in quirks.cpp lists for this driver, and appends the quirks' names to caps.quirks.
void apply_quirks(Capabilities& caps);

}  // namespace lapilli::vulkan
