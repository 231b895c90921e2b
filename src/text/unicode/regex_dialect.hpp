// Translates patterns of tokenizer.json files, in Oniguruma's Ruby syntax, to PCRE2.
#pragma once

#include <string>

#include "base/result.hpp"

namespace lapilli {

// The same language for PCRE2 with UTF, UCP and MULTILINE. Errors: patterns that it cannot express (intersections of
// classes). `scripts_only`: \p{Han} means the script, not the extended script; PCRE2 then refuses names other than
// scripts.
Result<std::string> translate_pattern(const std::string& pattern, bool scripts_only);

}  // namespace lapilli
