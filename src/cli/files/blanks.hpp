// Characters that show as nothing, in UTF-8. What is no UTF-8 holds none.
#pragma once

#include <string_view>

namespace lapilli::cli {

// Nothing but white space and characters without width, in any script: to readers an empty line.
bool is_blank(std::string_view text);
bool has_blanks(std::string_view text);

}  // namespace lapilli::cli
