// Models that other programs for the hub have fetched: their cache is read, and never written. In it each model is
// models--OWNER--NAME with refs/REVISION, which names a commit, and snapshots/COMMIT, whose files are links to blobs.
#pragma once

#include <string>
#include <vector>

#include "hub/names.hpp"

namespace lapilli::hub {

// Where those programs keep what is theirs: HF_HOME, or huggingface in the user's caches; "" if there is no place.
std::string huggingface_home();
// Where their models lie: HF_HUB_CACHE, or hub in huggingface_home().
std::string huggingface_cache();

struct Snapshot {
  std::string directory;  // "": the model does not lie there at that revision
  std::string lacks;      // why it is not used; "" if it is whole
};
// Follows refs/main, or the revision that is named: a branch, a tag or a commit.
Snapshot find_snapshot(const std::string& cache, const ModelName& model);

// All that have an owner and a name, whole or not.
std::vector<ModelName> names_in_huggingface_cache(const std::string& cache);

}  // namespace lapilli::hub
