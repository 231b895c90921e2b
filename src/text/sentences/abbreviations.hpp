// Abbreviations whose full stop does not end a sentence, and words that tell that a new one begins.
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

// `word` is what stands before the full stop, further full stops included ("z.B"), of any case. `language` as of
// base_language(); empty: the tables of all languages together.
Abbreviation find_abbreviation(std::string_view language, std::string_view word);

// True if `word`, as spelled, hardly follows a name or an abbreviation within a sentence: "The", "Il".
bool begins_sentence(std::string_view language, std::string_view word);

// True if this language writes ordinal numbers with a full stop: Roman ones ("Ludwig XIV."); for `arabic` also those
// before capital letters ("am 3. Oktober").
bool dotted_ordinals(std::string_view language, bool arabic);

// The language whose small words are the most frequent in (the beginning of) `text`; "" if that is not clear.
std::string guess_language(std::string_view text);

// "fr" of "fr", "fr-CA", "fr_XX", "fra_Latn", "FR"; "" of "".
std::string base_language(std::string_view code);

}  // namespace lapilli
