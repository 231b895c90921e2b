// The kinds of documents and their names. A kind is a row in kinds.inc and a row in kinds.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli::documents {

enum class Kind {
#define LAPILLI_KIND(name, endings, types) name,
#include "documents/kinds.inc"
#undef LAPILLI_KIND
};

// By the extension, in any case; none for others.
std::optional<Kind> kind_of_name(std::string_view file_name);
// By the beginning of XML whose name says nothing: its first elements tell texts of Android, XLIFF, TTML and Qt's.
std::optional<Kind> kind_of_xml(std::string_view head);
// By its name: "text", "markdown", ...
std::optional<Kind> kind_called(std::string_view name);
const char* kind_name(Kind kind);
// Endings of its files' names, without dots; none where a name says it in another way.
std::vector<std::string_view> kind_endings(Kind kind);
// The media type of a file of the kind with this ending, as Content-Type names it.
std::string media_type(Kind kind, std::string_view ending);
// All, in the order of their values.
std::span<const Kind> all_kinds();
// True if a file of the kind is no text in UTF-8, or may be none: an archive, or a text in another encoding. Its reader
// says what else it is.
bool kind_is_of_bytes(Kind kind);
// False in a build without the library that this kind needs; Document::parse() then fails and names the package.
bool kind_available(Kind kind);

}  // namespace lapilli::documents
