#include "documents/kind.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

struct KindRow {
  Kind kind;
  std::string_view name, endings;  // endings: between blanks
};
constexpr KindRow kKindRows[] = {
#define LAPILLI_KIND(name, endings) {Kind::name, #name, endings},
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

const char* kind_name(Kind kind) { return kKindRows[static_cast<size_t>(kind)].name.data(); }

std::span<const Kind> all_kinds() { return kAllKinds; }

}  // namespace lapilli::documents
