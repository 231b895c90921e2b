// Capabilities as JSON: printed by `lapilli devices --json`, read by masks.
#pragma once

#include <string>

#include "base/result.hpp"
#include "vulkan/caps/capabilities.hpp"

namespace lapilli {

std::string to_json(const Capabilities& caps);
// Missing members keep the floor's value; wrong types and numbers below the floor are errors.
Result<Capabilities> capabilities_from_json(const std::string& json);

}  // namespace lapilli
