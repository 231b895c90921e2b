// Character classes of the sentence splitter: those of Unicode's sentence segmentation (UAX #29), slightly finer.
#pragma once

#include <cstdint>

namespace lapilli {

enum class SentenceClass : uint8_t {
  other,
  extend,   // combining marks and format characters: belong to the character before them
  newline,  // CR, LF, NEL, line and paragraph separators
  space,
  lower,
  upper,
  letter,      // caseless: ideographs, kana, Arabic, Hebrew, Indic scripts, ...
  digit,       // also separators within Arabic numbers
  dot,         // full stops, also used in abbreviations and numbers
  ellipsis,    // "other" in Unicode: ends a sentence like a dot
  terminator,  // ends a sentence if white space follows: ! ?
  full,        // ends a sentence, with or without white space: in scripts that have none
  opening,     // brackets and quotation marks that only open
  closing,     // brackets that only close
  quote,       // quotation marks that open or close, depending on the language
  continuing,  // comma, colon, dash: the sentence does not end before them
};

// Covers all of Unicode with utf8proc; without it (LAPILLI_HAVE_UTF8PROC), case and letters are known for Latin, Greek,
// Cyrillic and Armenian, and higher code points count as caseless letters. Punctuation is the same in both.
SentenceClass sentence_class(uint32_t code);

// True if this character's script puts no white space between words (Han, kana, Thai, ...).
bool unspaced_script(uint32_t code);

}  // namespace lapilli
