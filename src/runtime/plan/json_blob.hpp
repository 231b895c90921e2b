// JSON in blobs that are kept between runs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/store.hpp"
#include "runtime/plan/plan.hpp"

namespace lapilli {

Blob json_blob(const nlohmann::json& json);
// Discarded (is_discarded()) if the blob is not JSON.
nlohmann::json json_of(const Blob& blob);

// [shader, constants...]; shader numbers are those of the version that wrote them.
nlohmann::json kernel_json(const PlannedPipeline& kernel);
// False if it is not a kernel.
bool read_kernel(const nlohmann::json& entry, PlannedPipeline& kernel);

}  // namespace lapilli
