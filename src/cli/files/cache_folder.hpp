// The folder in which the program keeps a device's pipelines and the results of its self-test.
#pragma once

#include <string>

namespace lapilli::cli {

// "": none, due to --no-cache or LAPILLI_NO_CACHE, or because the system names no such folder.
std::string cache_folder(bool no_cache);

}  // namespace lapilli::cli
