// Upper and lower case of whole texts, as Python's str.upper() and str.lower() give them: with mappings to several
// characters and the final sigma. From utf8proc (CMake option LAPILLI_UNICODE).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// ErrorCode::unsupported, naming what needs it, in a build without utf8proc; then texts stay as they are.
Status require_case_mapping(const char* what);

// `text` must be valid UTF-8.
std::string upper_case(std::string_view text);

// `codes` in lower case, each with the index of the character that it stems from.
struct CasedCharacter {
  char32_t character = 0;
  size_t from = 0;
};
std::vector<CasedCharacter> lower_case(const std::vector<char32_t>& codes);

}  // namespace lapilli
