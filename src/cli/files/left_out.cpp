#include "cli/files/left_out.hpp"

#include <algorithm>

#include "base/counts.hpp"

namespace lapilli::cli {

void LeftOut::add(const ForeignKind& kind, std::string_view name) {
  // Kinds with the same plural form one group for the reader.
  auto group =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.kind->plural == kind.plural; });
  if (group == groups_.end()) group = groups_.insert(groups_.end(), {&kind, std::string(name), 0});
  ++group->count;
}

std::string LeftOut::text() const {
  std::string text;
  for (const Group& group : groups_) {
    if (!text.empty()) text += "; ";
    text += group.count == 1 ? group.first + ", " + std::string(group.kind->what)
                             : grouped(group.count) + " " + std::string(group.kind->plural);
  }
  return text;
}

}  // namespace lapilli::cli
