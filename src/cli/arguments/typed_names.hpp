// Maps the library's names of options to those that were typed.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

struct TypedName {
  bool typed;  // otherwise the message is about another source, such as the model's files
  std::string library, program;
};

// Rewrites a message of the library in the program's words: the name that it begins with, and advice anywhere in it.
std::string named_as_typed(const std::vector<TypedName>& names, const std::vector<TypedName>& advice,
                           std::string message);

}  // namespace lapilli::cli
