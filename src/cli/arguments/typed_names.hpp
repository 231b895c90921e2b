// What the library calls an option, as it was typed.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

struct TypedName {
  bool typed;  // else the message means what stands elsewhere, such as in the model's files
  std::string library, program;
};

// A message of the library with the program's words: of names the one that it begins with, of advice what it says
// anywhere.
std::string named_as_typed(const std::vector<TypedName>& names, const std::vector<TypedName>& advice,
                           std::string message);

}  // namespace lapilli::cli
