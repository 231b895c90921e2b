// DeepL's API, version 2: https://developers.deepl.com. Glossaries and rephrasing are not served.
#include "server/protocols/deepl.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/work/languages.hpp"

namespace lapilli::server {

namespace {

constexpr uint64_t kMostFileBytes = uint64_t{512} << 20;
constexpr uint64_t kNoLimit = 1000000000000;  // what clients take for a quota

// Members that ask for what no model here can do.
constexpr Unserved kUnserved[] = {
    {"glossary_id", "", "this server has no glossaries"},
    {"formality", "\"default\"|\"prefer_more\"|\"prefer_less\"", "no model here has a formal and an informal voice"},
    {"non_splitting_tags", "", ""},
    {"splitting_tags", "", ""},
    {"ignore_tags", "", "mark words with translate=\"no\" in HTML"},
    {"outline_detection", "true|1|\"1\"|\"true\"", ""},
    {"style_id", "", ""},
    {"custom_instructions", "", ""},
    {"output_format", "", "a document comes back in its own format"},
};

std::string deepl_key(const Request& request) {
  constexpr std::string_view kScheme = "DeepL-Auth-Key ";
  const std::string_view header = request.header("authorization");
  if (header.starts_with(kScheme)) return std::string(header.substr(kScheme.size()));
  Parameters parameters(request);
  return parameters.text("auth_key").value_or("");
}

struct TextsRequest {
  TranslationRequest what;
  bool names_model = false;
};

void read_handling(Parameters& parameters, TranslationRequest& to) {
  static constexpr const char* kHandlings[] = {"", "html", "xml"};
  static constexpr const char* kSplits[] = {"0", "1", "nonewlines"};
  if (!parameters.one_of("tag_handling", kHandlings).value_or("").empty()) to.kind = "html";
  if (parameters.one_of("split_sentences", kSplits).value_or("1") == "0") to.split = false;
}

TextsRequest read_texts(const Desk::Limits& limits, Parameters& parameters) {
  TextsRequest to;
  if (auto texts = parameters.texts("text", limits.texts)) to.what.texts = std::move(texts->all);
  if (to.what.texts.empty()) parameters.refuse("text", "give at least one text");
  to.what.from = parameters.text("source_lang").value_or("");
  to.what.to = parameters.required_text("target_lang");
  read_handling(parameters, to.what);
  to.names_model = parameters.text("model_type").has_value();
  refuse_unserved_by_deepl(parameters);
  return to;
}

Json texts_json(const TextsRequest& request, const Translated& made) {
  Json all = Json::array();
  for (size_t i = 0; i < made.texts.size(); ++i) {
    Json one = {{"detected_source_language", deepl_code(made.texts[i].from)},
                {"text", made.texts[i].text},
                {"billed_characters", count_characters(request.what.texts[i])}};
    if (request.names_model) one["model_type_used"] = "quality_optimized";
    all.push_back(std::move(one));
  }
  return {{"translations", std::move(all)}};
}

void translate_texts(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Parameters parameters(exchange->request());
  const TextsRequest request = read_texts(desk.limits(*exchange), parameters);
  if (refused_by_deepl(*exchange, parameters)) return;
  uint64_t characters = 0;
  for (const std::string& text : request.what.texts) characters += count_characters(text);
  const uint64_t most = desk.limits(*exchange).characters;
  if (most > 0 && characters > most) return exchange->answer(deepl_too_long(characters, most));
  translate(desk, exchange, request.what, [exchange, request](const Translated& made) {
    if (made.status != 200) return exchange->answer(deepl_error(made.status, made.error, made.parameter));
    exchange->answer({200, json_line(texts_json(request, made))});
  });
}

void languages(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  static constexpr const char* kTypes[] = {"source", "target"};
  Parameters parameters(exchange->request());
  const bool targets = parameters.one_of("type", kTypes).value_or("source") == "target";
  if (refused_by_deepl(*exchange, parameters)) return;
  Json all = Json::array();
  const auto known = known_languages(desk.models());
  for (const std::string& code : known) {
    const auto leads = [&](const std::string& from, const std::string& to) {
      const auto list = targets_from(desk.models(), from);
      return from != to && std::ranges::find(list, to) != list.end();
    };
    const bool fits = std::ranges::any_of(
        known, [&](const std::string& other) { return targets ? leads(other, code) : leads(code, other); });
    if (!fits) continue;
    Json one = {{"language", deepl_code(code)}, {"name", language_name(code)}};
    if (targets) one["supports_formality"] = false;
    all.push_back(std::move(one));
  }
  exchange->answer({200, json_line(all)});
}

void usage(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer(
      {200, json_line({{"character_count", desk.usage(*exchange).characters}, {"character_limit", kNoLimit}})});
}

void glossaries(Desk&, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer(deepl_error(403, "this server has no glossaries", ""));
}

}  // namespace

Response deepl_error(int status, const std::string& message, const std::string&) {
  return {status, json_line({{"message", message}})};
}

void refuse_unserved_by_deepl(Parameters& parameters) { parameters.refuse_unserved(kUnserved); }

Response deepl_too_long(uint64_t characters, uint64_t most) {
  return deepl_error(
      413,
      "text: " + std::to_string(characters) + " characters are above the " + std::to_string(most) + " of a request",
      "");
}

bool refused_by_deepl(Exchange& exchange, const Parameters& parameters) {
  const Refusal& refusal = parameters.refusal();
  if (refusal) exchange.answer(deepl_error(refusal.status, refusal.message, refusal.parameter));
  return bool{refusal};
}

std::string deepl_code(const std::string& code) {
  std::string upper = short_language(code);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper;
}

Protocol deepl() {
  Protocol protocol;
  protocol.name = "deepl";
  protocol.routes = {{"POST", "/v2/translate", &translate_texts},
                     {"GET", "/v2/translate", &translate_texts, 16 << 20, true, true},
                     {"GET", "/v2/languages", &languages},
                     {"POST", "/v2/languages", &languages},
                     {"GET", "/v2/usage", &usage},
                     {"POST", "/v2/usage", &usage},
                     {"POST", "/v2/document", &deepl_upload, kMostFileBytes, true, true, true},
                     {"POST", "/v2/document/*", &deepl_document},
                     {"GET", "/v2/document/*", &deepl_document}};
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"})
    for (const char* path : {"/v2/glossaries*", "/v3/glossaries*", "/v2/glossary-language-pairs"})
      protocol.routes.push_back({method, path, &glossaries});
  protocol.error = &deepl_error;
  protocol.key = &deepl_key;
  protocol.missing_key_status = protocol.wrong_key_status = 403;
  return protocol;
}

}  // namespace lapilli::server
