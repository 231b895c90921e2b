// Getting rid of a model that was fetched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hub/names.hpp"

namespace lapilli::hub {

struct Removed {
  std::vector<std::string> directories;  // of commits
  uint64_t bytes = 0;
};

// Every commit of it that lies in `models`, or the one that the name's revision means; also what a fetch that did not
// end has left. Nothing else is removed: no other folder, and nothing that a link leads to. not_found: there is none.
// unsupported: another program fetches it now, or a part of the way is a link. out_of_memory: the disk refuses.
Result<Removed> remove_fetched(const std::string& models, const ModelName& model);

}  // namespace lapilli::hub
