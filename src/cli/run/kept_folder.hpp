// Where the program keeps a device's pipelines and what its self-test found.
#pragma once

#include <string>

namespace lapilli::cli {

// "": nowhere, by --no-cache or LAPILLI_NO_CACHE, or as the system names no folder for it.
std::string kept_folder(bool no_cache);

}  // namespace lapilli::cli
