#include "hub/removal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file_lock.hpp"
#include "base/path.hpp"
#include "fetched/cache.hpp"

namespace lapilli::hub {

namespace {

// Checks that `name` is a real folder directly in `in`: not_found if it is missing, unsupported if it is a link.
Status check_own_folder(const std::string& in, const std::string& name) {
  std::vector<FolderEntry> entries;
  (void)list_folder(in, entries);
  const auto entry =
      std::find_if(entries.begin(), entries.end(), [&](const FolderEntry& one) { return one.name == name; });
  if (entry == entries.end()) return fail(ErrorCode::not_found, "there is no %s in %s", name, in);
  if (entry->kind == FileKind::directory) return {};
  return fail(ErrorCode::unsupported, "%s/%s is a link or a file, so what it leads to is not removed", in, name);
}

// The commits, complete or partial, that the name means.
Result<std::vector<std::string>> commits_of(const std::string& folder, const ModelName& model) {
  std::vector<FolderEntry> entries;
  std::vector<std::string> commits;
  (void)list_folder(folder, entries);
  for (const FolderEntry& entry : entries) {
    if (!is_commit(entry.name)) continue;
    const auto manifest = read_manifest(folder + "/" + entry.name);
    if (!is_of_revision(entry.name, manifest ? manifest->asked_for : "", model.revision)) continue;
    LAPILLI_CHECK(check_own_folder(folder, entry.name));
    commits.push_back(entry.name);
  }
  if (commits.empty()) return fail(ErrorCode::not_found, "nothing of that name and revision is in %s", folder);
  return commits;
}

// Fails if another program fetches there, which holds the lock meanwhile.
Status check_nobody_fetches(const std::string& directory) {
  if (FileLock::take(directory + "/.lock") || errno != EWOULDBLOCK) return {};
  return fail(ErrorCode::unsupported, "another lapilli fetches it now");
}

// Removes the manifest first: without it, the rest is no model.
Status remove_commit(const std::string& directory, Removed& removed) {
  LAPILLI_CHECK(check_nobody_fetches(directory));
  const std::string manifest = directory + "/" + kManifest;
  const uint64_t bytes = file_size(manifest);
  if (file_is_named(manifest) && remove_file(manifest)) removed.bytes += bytes;
  if (!remove_folder(directory, removed.bytes))
    return fail(ErrorCode::out_of_memory, "%s cannot be removed: %s", directory, std::strerror(errno));
  removed.directories.push_back(directory);
  return {};
}

}  // namespace

Result<Removed> remove_fetched(const std::string& models, const ModelName& model) {
  const std::string owner = models + "/" + model.owner, folder = owner + "/" + model.name;
  LAPILLI_CHECK(check_own_folder(models, model.owner));
  LAPILLI_CHECK(check_own_folder(owner, model.name));
  LAPILLI_TRY(const auto commits, commits_of(folder, model));
  Removed removed;
  for (const std::string& commit : commits) LAPILLI_CHECK(remove_commit(directory_of(models, model, commit), removed));
  if (remove_empty_folder(folder)) (void)remove_empty_folder(owner);
  return removed;
}

}  // namespace lapilli::hub
