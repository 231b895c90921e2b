// Names that come from a hub or go to one. A hub's name becomes a path or part of an address only after these checks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lapilli::hub {

// OWNER/NAME, or OWNER/NAME@REVISION: a branch, a tag or a commit. With :FILE behind it, that file alone is the model.
struct ModelName {
  std::string owner, name, revision;  // revision: "" if none is given
  std::string file;                   // "": the whole repository
  [[nodiscard]] std::string text() const { return owner + "/" + name; }
  // As it is typed.
  [[nodiscard]] std::string full() const {
    return text() + (revision.empty() ? "" : "@" + revision) + (file.empty() ? "" : ":" + file);
  }
};
// Nothing if it is no such name.
std::optional<ModelName> parse_model_name(std::string_view text);

// True for letters, digits, ".", "_", "-"; not hidden, not a parent directory, no Windows device.
bool is_plain_name(std::string_view name);
// A file of a repository: a plain name, or FOLDER/NAME with two of them.
bool is_file_name(std::string_view name);
// The same, with single slashes in between.
bool is_revision(std::string_view name);
// True for a git commit id: 40 or 64 hexadecimal digits in lower case.
bool is_commit(std::string_view name);
inline constexpr size_t kShortestCommit = 7;  // of an abbreviated one

}  // namespace lapilli::hub
