// Lines that look like records (JSON lines, a table with tabs) where they are read as plain text.
#pragma once

#include <string>
#include <vector>

#include "cli/files/line_reader.hpp"

namespace lapilli::cli {

// The note on the first lines of an input: that they look like records, and how these are read. "": they do not.
std::string unread_records(const std::vector<Line>& lines);

}  // namespace lapilli::cli
