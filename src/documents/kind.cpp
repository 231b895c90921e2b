#include "documents/kind.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

struct KindRow {
  Kind kind;
  std::string_view name, endings, types;  // the last two: between blanks
};
constexpr KindRow kKindRows[] = {
#define LAPILLI_KIND(name, endings, types) {Kind::name, #name, endings, types},
#include "documents/kinds.inc"
#undef LAPILLI_KIND
};

constexpr auto kAllKinds = [] {
  std::array<Kind, std::size(kKindRows)> all{};
  std::transform(std::begin(kKindRows), std::end(kKindRows), all.begin(), [](const KindRow& r) { return r.kind; });
  return all;
}();

std::optional<Kind> kind_where(const auto& matches) {
  const auto at = std::find_if(std::begin(kKindRows), std::end(kKindRows), matches);
  return at == std::end(kKindRows) ? std::nullopt : std::optional(at->kind);
}

bool has_ending(const KindRow& row, const std::string& ending) {
  return (" " + std::string(row.endings) + " ").find(" " + ending + " ") != std::string::npos;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    words.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

const KindRow& row_of(Kind kind) { return kKindRows[static_cast<size_t>(kind)]; }

// res/values-de/plurals.xml, strings.xml: other XML says nothing by its name.
bool is_android_name(std::string_view file_name) {
  const size_t name = file_name.find_last_of("/\\") + 1;
  if (file_name.substr(name) == "strings.xml") return true;
  const std::string_view folder = file_name.substr(0, name == 0 ? 0 : name - 1);
  const std::string_view last = folder.substr(folder.find_last_of("/\\") + 1);
  return (last == "values" || last.starts_with("values-")) && file_name.ends_with(".xml");
}

}  // namespace

std::optional<Kind> kind_called(std::string_view name) {
  return kind_where([&](const KindRow& row) { return row.name == name; });
}

std::optional<Kind> kind_of_name(std::string_view file_name) {
  if (is_android_name(file_name)) return Kind::android;
  const size_t dot = file_name.find_last_of("./\\");
  if (dot == std::string_view::npos || file_name[dot] != '.') return std::nullopt;
  const std::string ending = ascii_lower(file_name.substr(dot + 1));
  if (ending.empty() || ending.find(' ') != std::string::npos) return std::nullopt;
  return kind_where([&](const KindRow& row) { return has_ending(row, ending); });
}

const char* kind_name(Kind kind) { return row_of(kind).name.data(); }

std::vector<std::string_view> kind_endings(Kind kind) { return words_of(row_of(kind).endings); }

// Other kinds of texts say their encoding themselves, or have none of their own.
std::string media_type(Kind kind, std::string_view ending) {
  const auto endings = kind_endings(kind), types = words_of(row_of(kind).types);
  const auto at = static_cast<size_t>(std::ranges::find(endings, ascii_lower(ending)) - endings.begin());
  const std::string type(types[std::min(at == endings.size() ? 0 : at, types.size() - 1)]);
  return type.starts_with("text/") && !kind_is_of_bytes(kind) ? type + "; charset=utf-8" : type;
}

std::span<const Kind> all_kinds() { return kAllKinds; }

}  // namespace lapilli::documents
