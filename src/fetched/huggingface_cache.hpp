// Models that other programs for the hub have fetched. Their cache is only read, never written. In it each model is
// models--OWNER--NAME with refs/REVISION, which names a commit, and snapshots/COMMIT, whose files are links to blobs.
#pragma once

#include <string>
#include <vector>

#include "fetched/names.hpp"

namespace lapilli::hub {

// The directory of those programs: HF_HOME, or huggingface in the user's caches; "" if there is none.
std::string huggingface_home();
// Their model cache: HF_HUB_CACHE, or hub in huggingface_home().
std::string huggingface_cache();

struct Snapshot {
  std::string directory;  // "": the cache lacks the model at that revision
  std::string lacks;      // why it is unusable; "" if it is complete
};
// Follows refs/main, or the given revision: a branch, a tag or a commit.
Snapshot find_snapshot(const std::string& cache, const ModelName& model);

// All models with an owner and a name, complete or not.
std::vector<ModelName> names_in_huggingface_cache(const std::string& cache);

}  // namespace lapilli::hub
