// DeepLX: https://github.com/OwO-Network/DeepLX.
#include <algorithm>
#include <utility>

#include "server/protocols/deepl.hpp"

namespace lapilli::server {

namespace {

constexpr uint32_t kMostAlternatives = 3;  // as many as it gives

void refuse_deeplx(Exchange& exchange, int status, const std::string& message) {
  exchange.answer({status, json_line({{"code", status}, {"message", message}})});
}

Json answer_json_of(const Translated& made, const std::string& to) {
  const TranslatedText& text = made.texts.front();
  return {{"code", 200},
          {"id", static_cast<int64_t>(std::hash<std::string>()(text.text) >> 16)},
          {"data", text.text},
          {"alternatives", text.alternatives},
          {"source_lang", deepl_code(text.from)},
          {"target_lang", deepl_code(to)},
          {"method", "Free"}};
}

}  // namespace

bool is_deeplx(const Parameters& parameters) {
  return parameters.has("text") && parameters.has("target_lang") && !parameters.has("q");
}

void deeplx_translate(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  static constexpr const char* kHandlings[] = {"", "html", "xml"};
  Parameters parameters(exchange->request());
  TranslationRequest what;
  what.texts = {parameters.required_text("text")};
  what.from = parameters.text("source_lang").value_or("auto");
  what.to = parameters.required_text("target_lang");
  if (!parameters.one_of("tag_handling", kHandlings).value_or("").empty()) what.kind = "html";
  if (what.from == "AUTO") what.from = "auto";
  if (what.kind.empty()) what.alternatives = std::min(kMostAlternatives, desk.limits(*exchange).alternatives);
  if (const Refusal& refusal = parameters.refusal()) return refuse_deeplx(*exchange, refusal.status, refusal.message);
  const uint64_t most = desk.limits(*exchange).characters, characters = count_characters(what.texts.front());
  if (most > 0 && characters > most)
    return refuse_deeplx(*exchange, 413,
                         std::to_string(characters) + " characters are above the limit of " + std::to_string(most));
  translate(desk, exchange, what, [exchange, to = what.to](const Translated& made) {
    if (made.status != 200) return refuse_deeplx(*exchange, made.status, made.error);
    exchange->answer({200, json_line(answer_json_of(made, to))});
  });
}

}  // namespace lapilli::server
