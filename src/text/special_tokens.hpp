// Special tokens of a model directory: named ones ("eos_token"), further ones, and their ids.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "text/added_tokens.hpp"
#include "text/tokenizer.hpp"
#include "text/tokenizer_config.hpp"

namespace lapilli {

// A named special token, which files may override.
struct NamedSpecial {
  const char* name;
  const char* fallback;  // null: none unless a file names one
  bool lstrip = false;   // swallows white space on its left, or right, unless a file gives it as an object
  bool rstrip = false;
  bool last = false;  // gets its id after the further tokens
};

struct SpecialTokenSources {
  std::vector<NamedSpecial> named;
  std::vector<AddedToken> listed;                    // with ids; entries of tokenizer_config.json go first
  std::vector<AddedToken> extra;                     // the family's further tokens, in order of their ids; ids unset
  std::function<int32_t(const std::string&)> id_of;  // -1: not in the vocabulary
  uint64_t vocabulary_size = 0;                      // first id for tokens without one in any file
  // Tokens listed as ordinary become special if a list of further special tokens has them, too, as in the reference's
  // tokenizers that are written in Python.
  bool extra_makes_special = true;
};

struct CollectedTokens {
  std::vector<AddedToken> tokens;
  SpecialIds ids;
  std::string unknown;  // text of the unknown token
};

// Errors name the file: damaged entries, ids far outside the vocabulary.
Result<CollectedTokens> collect_special_tokens(const TokenizerConfig& config, SpecialTokenSources sources);

}  // namespace lapilli
