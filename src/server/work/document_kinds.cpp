#include "server/work/document_kinds.hpp"

#include <algorithm>

namespace lapilli::server {

namespace {

constexpr DocumentKind kKinds[] = {
    {".txt", "text", "text/plain; charset=utf-8"}, {".md", "markdown", "text/markdown; charset=utf-8"},
    {".html", "html", "text/html; charset=utf-8"}, {".htm", "html", "text/html; charset=utf-8"},
    {".srt", "srt", "application/x-subrip"},       {".vtt", "vtt", "text/vtt; charset=utf-8"}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ends_like(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  return std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, lower, lower);
}

}  // namespace

std::span<const DocumentKind> document_kinds() { return kKinds; }

const DocumentKind* document_kind_of(std::string_view name) {
  const auto found = std::ranges::find_if(kKinds, [&](const DocumentKind& k) { return ends_like(name, k.ending); });
  return found == std::end(kKinds) ? nullptr : &*found;
}

std::string translated_name(const std::string& name, const DocumentKind& kind, const std::string& to) {
  const std::string plain = name.substr(name.find_last_of("/\\") + 1);
  return plain.substr(0, plain.size() - std::string_view(kind.ending).size()) + "_" + to + kind.ending;
}

}  // namespace lapilli::server
