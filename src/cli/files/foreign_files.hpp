// Files without text that is read here: their kinds, and which command or program serves them.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::cli {

struct ForeignKind {
  std::string_view what, plural;  // "a picture", "pictures"
  std::string_view advice;
  bool is_text = false;  // readable by people, and taken for text on request
};

// Bytes at a file's beginning that suffice to tell its kind.
constexpr size_t kTellingBytes = 8192;

// The kind by the first bytes alone; null if it is unknown, which includes "" and most texts.
const ForeignKind* foreign_content(std::string_view head);
// The kind by the name alone, whatever the content: a picture, a table.
const ForeignKind* foreign_name(std::string_view name);
// The kind of a file by its name and first bytes. A name alone tells only kinds of text, for a text may have any name.
// `as_text`: the user declared it to be text (--format), so only bytes that no text begins with count.
const ForeignKind* foreign_file(std::string_view name, std::string_view head, bool as_text);

// "it is a picture; lapilli caption says what it shows"
std::string refusal_of(const ForeignKind& kind);

// The first bytes of a file; "" if it cannot be read.
std::string head_of(const std::string& file);

}  // namespace lapilli::cli
