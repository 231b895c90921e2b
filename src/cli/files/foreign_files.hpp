// Files that hold no text which is read here: which kind they are of, and what serves them.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::cli {

struct ForeignKind {
  std::string_view what, plural;  // "a picture", "pictures"
  std::string_view advice;
  bool is_text = false;  // of a kind that people could read, and that is taken for text if somebody says so
};

// Bytes of a file's beginning that tell its kind.
constexpr size_t kTellingBytes = 8192;

// By its first bytes alone: "" and most texts are of no foreign kind. Null: none is known.
const ForeignKind* foreign_content(std::string_view head);
// By its name alone, whatever it holds: a picture, a table.
const ForeignKind* foreign_name(std::string_view name);
// Of a file of that name that begins so. A name tells kinds of text alone, for a text may have any name. `as_text`:
// somebody says that it is text (--format), so only bytes count that no text begins with.
const ForeignKind* foreign_file(std::string_view name, std::string_view head, bool as_text);

// "it is a picture; lapilli caption says what it shows"
std::string told(const ForeignKind& kind);

// The first bytes of a file; "" of one that cannot be read.
std::string head_of(const std::string& file);

}  // namespace lapilli::cli
