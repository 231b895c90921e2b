// The kinds of tokenizers, and how one is chosen for a model directory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.hpp"

namespace lapilli {

struct TokenizerKind {
  std::string_view tokenizer_class;  // as tokenizer_config.json names it, without "Fast"
  std::string_view model_types;  // of config.json, with spaces between them, that use it unless a file says otherwise
  Result<std::unique_ptr<Tokenizer>> (*load)(const Files& files);
  // clean_up_tokenization_spaces counts: the reference implementation has them in Python. The others read it
  // themselves.
  bool obeys_clean_up = false;
};

// By the class that `family` or tokenizer_config.json names, else by `family` as a model_type, else by the files that
// are there. Errors: damaged tokenizer_config.json, no kind (the message names the known model types).
Result<const TokenizerKind*> choose_tokenizer_kind(const Files& files, const std::string& family);

}  // namespace lapilli
