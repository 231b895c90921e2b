// Standard output with its errors noticed, messages, and JSON strings.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::cli {

// Writes all of it. The exit code: 0, or that of an output that cannot be written (said on stderr, except when the
// reader went away). If the program is interrupted meanwhile, what follows the line that is begun is left out.
int print(std::string_view text);

// One message on stderr; gives `code`.
int complain(int code, const std::string& message);

// With quotes. Bytes that are not valid UTF-8 are kept as they are.
std::string json_string(std::string_view text);

}  // namespace lapilli::cli
