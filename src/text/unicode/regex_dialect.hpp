// Patterns of tokenizer.json files, written for Oniguruma in Ruby's syntax, in PCRE2's words.
#pragma once

#include <string>

#include "base/result.hpp"

namespace lapilli {

// The same language for PCRE2 with UTF, UCP and MULTILINE. Errors: what cannot be said there (intersections of
// classes). `scripts_only`: \p{Han} means the script, not the extended script; PCRE2 then refuses names that are no
// scripts.
Result<std::string> translate_pattern(const std::string& pattern, bool scripts_only);

}  // namespace lapilli
