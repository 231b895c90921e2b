// Upper and lower case of whole texts, as by Python's str.upper() and str.lower(): with mappings to several characters
// and the final sigma. Uses utf8proc (CMake option LAPILLI_UNICODE).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// ErrorCode::unsupported, naming `what` needs it, in a build without utf8proc, which leaves texts unchanged.
Status require_case_mapping(const char* what);

// `text` must be valid UTF-8.
std::string upper_case(std::string_view text);

// Lower case of `codes`, each character with the index of the one it stems from.
struct CasedCharacter {
  char32_t character = 0;
  size_t from = 0;
};
std::vector<CasedCharacter> lower_case(const std::vector<char32_t>& codes);

}  // namespace lapilli
