// Removes fetched models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fetched/names.hpp"

namespace lapilli::hub {

struct Removed {
  std::vector<std::string> directories;  // of commits
  uint64_t bytes = 0;
};

// Removes every commit of the model in `models`, or the one that the name's revision means, including the remains of an
// interrupted fetch. Nothing else is removed: no other folder, and no target of a link. not_found: there is none.
// unsupported: another program is fetching it, or part of the path is a link. out_of_memory: the disk refuses.
Result<Removed> remove_fetched(const std::string& models, const ModelName& model);

}  // namespace lapilli::hub
