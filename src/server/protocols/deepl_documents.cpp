// DeepL's documents: uploaded, asked for, fetched.
#include <utility>

#include "server/protocols/deepl.hpp"
#include "server/work/document_kinds.hpp"

namespace lapilli::server {

namespace {

constexpr std::string_view kPath = "/v2/document/", kResult = "/result";

// "queued": its model is being loaded, or others have the device.
const char* status_of(const DocumentState& state) {
  if (state.done) return state.error.empty() ? "done" : "error";
  return state.seconds_left ? "translating" : "queued";
}

Json status_json(const std::string& id, const DocumentState& state) {
  Json json = {{"document_id", id}, {"status", status_of(state)}};
  if (state.seconds_left) json["seconds_remaining"] = *state.seconds_left;
  if (state.done && state.error.empty()) json["billed_characters"] = state.characters;
  if (!state.error.empty()) json["error_message"] = state.error;
  return json;
}

void answer_file(Exchange& exchange, const DocumentState& state) {
  if (!state.file) return exchange.answer(deepl_error(503, "the document is not translated yet", ""));
  Response response{200, state.file->bytes, state.file->type};
  response.headers = {{"Content-Disposition", "attachment"}};
  exchange.answer(std::move(response));
}

}  // namespace

void deepl_upload(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Parameters parameters(exchange->request());
  const FormField* file = parameters.part("file");
  if (file == nullptr || !file->file) parameters.refuse("file", "send a document");
  const std::string to = parameters.required_text("target_lang");
  const std::string from = parameters.text("source_lang").value_or("");
  const std::string name = parameters.text("filename").value_or(file && file->file ? *file->file : "");
  const auto kind = document_kind_of(name);
  if (!kind) parameters.refuse("file", "its kind is not served; these are: " + document_endings());
  refuse_unserved_by_deepl(parameters);
  if (refused_by_deepl(*exchange, parameters)) return;
  const std::string text(file->value());
  const uint64_t characters = count_characters(text), most = desk.limits(*exchange).characters;
  if (most > 0 && characters > most) return exchange->answer(deepl_too_long(characters, most));
  const auto job = desk.documents().add(characters);
  if (!job)
    return exchange->answer(deepl_error(429, "as many documents as the server takes are not done yet; try later", ""));
  TranslationRequest what{{text}, from, to, kind->kind, 0, {}, true, desk.account(*exchange), {}};
  what.is_file = true;
  what.on_progress = [&desk, id = job->id](double part) { desk.documents().progress(id, part); };
  Usage usage;
  usage.documents = 1;
  what.account->add(usage);
  exchange->answer({200, json_line({{"document_id", job->id}, {"document_key", job->key}})});
  translate(desk, nullptr, std::move(what), [&desk, id = job->id, kind, name, to](Translated made) {
    std::string made_text = made.status == 200 ? std::move(made.texts.front().text) : "";
    desk.documents().finish(id, made.error, {translated_name(name, *kind, to), kind->type, std::move(made_text)});
  });
}

void deepl_document(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Parameters parameters(exchange->request());
  const std::string key = parameters.required_text("document_key");
  if (refused_by_deepl(*exchange, parameters)) return;
  std::string id = exchange->request().path.substr(kPath.size());
  const bool wants_file = id.ends_with(kResult);
  if (wants_file) id.erase(id.size() - kResult.size());
  const auto state = desk.documents().find(id, key);
  if (!state) return exchange->answer(deepl_error(404, "there is no such document, or no longer", ""));
  if (wants_file) return answer_file(*exchange, *state);
  exchange->answer({200, json_line(status_json(id, *state))});
}

}  // namespace lapilli::server
