// Capabilities as JSON: what `lapilli devices --json` prints and masks read.
#pragma once

#include <string>

#include "base/result.hpp"
#include "vulkan/capabilities.hpp"

namespace lapilli {

std::string to_json(const Capabilities& caps);
// Members that are missing keep the floor's value; wrong types and numbers below the floor are errors.
Result<Capabilities> capabilities_from_json(const std::string& json);

}  // namespace lapilli
