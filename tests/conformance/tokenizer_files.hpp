// Checks of tokenizer records that go beyond ids and texts: languages, byte ranges, the model file behind a tokenizer.
#pragma once

#include <string>

#include "conformance/report.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::conformance {

// An entry of "languages": a text on the source and on the target side, and the target language's token.
Outcome run_language(const Tokenizer& tokenizer, const nlohmann::json& c);

// Byte ranges lie within the text and do not go back; white space apart they leave no byte out, unless the tokenizer
// drops characters altogether.
Outcome check_ranges(const Tokenizer& tokenizer, const std::string& text);

// Runs the text as the SentencePiece library does, with the tokenizer's own model file, in the tokenizer's ids.
Outcome run_model_file(const Tokenizer& tokenizer, const Tokenizer& model_file, const nlohmann::json& c);

}  // namespace lapilli::conformance
