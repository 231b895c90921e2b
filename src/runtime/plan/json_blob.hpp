// JSON in what is kept between runs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/store.hpp"
#include "runtime/plan/plan.hpp"

namespace lapilli {

Blob json_blob(const nlohmann::json& json);
// Discarded (is_discarded()) if it is none.
nlohmann::json json_of(const Blob& blob);

// [shader, constants...]; numbers of shaders mean those of the version that wrote them.
nlohmann::json kernel_json(const PlannedPipeline& kernel);
// False: it is none.
bool read_kernel(const nlohmann::json& entry, PlannedPipeline& kernel);

}  // namespace lapilli
