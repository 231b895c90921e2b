// Special tokens of a model directory: those that have a name ("eos_token"), further ones, and their ids.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "text/added_tokens.hpp"
#include "text/tokenizer.hpp"
#include "text/tokenizer_config.hpp"

namespace lapilli {

// A special token with a name, which files may override.
struct NamedSpecial {
  const char* name;
  const char* fallback;  // null: the family has none unless a file names one
  bool lstrip = false;   // swallows white space on its left, or right, unless a file gives it as an object
  bool rstrip = false;
  bool last = false;  // gets its id behind the further ones
};

struct SpecialTokenSources {
  std::vector<NamedSpecial> named;
  std::vector<AddedToken> listed;                    // with ids; what tokenizer_config.json lists goes first
  std::vector<AddedToken> extra;                     // further ones of the family, in the order of their ids; ids unset
  std::function<int32_t(const std::string&)> id_of;  // -1: not in the vocabulary
  uint64_t vocabulary_size = 0;                      // where ids of tokens begin that no file gives one
  // Whether what a file lists as ordinary becomes special by standing in a list of further special tokens, too. The
  // reference implementation does so in the tokenizers that it writes in Python.
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
