// Asks a hub for a model's entry.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "fetched/hub_file.hpp"
#include "fetched/names.hpp"
#include "hub/requests.hpp"

namespace lapilli::hub {

// GET /api/models/OWNER/NAME/revision/REVISION?blobs=true
Result<Repository> ask_for(Requests& requests, const ModelName& model);
// Parses the response, which is untrusted.
Result<Repository> read_repository(std::string_view text);

}  // namespace lapilli::hub
