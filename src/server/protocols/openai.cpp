// OpenAI's protocol: its errors, its keys, and the list of models.
#include "server/protocols/openai.hpp"

namespace lapilli::server {

namespace {

constexpr uint64_t kMostRecording = uint64_t{512} << 20;

const char* openai_type(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 429: return "rate_limit_error";
    default: return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

Json openai_code(int status, const std::string& parameter) {
  if (status == 401) return "invalid_api_key";
  if (status == 404 && parameter == "model") return "model_not_found";
  if (status == 413) return "context_length_exceeded";
  if (status == 429) return "rate_limit_exceeded";
  return nullptr;
}

Json model_json(const ModelFacts& model) {
  return {{"id", model.name}, {"object", "model"}, {"created", model.created}, {"owned_by", "lapilli"}};
}

void list_models(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Json data = Json::array();
  for (const ModelFacts& model : desk.models()) data.push_back(model_json(model));
  answer_json(*exchange, {{"object", "list"}, {"data", data}});
}

void show_model(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  const std::string name = exchange->request().path.substr(std::string_view("/v1/models/").size());
  for (const ModelFacts& model : desk.models())
    if (model.name == name) return answer_json(*exchange, model_json(model));
  exchange->answer(openai_error(404, "The model `" + name + "` does not exist", "model"));
}

}  // namespace

Response openai_error(int status, const std::string& message, const std::string& parameter) {
  const Json error = {{"message", message},
                      {"type", openai_type(status)},
                      {"param", parameter.empty() ? Json(nullptr) : Json(parameter)},
                      {"code", openai_code(status, parameter)}};
  return {status, json_line({{"error", error}}), "application/json", {}};
}

void refuse_openai(Exchange& exchange, const Refusal& refusal) {
  exchange.answer(openai_error(refusal.status, refusal.message, refusal.parameter));
}

Protocol openai() {
  Protocol protocol;
  protocol.name = "openai";
  protocol.routes = {
      {"GET", "/v1/models", &list_models},
      {"GET", "/v1/models/*", &show_model},
      {"POST", "/v1/embeddings", &openai_embeddings},
      {"POST", "/v1/completions", &openai_completions},
      {"POST", "/v1/chat/completions", &openai_chat},
      {"POST", "/v1/audio/transcriptions", &openai_transcriptions, kMostRecording, true, true, true},
      {"POST", "/v1/audio/translations", &openai_translations, kMostRecording, true, true, true},
  };
  protocol.error = &openai_error;
  protocol.key = &bearer_key;
  return protocol;
}

}  // namespace lapilli::server
