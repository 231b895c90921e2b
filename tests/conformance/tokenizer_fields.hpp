// Fields of tokenizer records beyond single texts: pairs, batches, clean-up, and what Whisper's tokenizer has.
#pragma once

#include "conformance/report.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::conformance {

// "tokens": the text of each id, but for unknown ones, which the record shows as they stood in the text.
Outcome check_tokens(const Tokenizer& tokenizer, const nlohmann::json& c);
// An entry of "pairs": two texts, one row.
Outcome run_pair(const Tokenizer& tokenizer, const nlohmann::json& c);
// Entries of "pair_truncation", "pair_windows" and "windows": cut in several ways.
Outcome run_pair_truncation(const Tokenizer& tokenizer, const nlohmann::json& c);
Outcome run_pair_windows(const Tokenizer& tokenizer, const nlohmann::json& c);
Outcome run_windows(const Tokenizer& tokenizer, const nlohmann::json& c);
// "batch": padded rows, and rows cut to six ids.
Outcome run_batch(const Tokenizer& tokenizer, const nlohmann::json& c);
// An entry of "clean_up": text with and without the clean-up of spaces.
Outcome run_clean_up(const Tokenizer& tokenizer, const nlohmann::json& c);
// An entry of "prefixes": language and task of Whisper.
Outcome run_prefix(const Tokenizer& tokenizer, const nlohmann::json& c);
// An entry of "whisper_decode": timestamps in text, and segments.
Outcome run_whisper_decode(const Tokenizer& tokenizer, const nlohmann::json& c);
// "prompt_ids".
Outcome run_prompt(const Tokenizer& tokenizer, const nlohmann::json& c);
// "vocab_size", "target_vocab_size" and "timestamp_begin" of the record, where it has them.
Outcome check_sizes(const Tokenizer& tokenizer, const nlohmann::json& record);

}  // namespace lapilli::conformance
