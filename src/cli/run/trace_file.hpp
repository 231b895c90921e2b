// The file of --trace.
#pragma once

#include <string>

namespace lapilli::cli {

// Says what stands in its way, before anything is loaded, and gives the exit code. "": none is wanted.
int check_trace(const std::string& file);

// At the end: it could not be written.
int complain_of_trace(const std::string& why);

}  // namespace lapilli::cli
