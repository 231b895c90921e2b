#include "documents/kept/marked_parts.hpp"

#include <algorithm>
#include <iterator>

namespace lapilli::documents {

namespace {

// The next comment that says this and nothing else.
Range find_mark(std::string_view bytes, std::string_view says, size_t from) {
  for (size_t at = bytes.find("<!--", from); at != std::string_view::npos; at = bytes.find("<!--", at + 4)) {
    const size_t begin = std::min(bytes.find_first_not_of(" \t\r\n", at + 4), bytes.size());
    if (!bytes.substr(begin).starts_with(says)) continue;
    const size_t end = bytes.find_first_not_of(" \t\r\n", begin + says.size());
    if (end != std::string_view::npos && bytes.substr(end, 3) == "-->") return {at, end + 3};
  }
  return {bytes.size(), bytes.size()};
}

}  // namespace

void leave_marked_parts(std::string_view bytes, std::vector<Passage>& passages) {
  std::vector<Range> off;
  for (Range from = find_mark(bytes, "l10n:off", 0); !from.empty(); from = find_mark(bytes, "l10n:off", off.back().end))
    off.push_back({from.end, find_mark(bytes, "l10n:on", from.end).end});
  if (off.empty()) return;
  std::erase_if(passages, [&](const Passage& passage) {
    const size_t at = passage.source().begin;
    const auto behind = std::ranges::upper_bound(off, at, {}, &Range::begin);
    return behind != off.begin() && at < std::prev(behind)->end;
  });
}

}  // namespace lapilli::documents
