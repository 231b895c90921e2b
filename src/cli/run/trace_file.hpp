// The file of --trace.
#pragma once

#include <string>

namespace lapilli::cli {

// Reports obstacles to writing it, before anything is loaded, and gives the exit code. "": no trace is requested.
int check_trace(const std::string& file);

// Reports at the end that the file could not be written.
int complain_of_trace(const std::string& why);

}  // namespace lapilli::cli
