// What a character is to the sentence splitter: the classes of Unicode's sentence segmentation (UAX #29), a little
// finer.
#pragma once

#include <cstdint>

namespace lapilli {

enum class SentenceClass : uint8_t {
  other,
  extend,   // combining marks and format characters: belong to what stands before them
  newline,  // CR, LF, NEL, line and paragraph separators
  space,
  lower,
  upper,
  letter,      // without case: ideographs, kana, Arabic, Hebrew, Indic scripts, ...
  digit,       // also the separators that Arabic numbers hold
  dot,         // full stops that abbreviations and numbers use, too
  ellipsis,    // of Unicode's "other": ends a sentence as a dot does
  terminator,  // ends a sentence if white space follows: ! ?
  full,        // ends a sentence, white space or not: those of scripts that write none
  opening,     // brackets and quotation marks that only open
  closing,     // brackets that only close
  quote,       // quotation marks that do either, depending on the language
  continuing,  // comma, colon, dash: what stands before them was no end
};

// With utf8proc for all of Unicode; without it (LAPILLI_HAVE_UTF8PROC), case and letters are known for Latin, Greek,
// Cyrillic and Armenian, and what is above counts as caseless letters. Punctuation is the same in both.
SentenceClass sentence_class(uint32_t code);

// True if words of this character's script are written without white space between them (Han, kana, Thai, ...).
bool unspaced_script(uint32_t code);

}  // namespace lapilli
