#include "cli/files/unread_records.hpp"

#include <algorithm>
#include <cstddef>

#include "cli/files/blanks.hpp"
#include "cli/files/json_object.hpp"

namespace lapilli::cli {

namespace {

constexpr size_t kLooked = 8;  // lines that suffice

std::vector<std::string> first_texts(const std::vector<Line>& lines) {
  std::vector<std::string> texts;
  for (const Line& line : lines) {
    if (texts.size() == kLooked) break;
    if (!is_blank(line.text)) texts.push_back(line.text);
  }
  return texts;
}

size_t tabs_in(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\t')); }

// A single line may have a tab for other reasons.
bool are_columns(const std::vector<std::string>& texts) {
  const size_t tabs = tabs_in(texts.front());
  return texts.size() > 1 && tabs > 0 &&
         std::all_of(texts.begin(), texts.end(), [&](const std::string& text) { return tabs_in(text) == tabs; });
}

}  // namespace

std::string unread_records(const std::vector<Line>& lines) {
  const std::vector<std::string> texts = first_texts(lines);
  if (texts.empty()) return "";
  const bool objects =
      std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return JsonObject(text).error().empty(); });
  if (objects)
    return "the lines look like JSON, and are read as plain text; --format jsonl reads the member \"text\" of each, "
           "--field NAME another one, and --format lines says that it is meant";
  if (are_columns(texts))
    return "the lines look like a table, and are read as plain text; --column N reads one of its columns, and "
           "--format lines says that it is meant";
  return "";
}

}  // namespace lapilli::cli
