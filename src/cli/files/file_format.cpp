#include "cli/files/file_format.hpp"

#include "cli/files/output_names.hpp"
#include "documents/kind.hpp"

namespace lapilli::cli {

namespace {

using documents::Kind;

constexpr const char* kLineFormats[] = {"lines", "jsonl", "tsv"};
constexpr int kFirstKind = static_cast<int>(Format::text) - static_cast<int>(Kind::text);

Format format_of(Kind kind) { return static_cast<Format>(static_cast<int>(kind) + kFirstKind); }
Kind kind_of(Format format) { return static_cast<Kind>(static_cast<int>(format) - kFirstKind); }

std::optional<Format> format_of(std::optional<Kind> kind) {
  return kind ? std::optional(format_of(*kind)) : std::nullopt;
}

std::string small_ending(std::string_view name) {
  std::string ending(extension(name));
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending;
}

}  // namespace

bool is_text(Format format) { return !is_document(format) || !documents::kind_is_of_bytes(kind_of(format)); }

std::optional<Format> format_called(std::string_view name) {
  for (size_t i = 0; i < std::size(kLineFormats); ++i) {
    if (name == kLineFormats[i]) return static_cast<Format>(i);
  }
  return format_of(documents::kind_called(name));
}

const char* format_name(Format format) {
  return is_document(format) ? documents::kind_name(kind_of(format)) : kLineFormats[static_cast<size_t>(format)];
}

std::optional<Format> format_of_file(std::string_view name) {
  const std::string ending = small_ending(name);
  if (ending == ".jsonl" || ending == ".ndjson") return Format::jsonl;
  if (ending == ".tsv") return Format::tsv;
  return format_of(documents::kind_of_name(name));
}

bool is_xml(std::string_view name) { return small_ending(name) == ".xml"; }

std::optional<Format> format_of_xml(std::string_view head) { return format_of(documents::kind_of_xml(head)); }

}  // namespace lapilli::cli
