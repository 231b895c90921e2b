#include "server/protocols/token_ids.hpp"

#include <string>
#include <utility>

namespace lapilli::server {

namespace {

void read_one(const nlohmann::json& list, Asked& from, const char* name, std::vector<Ids>& to) {
  const std::string item = "item " + std::to_string(to.size());
  if (!list.is_array() || list.empty()) return from.refuse(name, item + " must be a list of token ids");
  Ids ids;
  for (const nlohmann::json& id : list) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > INT32_MAX)
      return from.refuse(name, item + " has a number that is no id of the vocabulary");
    ids.push_back(id.get<int32_t>());
  }
  to.push_back(std::move(ids));
}

}  // namespace

bool holds_token_ids(const nlohmann::json& input) {
  if (!input.is_array() || input.empty()) return false;
  return input[0].is_number() || (input[0].is_array() && (input[0].empty() || input[0][0].is_number()));
}

void read_token_ids(const nlohmann::json& input, Asked& from, const char* name, std::vector<Ids>& to, bool& list) {
  const size_t most = from.limits.texts;
  if (!from.limits.token_ids)
    return from.refuse(name,
                       "token ids are those of another model's tokenizer; send texts (LangChain's OpenAIEmbeddings: "
                       "check_embedding_ctx_length=False; tiktoken_enabled of older ones)");
  list = input[0].is_array();
  if (!list) return read_one(input, from, name, to);
  if (input.size() > most)
    return from.refuse(name, std::to_string(input.size()) + " lists are above the limit of " + std::to_string(most));
  for (const nlohmann::json& one : input) read_one(one, from, name, to);
}

}  // namespace lapilli::server
