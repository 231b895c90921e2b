// The vocabularies beside model.bin: lists of tokens, as JSON or with a line for each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli::doors::ct2 {

using Tokens = std::vector<std::string>;

struct Vocabularies {
  Tokens source, target;  // the same ones if there is one file
  bool shared = true;
};

// The files that the directory has; no tokens at all where it has none.
Result<Vocabularies> read_vocabularies(const Files& files);

// True for the names of these files.
bool is_vocabulary_file(std::string_view name);

// The id of a token.
std::optional<int32_t> id_of(const Tokens& tokens, std::string_view token);
// vocab.json: ids by token. Of tokens that are there twice the first one counts.
std::string vocabulary_json(const Tokens& tokens);

}  // namespace lapilli::doors::ct2
