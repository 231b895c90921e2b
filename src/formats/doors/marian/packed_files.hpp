// The files of the registry of Mozilla's models, which are packed by gzip.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"

namespace lapilli::doors::marian {

// A directory whose files may be packed: "NAME.gz" counts as NAME where there is no such file, and is unpacked when it
// is opened.
Files unpacked(const Files& directory);
// Names of the files that such a directory on disk has; sorted.
std::vector<std::string> unpacked_names(const std::string& directory);
// The first bytes of a file of it, at most `count`; a packed one is unpacked no further. Empty if there is none.
Result<std::string> unpacked_start(const Files& directory, const std::string& name, size_t count);
// A file's name without ".gz", and with it.
std::string unpacked_name(const std::string& name);
std::string packed_name(const std::string& name);

}  // namespace lapilli::doors::marian
