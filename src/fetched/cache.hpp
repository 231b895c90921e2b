// The cache of fetched models: .../lapilli/models/OWNER/NAME/COMMIT, each with a manifest that is written last.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fetched/hub_file.hpp"
#include "fetched/names.hpp"

namespace lapilli::hub {

inline constexpr const char* kManifest = "lapilli-model.json";

// models/ in the user's cache_directory().
Result<std::string> models_directory();

struct Manifest {
  std::string name, commit;
  std::string asked_for;  // the revision as requested: a branch, a tag
  std::string licence;
  std::string fetched;  // UTC, 2026-01-31T23:59:59Z
  std::vector<HubFile> files;
};
Status write_manifest(const std::string& directory, const Manifest& manifest);
// Nothing if the directory holds no completely fetched model: a manifest, and all its files with their sizes.
std::optional<Manifest> read_manifest(const std::string& directory);

// True if the named revision means this commit, which was fetched as `asked_for`; "" means any.
bool is_of_revision(const std::string& commit, const std::string& asked_for, const std::string& revision);

std::string directory_of(const std::string& models, const ModelName& model, const std::string& commit);

// The directory of a fetched model; without a revision, the one fetched last. "" if there is none.
std::string find_fetched(const std::string& models, const ModelName& model);

// The path that --model takes of a model's directory: the file that was asked for, or the only one that was fetched,
// which is a model by itself; else the directory. "" if it lacks that file.
std::string path_in(const std::string& directory, const std::string& file);

std::string time_now();

}  // namespace lapilli::hub
