// Kernels as JSON, in what is kept between runs: [shader, constants...]. Numbers of shaders mean those of the version
// that wrote them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/plan.hpp"

namespace lapilli {

nlohmann::json kernel_json(const PlannedPipeline& kernel);
// False: it is none.
bool read_kernel(const nlohmann::json& entry, PlannedPipeline& kernel);

}  // namespace lapilli
