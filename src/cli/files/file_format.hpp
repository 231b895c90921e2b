// The kinds of files that are translated, told by their names, and XML by its first elements.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lapilli::cli {

// In `lines`, `jsonl` and `tsv` each line is read, translated and written by itself; the others are documents, which
// are read as a whole: `text` and behind it the other kinds of src/documents, in their order.
enum class Format { lines, jsonl, tsv, text };

inline bool is_document(Format format) { return format >= Format::text; }
// False for a file of bytes that only its reader can tell (documents/kind.hpp).
bool is_text(Format format);
// By its name in --format.
std::optional<Format> format_called(std::string_view name);
const char* format_name(Format format);
// The format of a file found in a folder; nothing for other endings.
std::optional<Format> format_of_file(std::string_view name);
// True for a name that tells XML, and not its kind; the first bytes tell that.
bool is_xml(std::string_view name);
std::optional<Format> format_of_xml(std::string_view head);

}  // namespace lapilli::cli
