// LibreTranslate's API, version 1.9: https://docs.libretranslate.com. Its page is not served here.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/protocols/deepl.hpp"
#include "server/protocols/json_body.hpp"
#include "server/protocols/protocol.hpp"
#include "server/work/document_kinds.hpp"
#include "server/work/language_detector.hpp"
#include "server/work/languages.hpp"
#include "server/work/translation.hpp"

namespace lapilli::server {

Protocol libretranslate();

namespace {

constexpr uint64_t kMostLibreFileBytes = uint64_t{512} << 20;

Response libre_error(int status, const std::string& message, const std::string&) {
  return {status, json_line({{"error", message}})};
}

void refuse_libre(Exchange& exchange, int status, const std::string& message) {
  exchange.answer(libre_error(status, message, ""));
}

bool refused(Exchange& exchange, const Parameters& parameters) {
  const Refusal& refusal = parameters.refusal();
  if (refusal) refuse_libre(exchange, refusal.status, "Invalid request: " + refusal.message);
  return bool{refusal};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return text;
}

// npm's client calls it apiKey, and DeepLX has it in a header or the query.
std::string libre_key(const Request& request) {
  Parameters parameters(request);
  for (const char* name : {"api_key", "apiKey"})
    if (const auto key = parameters.text(name)) return *key;
  constexpr std::string_view kBearer = "Bearer ";  // DeepLX
  const std::string_view header = request.header("authorization");
  return header.starts_with(kBearer) ? std::string(header.substr(kBearer.size()))
                                     : parameters.text("token").value_or("");
}

Json languages_json(const Desk& desk) {
  Json all = Json::array();
  for (const std::string& code : known_languages(desk.models()))
    all.push_back({{"code", code}, {"name", language_name(code)}, {"targets", targets_from(desk.models(), code)}});
  return all;
}

void libre_languages(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer({200, json_line(languages_json(desk))});
}

// The first language from which there is a way is the source of an empty page, English where it is one.
Json settings_json(const Desk& desk) {
  std::string from, to;
  for (const std::string& code : known_languages(desk.models())) {
    const auto targets = targets_from(desk.models(), code);
    const auto other = std::ranges::find_if(targets, [&](const std::string& target) { return target != code; });
    if (other == targets.end() || (!from.empty() && code != "en")) continue;
    from = code;
    to = *other;
  }
  Json endings = Json::array();
  for (const DocumentKind& kind : document_kinds()) endings.push_back(kind.ending);
  const uint64_t most = desk.limits().characters;
  return {{"apiKeys", desk.asks_for_keys()},
          {"charLimit", most == 0 ? int64_t{-1} : static_cast<int64_t>(most)},
          {"filesTranslation", true},
          {"frontendTimeout", 500},
          {"keyRequired", desk.asks_for_keys()},
          {"language",
           {{"source", {{"code", from}, {"name", language_name(from)}}},
            {"target", {{"code", to}, {"name", language_name(to)}}}}},
          {"suggestions", false},
          {"supportedFilesFormat", endings}};
}

void libre_settings(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer({200, json_line(settings_json(desk))});
}

void suggest(Desk&, const std::shared_ptr<Exchange>& exchange) {
  refuse_libre(*exchange, 403, "Suggestions are disabled on this server.");
}

// Why the texts are too long; "" if the limit holds.
std::string above_limits(const Desk::Limits& limits, const std::vector<std::string>& texts) {
  uint64_t characters = 0;
  for (const std::string& text : texts) characters += count_characters(text);
  if (limits.characters == 0 || characters <= limits.characters) return "";
  return "Invalid request: request (" + std::to_string(characters) + ") exceeds text limit (" +
         std::to_string(limits.characters) + ")";
}

void libre_detect(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Parameters parameters(exchange->request());
  const std::string text = parameters.required_text("q");
  if (refused(*exchange, parameters)) return;
  const std::string above = above_limits(desk.limits(*exchange), {text});
  if (!above.empty()) return refuse_libre(*exchange, 400, above);
  if (!detects_languages())
    return refuse_libre(*exchange, 400, "this server cannot detect languages, for it was built without libcld2");
  Json all = Json::array();
  for (const DetectedLanguage& one : detect_language(text, known_languages(desk.models())))
    all.push_back({{"confidence", one.confidence}, {"language", short_language(one.language)}});
  exchange->answer({200, json_line(all)});
}

// ---- texts ----

struct LibreTexts {
  TranslationRequest what;
  bool list = false, detect = false;
};

LibreTexts read_libre_texts(const Desk::Limits& limits, Parameters& parameters) {
  static constexpr const char* kFormats[] = {"text", "html"};
  LibreTexts to;
  if (!parameters.has("q")) parameters.refuse("", "missing q parameter");
  if (auto texts = parameters.texts("q", limits.texts)) {
    to.list = texts->list;
    to.what.texts = std::move(texts->all);
  }
  to.what.from = lower(parameters.text("source").value_or(""));
  to.what.to = lower(parameters.text("target").value_or(""));
  for (const char* name : {"source", "target"})
    if (!parameters.has(name)) parameters.refuse("", std::string("missing ") + name + " parameter");
  to.detect = to.what.from == "auto" || to.what.from.empty();
  if (parameters.one_of("format", kFormats).value_or("text") == "html") to.what.kind = "html";
  to.what.alternatives = static_cast<uint32_t>(parameters.whole("alternatives", 0, limits.alternatives).value_or(0));
  return to;
}

Json detected_json(const TranslatedText& text) { return {{"confidence", text.confidence}, {"language", text.from}}; }

Json libre_texts_json(const LibreTexts& request, const Translated& made) {
  Json translations = Json::array(), alternatives = Json::array(), detected = Json::array();
  for (const TranslatedText& text : made.texts) {
    translations.push_back(text.text);
    alternatives.push_back(text.alternatives);
    detected.push_back(detected_json(text));
  }
  const auto as_asked = [&](const Json& all) { return request.list ? all : all.at(0); };
  Json answer;
  if (request.detect) answer["detectedLanguage"] = as_asked(detected);
  if (request.what.alternatives > 0) answer["alternatives"] = as_asked(alternatives);
  answer["translatedText"] = as_asked(translations);
  // Beyond LibreTranslate's members: the language between two models.
  if (!made.texts.front().between.empty()) answer["between"] = made.texts.front().between;
  return answer;
}

void libre_translate(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Parameters parameters(exchange->request());
  if (is_deeplx(parameters)) return deeplx_translate(desk, exchange);
  LibreTexts request = read_libre_texts(desk.limits(*exchange), parameters);
  if (refused(*exchange, parameters)) return;
  const std::string above = above_limits(desk.limits(*exchange), request.what.texts);
  if (!above.empty()) return refuse_libre(*exchange, 400, above);
  const TranslationRequest what = request.what;
  translate(desk, exchange, what, [exchange, request = std::move(request)](const Translated& made) {
    if (made.status != 200) return refuse_libre(*exchange, made.status, made.error);
    exchange->answer({200, json_line(libre_texts_json(request, made))});
  });
}

// ---- files ----

std::string url_of(const Request& request, const std::string& path) {
  const std::string_view proto = request.header("x-forwarded-proto"), host = request.header("x-forwarded-host");
  return (proto.empty() ? "http" : std::string(proto)) + "://" +
         std::string(host.empty() ? request.header("host") : host) + path;
}

void translate_file(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Parameters parameters(exchange->request());
  const FormField* file = parameters.part("file");
  if (file == nullptr || !file->file) return refuse_libre(*exchange, 400, "Invalid request: missing file parameter");
  const std::string from = lower(parameters.required_text("source")), to = lower(parameters.required_text("target"));
  if (refused(*exchange, parameters)) return;
  const auto kind = document_kind_of(*file->file);
  if (!kind) return refuse_libre(*exchange, 400, "Invalid request: file format not supported");
  const std::string above = above_limits(desk.limits(*exchange), {std::string(file->value())});
  if (!above.empty()) return refuse_libre(*exchange, 400, above);
  TranslationRequest what{{std::string(file->value())}, from, to, kind->kind, 0};
  what.is_file = true;
  Usage usage;
  usage.documents = 1;
  desk.account(*exchange)->add(usage);
  const std::string name = translated_name(*file->file, *kind, to);
  translate(desk, exchange, std::move(what), [&desk, exchange, name, kind](Translated made) {
    if (made.status != 200) return refuse_libre(*exchange, made.status, made.error);
    const std::string kept = desk.keep_file({name, kind->type, std::move(made.texts.front().text)});
    const std::string path = "/download_file/" + kept + kind->ending;
    exchange->answer({200, json_line({{"translatedFileUrl", url_of(exchange->request(), path)}})});
  });
}

void download_file(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  const std::string& path = exchange->request().path;
  std::string name = path.substr(path.find_last_of('/') + 1);
  name = name.substr(0, name.find('.'));
  const auto file = desk.kept_file(name);
  if (!file) return refuse_libre(*exchange, 404, "there is no such file, or no longer");
  Response response{200, file->bytes, file->type};
  response.headers = {{"Content-Disposition", "attachment"}};
  exchange->answer(std::move(response));
}

}  // namespace

Protocol libretranslate() {
  Protocol protocol;
  protocol.name = "libretranslate";
  protocol.routes = {{"POST", "/translate", &libre_translate},
                     {"POST", "/detect", &libre_detect},
                     {"GET", "/languages", &libre_languages, 0, false},
                     {"GET", "/frontend/settings", &libre_settings, 0, false},
                     {"POST", "/suggest", &suggest},
                     {"POST", "/translate_file", &translate_file, kMostLibreFileBytes, true, true, true},
                     {"GET", "/download_file/*", &download_file, 0, false}};
  protocol.error = &libre_error;
  protocol.key = &libre_key;
  protocol.missing_key_status = 400;
  protocol.wrong_key_status = 403;
  return protocol;
}

}  // namespace lapilli::server
