// Translations of texts and documents, whichever protocol asks: the model or the two models for the languages, texts
// line by line as the program takes them, documents with their markup.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/work/desk.hpp"

namespace lapilli::server {

struct TranslationRequest {
  std::vector<std::string> texts;    // UTF-8
  std::string from, to;              // any usual codes; `from` "" or "auto": detected for each text
  std::string kind;                  // "": plain text; a kind of document: "html", "markdown", "srt", "vtt", "text"
  uint32_t alternatives = 0;         // of each text, beside its translation
  std::optional<bool> split;         // sentence by sentence, or each line as a whole; empty: as the program does
  bool may_take_long = false;        // no deadline of requests
  std::shared_ptr<Account> account;  // null: that of the exchange
  // Told the part that is done, from 0 to 1, of a request of one text; quick, on the pump's thread. Optional.
  std::function<void(double)> on_progress;
  bool is_file = false;  // a document of any size, whose writing may take seconds
};

struct TranslatedText {
  std::string text;
  std::vector<std::string> alternatives;  // as many as differ
  std::string from;                       // a short code
  int confidence = 100;                   // of a detected language
  std::string between;                    // the language between two models; "": one model did it
};

struct Translated {
  std::vector<TranslatedText> texts;  // one for each, if all is well
  int status = 200;
  std::string error;
  std::string parameter;  // "source", "target" or "q": the one at fault; "" if none
};

// Calls `then` once, on a thread of a pool. Without an exchange nobody can leave.
void translate(Desk& desk, const std::shared_ptr<Exchange>& exchange, TranslationRequest request,
               std::function<void(Translated)> then);

// Short codes of all languages that the models translate from or to, sorted.
std::vector<std::string> known_languages(const std::vector<ModelFacts>& models);
// Short codes of the languages into which they translate from this one, sorted, through another one as well.
std::vector<std::string> targets_from(const std::vector<ModelFacts>& models, const std::string& from);

// Options for a translation with this many others beside it, at least 1. There are more beams than usual only where so
// many sequences are asked.
void ask_for_alternatives(Options& options, uint32_t alternatives);

// Number of code points.
uint64_t count_characters(std::string_view text);

}  // namespace lapilli::server
