// The texts of apps, whatever file holds them: placeholders, HTML and ICU's syntax stay, words become passages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "documents/apps/notes.hpp"
#include "documents/kinds.hpp"
#include "documents/written_text.hpp"

namespace lapilli::documents {

// Flags of Passage::escapes. The kinds' own begin at kFirstOwn.
enum MessageEscapes : uint32_t {
  kEscapeHtml = 1,      // < and > are references, and so is & unless kPlainAmpersand
  kPlainAmpersand = 2,  // the text has & that begins no reference
  kEscapeIcu = 4,       // braces are quoted, and no apostrophe stands before a brace
  kEscapeHash = 8,      // # is quoted: in an ICU plural
  kDoubledQuotes = 16,  // each apostrophe is doubled
  kFirstOwn = 256,
};

struct MessageRules {
  bool html = true;
  bool dollars = false;  // Chrome's $NAME$
  bool java = false;     // MessageFormat: with {0} in a text, apostrophes are doubled
  bool xml = false;      // the kind's encode writes references for < > & in any case
  uint32_t escapes = 0;  // the kind's own
  std::string_view target_language;
};

// Reads texts and appends their passages.
class Messages {
 public:
  Messages(std::string_view bytes, Found& found) : notes(bytes), found_(found) {}
  void add(const WrittenText& text, const MessageRules& rules);

  Notes notes;

 private:
  void add_icu(const WrittenText& text, const MessageRules& rules);
  Found& found_;
};

// The escapes of ICU's syntax that a message's words need.
uint32_t icu_escapes(std::string_view message, bool java);
// The words with the escapes that the passage's text asks for; the kind's own escapes come after these.
std::string message_words(std::string_view text, Range range, uint32_t escapes);

}  // namespace lapilli::documents
