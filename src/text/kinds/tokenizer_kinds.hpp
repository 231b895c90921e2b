// The kinds of tokenizers, and the choice of one for a model directory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/tokenizer.hpp"

namespace lapilli {

struct TokenizerKind {
  std::string_view tokenizer_class;  // as in tokenizer_config.json, without "Fast"
  std::string_view model_types;      // of config.json, separated by spaces, that use it unless a file says otherwise
  Result<std::unique_ptr<Tokenizer>> (*load)(const Files& files);
  // Respects clean_up_tokenization_spaces, as the reference's Python implementation does. The other kinds read it
  // themselves.
  bool obeys_clean_up = false;
};

// Fails where the directory has none of the files that a kind reads: the message names all of them.
Status check_tokenizer_files(const Files& files, const TokenizerKind& kind);

// Chooses by the class that `family` or tokenizer_config.json names, else by `family` as a model_type, else by the
// files present. Errors: damaged tokenizer_config.json, no kind (the message lists the known model types).
Result<const TokenizerKind*> choose_tokenizer_kind(const Files& files, const std::string& family);

}  // namespace lapilli
