// Decoders that were trained to translate: the prompt of each, as its card prescribes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/generation_config.hpp"
#include "generate/chat/chat_template.hpp"

namespace lapilli {

// The text of a prompt around a text.
struct TextFrame {
  std::string before, behind;
  bool add_special = false;  // the tokenizer adds its own tokens; templates write them
  bool first_line = false;   // the answer ends with its first line
};

// A row of the table.
struct Translator;

// By the name of the model's directory and what its template has; null: none.
const Translator* find_translator(std::string_view directory, const ChatTemplate* chat);

struct TranslatorPrompt {
  TextFrame frame;
  GenerationConfig options;  // no sampling, and the beams of the card
};
// Refuses languages that the row does not have, by name, and a model that lacks the template that the row needs.
Result<TranslatorPrompt> translator_prompt(const Translator& translator, const ChatTemplate* chat,
                                           const std::string& from, const std::string& to);
// Its languages; empty: what its template says.
std::vector<std::string> translator_languages(const Translator& translator);

// The names of the rows, for messages.
std::string translator_names();

}  // namespace lapilli
