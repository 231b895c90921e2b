// The entries of a gettext catalogue (.po, .pot) with the places of their strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/characters.hpp"

namespace lapilli::documents {

// A string that may go over several lines, each in quotes.
struct PoString {
  Range bytes;                // from its first quote to its last
  std::vector<Range> pieces;  // what is between the quotes, a range for each line
  [[nodiscard]] bool empty() const;
  // With its escapes, in one piece.
  [[nodiscard]] std::string raw(std::string_view document) const;
};

struct PoForm {
  size_t number = 0;
  PoString text;
  size_t end = 0;  // of its last line, without the line end
};

struct PoEntry {
  size_t line = 0;                      // of its msgid, from 1
  Range flags;                          // what stands behind "#," on its line; empty range: there are none
  size_t flags_at = 0;                  // where they stand, or would: the beginning of a line
  bool fuzzy = false, percent = false;  // percent: a flag says that % begins a placeholder
  bool numbered = false;                // ... and may have a number: %1$s
  bool kept = false;                    // a comment says that it stays
  std::optional<PoString> context, plural;
  PoString id;
  bool has_plain = false;  // msgstr without a number
  std::vector<PoForm> forms;
  [[nodiscard]] bool is_header() const { return !context && id.empty() && !plural; }
  [[nodiscard]] bool has_translation() const;
};

struct PoFile {
  std::vector<PoEntry> entries;      // obsolete ones are left out
  std::vector<size_t> broken_lines;  // of entries that are left out, too, for they cannot be read
  bool wide = false;                 // lines are not wrapped
  std::string line_end = "\n";
};

PoFile read_po(std::string_view bytes, size_t begin);

// The value of a field of a header, "Language", in its msgstr: its bytes up to the \n. Nothing: there is none.
std::optional<Range> find_po_field(std::string_view bytes, const PoEntry& header, std::string_view name);

// The meaning of an escape at `at`, which has `length` bytes: a line end, a tab, a sign. Others are given as they
// stand.
std::string po_escape(std::string_view text, size_t at, size_t& length);

// An error that names the charset of a catalogue, and the remedy.
std::string po_charset_advice(std::string_view charset);

}  // namespace lapilli::documents
