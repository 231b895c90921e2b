// Loaders of pipeline kinds without SentencePiece. Errors name the file.
#pragma once

#include <memory>

#include "text/tokenizer.hpp"

namespace lapilli {

// tokenizer.json unchanged, with the special tokens that tokenizer_config.json adds.
Result<std::unique_ptr<Tokenizer>> load_json_tokenizer(const Files& from);
// Only tokenizer.json.
Result<std::unique_ptr<Tokenizer>> load_literal_tokenizer(const Files& from);
// Byte-level BPE from vocab.json and merges.txt, or from tokenizer.json. GPT-2 and OPT; RoBERTa, BART and LED;
// Blenderbot.
Result<std::unique_ptr<Tokenizer>> load_gpt2_tokenizer(const Files& from);
Result<std::unique_ptr<Tokenizer>> load_roberta_tokenizer(const Files& from);
Result<std::unique_ptr<Tokenizer>> load_blenderbot_tokenizer(const Files& from);
Result<std::unique_ptr<Tokenizer>> load_whisper_tokenizer(const Files& from);
// BPE with an end-of-word mark, lower case.
Result<std::unique_ptr<Tokenizer>> load_openai_gpt_tokenizer(const Files& from);
// tokenizer.json, or else BPE from a SentencePiece model (tokenizer.model).
Result<std::unique_ptr<Tokenizer>> load_llama_tokenizer(const Files& from);
// WordPiece: vocab.txt or tokenizer.json; prophetnet.tokenizer.
Result<std::unique_ptr<Tokenizer>> load_bert_tokenizer(const Files& from);
Result<std::unique_ptr<Tokenizer>> load_prophetnet_tokenizer(const Files& from);

}  // namespace lapilli
