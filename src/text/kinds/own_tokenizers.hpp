// Loaders of kinds with an algorithm of their own or a SentencePiece model file. Errors name the file.
#pragma once

#include <memory>

#include "text/tokenizer.hpp"

namespace lapilli {

// Only a SentencePiece model (spiece.model): ids as in the file, nothing added.
Result<std::unique_ptr<Tokenizer>> load_sentencepiece_tokenizer(const Files& files);
// Bytes; an id is the byte's value plus 3.
Result<std::unique_ptr<Tokenizer>> load_byt5_tokenizer(const Files& files);
// vocab.json and merges.txt; lower case, "@@" where a word continues.
Result<std::unique_ptr<Tokenizer>> load_blenderbot_small_tokenizer(const Files& files);
// sentencepiece.bpe.model cuts, vocab.json gives ids; a language token comes first.
Result<std::unique_ptr<Tokenizer>> load_m2m100_tokenizer(const Files& files);
// sentencepiece.bpe.model and vocab.json.
Result<std::unique_ptr<Tokenizer>> load_speech_to_text_tokenizer(const Files& files);
// vocab-src.json, vocab-tgt.json and merges.txt: Moses' words, then byte pair encoding.
Result<std::unique_ptr<Tokenizer>> load_fsmt_tokenizer(const Files& files);
// pieces.json, with codes or SentencePiece models beside it: fairseq, OpenNMT-py and Tensor2Tensor.
Result<std::unique_ptr<Tokenizer>> load_pieces_tokenizer(const Files& files);

}  // namespace lapilli
