// Invisible characters in UTF-8. Invalid UTF-8 contains none.
#pragma once

#include <string_view>

namespace lapilli::cli {

// True if the text is only white space and zero-width characters of any script: readers see an empty line.
bool is_blank(std::string_view text);
bool has_blanks(std::string_view text);

}  // namespace lapilli::cli
