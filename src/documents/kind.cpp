#include "documents/kind.hpp"

#include <algorithm>
#include <array>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

struct KindName {
  Kind kind;
  const char* name;
};
constexpr std::array kKindNames = {
    KindName{Kind::text, "text"}, KindName{Kind::markdown, "markdown"}, KindName{Kind::html, "html"},
    KindName{Kind::srt, "srt"},   KindName{Kind::vtt, "vtt"},           KindName{Kind::xliff, "xliff"},
    KindName{Kind::ts, "ts"},     KindName{Kind::ttml, "ttml"},         KindName{Kind::docx, "docx"},
    KindName{Kind::pptx, "pptx"}, KindName{Kind::xlsx, "xlsx"},         KindName{Kind::odt, "odt"},
    KindName{Kind::odp, "odp"},   KindName{Kind::ods, "ods"},           KindName{Kind::epub, "epub"}};
constexpr std::array kExtensions = {
    KindName{Kind::text, "txt"},          KindName{Kind::text, "text"}, KindName{Kind::markdown, "md"},
    KindName{Kind::markdown, "markdown"}, KindName{Kind::html, "html"}, KindName{Kind::html, "htm"},
    KindName{Kind::html, "xhtml"},        KindName{Kind::srt, "srt"},   KindName{Kind::vtt, "vtt"},
    KindName{Kind::xliff, "xliff"},       KindName{Kind::xliff, "xlf"}, KindName{Kind::ts, "ts"},
    KindName{Kind::ttml, "ttml"},         KindName{Kind::docx, "docx"}, KindName{Kind::docx, "docm"},
    KindName{Kind::pptx, "pptx"},         KindName{Kind::pptx, "pptm"}, KindName{Kind::xlsx, "xlsx"},
    KindName{Kind::xlsx, "xlsm"},         KindName{Kind::odt, "odt"},   KindName{Kind::odp, "odp"},
    KindName{Kind::ods, "ods"},           KindName{Kind::epub, "epub"}};

constexpr auto kAllKinds = [] {
  std::array<Kind, kKindNames.size()> all{};
  std::transform(kKindNames.begin(), kKindNames.end(), all.begin(), [](const KindName& n) { return n.kind; });
  return all;
}();

std::optional<Kind> find_kind(const auto& names, std::string_view name) {
  const auto at = std::find_if(names.begin(), names.end(), [&](const KindName& n) { return n.name == name; });
  return at == names.end() ? std::nullopt : std::optional(at->kind);
}

}  // namespace

std::optional<Kind> kind_called(std::string_view name) { return find_kind(kKindNames, name); }

std::optional<Kind> kind_of_name(std::string_view file_name) {
  const size_t dot = file_name.find_last_of("./\\");
  if (dot == std::string_view::npos || file_name[dot] != '.') return std::nullopt;
  return find_kind(kExtensions, ascii_lower(file_name.substr(dot + 1)));
}

const char* kind_name(Kind kind) { return kKindNames[static_cast<size_t>(kind)].name; }

std::span<const Kind> all_kinds() { return kAllKinds; }

}  // namespace lapilli::documents
