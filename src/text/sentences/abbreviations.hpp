// Abbreviations whose full stop does not end a sentence, and words that indicate a new one.
#pragma once

#include <string>
#include <string_view>

namespace lapilli {

enum class Abbreviation {
  none,
  always,         // a name or a noun follows: "Dr."
  before_number,  // "Nr. 5", but "Nr. Die"
  maybe,          // ends a sentence only if a word follows that begins one: "Acme Inc. The"
};

// `word` is the text before the full stop, including earlier full stops ("z.B"), in any case. `language` as from
// base_language(); empty: all languages' tables together.
Abbreviation find_abbreviation(std::string_view language, std::string_view word);

// True if `word`, as spelled, rarely follows a name or an abbreviation within a sentence: "The", "Il".
bool begins_sentence(std::string_view language, std::string_view word);

// True if the language writes ordinal numbers with a full stop: Roman ones ("Ludwig XIV."); with `arabic` also Arabic
// ones before capital letters ("am 3. Oktober").
bool dotted_ordinals(std::string_view language, bool arabic);

// The language whose function words are the most frequent in (the beginning of) `text`; "" if that is not clear.
std::string guess_language(std::string_view text);

// "fr" for "fr", "fr-CA", "fr_XX", "fra_Latn", "FR"; "" for "".
std::string base_language(std::string_view code);

}  // namespace lapilli
