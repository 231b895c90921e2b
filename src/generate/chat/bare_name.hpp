// The name of a published model by its directory, for models of which nothing else tells how they are asked.
#pragma once

#include <string>
#include <string_view>

namespace lapilli {

// The last part of a path, or the repository's for a snapshot in a hub's cache (models--OWNER--NAME/snapshots/HASH):
// without the owner, in small letters, without hyphens, underscores and dots.
std::string bare_name(std::string_view directory);

}  // namespace lapilli
