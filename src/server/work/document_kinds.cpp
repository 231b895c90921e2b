#include "server/work/document_kinds.hpp"

#include <algorithm>

namespace lapilli::server {

namespace {

#define LAPILLI_OFFICE "application/vnd.openxmlformats-officedocument."
#define LAPILLI_OPEN "application/vnd.oasis.opendocument."
constexpr DocumentKind kKinds[] = {{".txt", "text", "text/plain; charset=utf-8"},
                                   {".md", "markdown", "text/markdown; charset=utf-8"},
                                   {".html", "html", "text/html; charset=utf-8"},
                                   {".htm", "html", "text/html; charset=utf-8"},
                                   {".srt", "srt", "application/x-subrip"},
                                   {".vtt", "vtt", "text/vtt; charset=utf-8"},
                                   {".xliff", "xliff", "application/xliff+xml"},
                                   {".xlf", "xliff", "application/xliff+xml"},
                                   {".ttml", "ttml", "application/ttml+xml"},
                                   {".epub", "epub", "application/epub+zip"},
                                   {".docx", "docx", LAPILLI_OFFICE "wordprocessingml.document"},
                                   {".pptx", "pptx", LAPILLI_OFFICE "presentationml.presentation"},
                                   {".xlsx", "xlsx", LAPILLI_OFFICE "spreadsheetml.sheet"},
                                   {".odt", "odt", LAPILLI_OPEN "text"},
                                   {".odp", "odp", LAPILLI_OPEN "presentation"},
                                   {".ods", "ods", LAPILLI_OPEN "spreadsheet"},
                                   {".csv", "csv", "text/csv; charset=utf-8"},
                                   {".po", "po", "text/x-gettext-translation"},
                                   {".pot", "po", "text/x-gettext-translation-template"},
                                   {".json", "json", "application/json"},
                                   {".arb", "json", "application/json"},
                                   {".xcstrings", "xcstrings", "application/json"},
                                   {".yaml", "yaml", "application/yaml"},
                                   {".yml", "yaml", "application/yaml"},
                                   {".properties", "properties", "text/x-java-properties"},
                                   {".strings", "strings", "text/plain"},
                                   {".stringsdict", "stringsdict", "application/x-plist"},
                                   {".ass", "ass", "text/x-ssa; charset=utf-8"},
                                   {".ssa", "ass", "text/x-ssa; charset=utf-8"},
                                   {".sbv", "sbv", "text/plain; charset=utf-8"},
                                   {".lrc", "lrc", "text/plain; charset=utf-8"},
                                   {".tex", "tex", "application/x-tex"},
                                   {".rst", "rst", "text/x-rst; charset=utf-8"},
                                   {".adoc", "asciidoc", "text/asciidoc; charset=utf-8"}};
#undef LAPILLI_OFFICE
#undef LAPILLI_OPEN

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ends_like(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, lower, lower);
}

}  // namespace

std::span<const DocumentKind> document_kinds() { return kKinds; }

std::string document_endings() {
  std::string all;
  for (const DocumentKind& kind : kKinds) all += (all.empty() ? "" : ", ") + std::string(kind.ending);
  return all;
}

const DocumentKind* document_kind_of(std::string_view name) {
  const auto found = std::ranges::find_if(kKinds, [&](const DocumentKind& k) { return ends_like(name, k.ending); });
  return found == std::end(kKinds) ? nullptr : &*found;
}

std::string translated_name(const std::string& name, const DocumentKind& kind, const std::string& to) {
  const std::string plain = name.substr(name.find_last_of("/\\") + 1);
  return plain.substr(0, plain.size() - std::string_view(kind.ending).size()) + "_" + to + kind.ending;
}

}  // namespace lapilli::server
