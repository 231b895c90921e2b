// Inputs of token ids, which some clients send by default: they mean other words to another tokenizer.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lapilli/lapilli.hpp"
#include "server/protocols/answers.hpp"

namespace lapilli::server {

// A list of numbers, or of lists of them.
bool holds_token_ids(const nlohmann::json& input);
// Reads them if the server allows them; `list` becomes true for a list of lists.
void read_token_ids(const nlohmann::json& input, Asked& from, const char* name, std::vector<Ids>& to, bool& list);

}  // namespace lapilli::server
