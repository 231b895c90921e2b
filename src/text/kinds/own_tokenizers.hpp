// Loaders of the kinds that stand on their own algorithm or on a SentencePiece model file. Errors name the file.
#pragma once

#include <memory>
#include <string>

#include "text/tokenizer.hpp"

namespace lapilli {

// A SentencePiece model alone (spiece.model): ids as in the file, nothing added.
Result<std::unique_ptr<Tokenizer>> load_sentencepiece_tokenizer(const Files& files);
// Bytes, each its value plus 3.
Result<std::unique_ptr<Tokenizer>> load_byt5_tokenizer(const Files& files);
// vocab.json and merges.txt; lower case, "@@" where a word goes on.
Result<std::unique_ptr<Tokenizer>> load_blenderbot_small_tokenizer(const Files& files);
// sentencepiece.bpe.model cuts, vocab.json gives ids; a language token comes first.
Result<std::unique_ptr<Tokenizer>> load_m2m100_tokenizer(const Files& files);
// sentencepiece.bpe.model and vocab.json.
Result<std::unique_ptr<Tokenizer>> load_speech_to_text_tokenizer(const Files& files);
// vocab-src.json, vocab-tgt.json and merges.txt: words as Moses' tokenizer makes them, then byte pair encoding.
Result<std::unique_ptr<Tokenizer>> load_fsmt_tokenizer(const Files& files);

}  // namespace lapilli
