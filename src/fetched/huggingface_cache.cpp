#include "fetched/huggingface_cache.hpp"

#include "base/files.hpp"
#include "base/path.hpp"
#include "fetched/selection.hpp"

namespace lapilli::hub {

namespace {

constexpr std::string_view kPrefix = "models--", kBetween = "--";

// The commit that a file in refs names; "" if it names none.
std::string commit_of_ref(const std::string& path) {
  constexpr size_t kMostBytes = 256;
  const auto text = file_exists(path) ? read_text_file(path, kMostBytes) : Result<std::string>(std::string());
  if (!text) return "";
  const std::string commit = text->substr(0, text->find_first_of(" \t\r\n"));
  return is_commit(commit) ? commit : "";
}

// The commit of an abbreviated revision, if it matches a single snapshot.
std::string commit_begun(const std::string& snapshots, const std::string& revision) {
  std::string found;
  for (const std::string& commit : names_in(snapshots)) {
    if (revision.size() < kShortestCommit || !is_commit(commit) || !commit.starts_with(revision)) continue;
    if (!found.empty()) return "";
    found = commit;
  }
  return found;
}

std::string commit_of(const std::string& folder, const std::string& revision) {
  const std::string named = revision.empty() ? "main" : revision;
  if (!is_revision(named)) return "";
  const std::string commit = commit_of_ref(folder + "/refs/" + named);
  return commit.empty() ? commit_begun(folder + "/snapshots", named) : commit;
}

// Dangling links count as missing files.
void add_file(const std::string& snapshot, const std::string& name, Repository& repository) {
  const std::string path = snapshot + "/" + name;
  if (is_file_name(name) && file_exists(path)) repository.files.push_back({name, file_size(path), "", ""});
}

Repository files_of(const std::string& snapshot) {
  Repository repository;
  for (const std::string& name : names_in(snapshot)) {
    add_file(snapshot, name, repository);
    if (!is_plain_name(name) || !directory_exists(snapshot + "/" + name)) continue;
    for (const std::string& inner : names_in(snapshot + "/" + name)) add_file(snapshot, name + "/" + inner, repository);
  }
  return repository;
}

Status check_files(const std::string& snapshot) {
  const Repository repository = files_of(snapshot);
  LAPILLI_TRY(const Selection selection, select_files(repository));
  for (const HubFile& index : selection.indices) {
    LAPILLI_TRY(const auto text, read_text_file(snapshot + "/" + index.name, kMostIndexBytes));
    LAPILLI_CHECK(files_of_index(repository, index.name, text));
  }
  if (!file_exists(snapshot + "/" + kModules)) return {};
  LAPILLI_TRY(const auto modules, read_text_file(snapshot + "/" + kModules, kMostModulesBytes));
  return check_modules(repository, modules);
}

Status check_whole(const std::string& folder, const std::string& snapshot) {
  for (const std::string& place : {folder + "/blobs", snapshot})
    for (const std::string& name : names_in(place))
      if (name.ends_with(".incomplete")) return fail(ErrorCode::not_found, "a download of it did not end");
  return check_files(snapshot);
}

}  // namespace

std::string huggingface_home() {
  if (const std::string home = environment("HF_HOME"); !home.empty()) return home;
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty()) return cache + "/huggingface";
  for (const char* home : {"HOME", "USERPROFILE"}) {
    if (const std::string folder = environment(home); !folder.empty()) return folder + "/.cache/huggingface";
  }
  return "";
}

std::string huggingface_cache() {
  if (const std::string cache = environment("HF_HUB_CACHE"); !cache.empty()) return cache;
  const std::string home = huggingface_home();
  return home.empty() ? "" : home + "/hub";
}

Snapshot find_snapshot(const std::string& cache, const ModelName& model) {
  if (cache.empty()) return {};
  const std::string folder = cache + "/" + std::string(kPrefix) + model.owner + std::string(kBetween) + model.name;
  const std::string commit = commit_of(folder, model.revision);
  const std::string snapshot = folder + "/snapshots/" + commit;
  if (commit.empty() || !directory_exists(snapshot)) return {};
  const Status whole = check_whole(folder, snapshot);
  return {snapshot, whole ? "" : whole.error().message};
}

std::vector<ModelName> names_in_huggingface_cache(const std::string& cache) {
  std::vector<ModelName> models;
  if (cache.empty()) return models;
  for (const std::string& entry : names_in(cache)) {
    if (!entry.starts_with(kPrefix)) continue;
    const std::string name = entry.substr(kPrefix.size());
    const size_t between = name.find(kBetween);
    if (between == std::string::npos) continue;
    const auto model = parse_model_name(name.substr(0, between) + "/" + name.substr(between + kBetween.size()));
    if (model && model->revision.empty()) models.push_back(*model);
  }
  return models;
}

}  // namespace lapilli::hub
