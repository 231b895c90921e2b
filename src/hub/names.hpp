// Names that come from a hub or go there. What a hub names becomes a path and part of an address only if it passes
// here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lapilli::hub {

// OWNER/NAME, or OWNER/NAME@REVISION: a branch, a tag or a commit.
struct ModelName {
  std::string owner, name, revision;  // revision: "" if none is named
  [[nodiscard]] std::string text() const { return owner + "/" + name; }
};
// Nothing if it is no such name.
std::optional<ModelName> parse_model_name(std::string_view text);

// Letters, digits, ".", "_", "-"; not hidden, not a step up, and no device of Windows.
bool is_plain_name(std::string_view name);
// The same with single slashes between.
bool is_revision(std::string_view name);
// What git calls a commit: 40 or 64 hexadecimal digits in lower case.
bool is_commit(std::string_view name);
inline constexpr size_t kShortestCommit = 7;  // of one that is not written out

}  // namespace lapilli::hub
