#include "cli/files/file_format.hpp"

#include "cli/files/output_names.hpp"

namespace lapilli::cli {

namespace {

constexpr const char* kFormatNames[] = {"lines", "jsonl", "tsv", "text", "markdown", "html", "srt", "vtt"};

struct KnownEnding {
  std::string_view ending;
  Format format;
};
constexpr KnownEnding kKnownEndings[] = {
    {"txt", Format::text},  {"text", Format::text},   {"md", Format::markdown},  {"markdown", Format::markdown},
    {"html", Format::html}, {"htm", Format::html},    {"xhtml", Format::html},   {"srt", Format::srt},
    {"vtt", Format::vtt},   {"jsonl", Format::jsonl}, {"ndjson", Format::jsonl}, {"tsv", Format::tsv},
};

}  // namespace

std::optional<Format> format_called(std::string_view name) {
  for (size_t i = 0; i < std::size(kFormatNames); ++i) {
    if (name == kFormatNames[i]) return static_cast<Format>(i);
  }
  return {};
}

const char* format_name(Format format) { return kFormatNames[static_cast<size_t>(format)]; }

std::optional<Format> format_of_file(std::string_view name) {
  std::string ending(extension(name));
  if (!ending.empty()) ending.erase(0, 1);
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const KnownEnding& known : kKnownEndings) {
    if (ending == known.ending) return known.format;
  }
  return {};
}

}  // namespace lapilli::cli
