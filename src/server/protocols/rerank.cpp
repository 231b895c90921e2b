// POST /v1/rerank and /v2/rerank, as the clients of Jina and of Cohere call them.
#include <algorithm>
#include <utility>

#include "server/protocols/protocol.hpp"
#include "server/protocols/ranking.hpp"

namespace lapilli::server {

Protocol rerank();

namespace {

constexpr Unserved kUnservedRerank[] = {
    {"max_tokens_per_doc", "4096", "\"truncate\": true cuts documents where the model's length ends"},
    {"max_chunks_per_doc", "10|1", "documents are read as a whole; \"truncate\": true cuts them"},
    {"rank_fields", "[\"text\"]", "documents are texts"},
    {"return_embeddings", "false", "/v1/embeddings gives vectors"},
};

struct RerankRequest {
  RankingRequest ranking;
  std::vector<std::string> texts;  // to return; empty: not asked
  size_t top = 0;
  bool second = false;  // version 2
};

// A text, or an object with one.
void add_document(const nlohmann::json& document, Asked& from, std::vector<std::string>& to) {
  if (document.is_string()) return to.push_back(document.get<std::string>());
  const auto text = document.is_object() ? document.find("text") : document.end();
  if (document.is_object() && text != document.end() && text->is_string())
    return to.push_back(text->get<std::string>());
  from.refuse("documents", "item " + std::to_string(to.size()) + " must be a text, or an object with one in \"text\"");
}

void read_documents(Asked& from, std::vector<std::string>& to) {
  const size_t most = from.limits.texts;
  const nlohmann::json* documents = from.json("documents");
  if (!documents || !documents->is_array() || documents->empty())
    return from.refuse("documents", "give a list of texts");
  if (documents->size() > most)
    return from.refuse("documents",
                       std::to_string(documents->size()) + " texts are above the limit of " + std::to_string(most));
  for (const nlohmann::json& document : *documents) add_document(document, from, to);
}

RerankRequest read_rerank(const Desk& desk, Asked& from) {
  RerankRequest to;
  to.ranking.query = from.required_text("query");
  read_documents(from, to.ranking.documents);
  check_ranking(from, to.ranking);
  to.top = static_cast<size_t>(from.whole("top_n", 1, INT32_MAX).value_or(INT32_MAX));
  to.ranking.truncate = from.flag("truncate").value_or(from.flag("truncation").value_or(false));
  if (from.flag("return_documents").value_or(false)) to.texts = to.ranking.documents;
  from.refuse_unserved(kUnservedRerank);
  const ModelChoice choice = choose_model(desk, from.text("model").value_or(""), "rerank", "text");
  if (!choice.model) from.refuse(choice.refusal);
  if (choice.model) to.ranking.model = choice.model->name;
  return to;
}

Json rerank_json(const Ranking& ranking, const RerankRequest& request) {
  Json results = Json::array();
  for (const RankedDocument& d : ranking.documents) {
    if (results.size() == request.top) break;
    Json one = {{"index", d.index}, {"relevance_score", d.score}};
    if (!request.texts.empty()) one["document"] = {{"text", request.texts[d.index]}};
    results.push_back(std::move(one));
  }
  const Json meta = {{"api_version", {{"version", request.second ? "2" : "1"}}},
                     {"billed_units", {{"search_units", 1}}}};
  return {{"id", random_name("rerank-")},
          {"model", request.ranking.model},
          {"results", results},
          {"meta", meta},
          {"usage", {{"prompt_tokens", ranking.tokens}, {"total_tokens", ranking.tokens}}}};
}

// Cohere's clients read `message`, Jina's `detail`.
Response rerank_error(int status, const std::string& message, const std::string&) {
  return {status,
          json_line({{"id", random_name("error-")}, {"message", message}, {"detail", message}}),
          "application/json",
          {}};
}

void run_rerank(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Asked from(desk, *exchange);
  RerankRequest request = read_rerank(desk, from);
  request.second = exchange->request().path.starts_with("/v2");
  if (const Refusal& why = from.refusal())
    return exchange->answer(rerank_error(why.status, why.message, why.parameter));
  RankingRequest ranking = std::move(request.ranking);
  request.ranking.model = ranking.model;
  start_ranking(desk, exchange, std::move(ranking), [exchange, request](const Refusal& why, const Ranking& made) {
    if (why) return exchange->answer(rerank_error(why.status, why.message, why.parameter));
    answer_json(*exchange, rerank_json(made, request));
  });
}

}  // namespace

Protocol rerank() {
  Protocol protocol;
  protocol.name = "rerank";
  protocol.routes = {{"POST", "/v1/rerank", &run_rerank}, {"POST", "/v2/rerank", &run_rerank}};
  protocol.error = &rerank_error;
  protocol.key = &bearer_key;
  return protocol;
}

}  // namespace lapilli::server
