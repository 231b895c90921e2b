#include "documents/tables/told_lines.hpp"

#include <algorithm>
#include <string_view>

namespace lapilli::documents {

namespace {

constexpr size_t kNamedLines = 5;

}  // namespace

void ToldLines::add(const char* one, const char* several, size_t line) {
  auto at = std::ranges::find_if(reasons_, [&](const Reason& r) { return std::string_view(r.one) == one; });
  if (at == reasons_.end()) at = reasons_.insert(at, {one, several, {}, 0, 0});
  if (at->last == line) return;
  at->last = line;
  if (at->first.size() < kNamedLines) at->first.push_back(line);
  ++at->count;
}

std::vector<std::string> ToldLines::sentences() const {
  std::vector<std::string> all;
  for (const Reason& r : reasons_) {
    std::string text = r.count == 1 ? "line " : "lines ";
    for (size_t i = 0; i < r.first.size(); ++i) {
      const bool last = i + 1 == r.count;
      text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(r.first[i]);
    }
    if (r.count > r.first.size()) text += " and " + std::to_string(r.count - r.first.size()) + " more";
    all.push_back(text + ' ' + (r.count == 1 ? r.one : r.several) +
                  (r.count == 1 ? ", and stays as it is" : ", and stay as they are"));
  }
  return all;
}

}  // namespace lapilli::documents
