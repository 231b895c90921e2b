#include "cli/arguments/typed_names.hpp"

#include <algorithm>

namespace lapilli::cli {

std::string named_as_typed(const std::vector<TypedName>& names, const std::vector<TypedName>& advice,
                           std::string message) {
  const auto name = std::find_if(names.begin(), names.end(),
                                 [&](const TypedName& n) { return n.typed && message.starts_with(n.library); });
  if (name != names.end()) message.replace(0, name->library.size(), name->program);
  for (const TypedName& a : advice) {
    const size_t at = a.typed ? message.find(a.library) : std::string::npos;
    if (at != std::string::npos) message.replace(at, a.library.size(), a.program);
  }
  return message;
}

}  // namespace lapilli::cli
