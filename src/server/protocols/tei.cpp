// The routes of text-embeddings-inference: /embed, /rerank, /predict, /tokenize, /info.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "server/protocols/protocol.hpp"
#include "server/protocols/ranking.hpp"

namespace lapilli::server {

Protocol tei();

namespace {

constexpr uint32_t kAllClasses = 1 << 20;

const char* tei_type(int status) {
  switch (status) {
    case 401:
    case 403: return "Unauthorized";
    case 422: return "Tokenizer";
    case 429: return "Overloaded";
    case 503: return "Unhealthy";
    default: return status >= 500 ? "Backend" : "Validation";
  }
}

Response tei_error(int status, const std::string& message, const std::string&) {
  return {status, json_line({{"error", message}, {"error_type", tei_type(status)}}), "application/json", {}};
}

void refuse_tei(Exchange& exchange, const Refusal& why) {
  exchange.answer(tei_error(why.status, why.message, why.parameter));
}

// A model that a request may name, though the protocol has one alone.
const ModelFacts* tei_model(const Desk& desk, Asked& from, std::string_view task) {
  const ModelChoice choice = choose_model(desk, from.text("model").value_or(""), task, "text");
  if (!choice.model) from.refuse(choice.refusal);
  return choice.model;
}

// The side of a long text that is left out.
bool read_truncate(Asked& from) {
  static constexpr Unserved kLeft[] = {{"truncation_direction", "\"right\"|\"Right\"", "the end is left out"}};
  from.refuse_unserved(kLeft);
  return from.flag("truncate").value_or(false);
}

Parameters::Texts tei_inputs(Asked& from) {
  auto inputs = from.texts("inputs", from.limits.texts);
  if (!inputs || inputs->all.empty()) from.refuse("inputs", "give a text, or a list of texts");
  Parameters::Texts texts = inputs.value_or(Parameters::Texts());
  check_characters(from, "inputs", texts.all);
  return texts;
}

// ---- /embed ----

std::string vectors_json(const Results& results) {
  std::string all = "[";
  for (const Output& output : results) all += (all.size() > 1 ? "," : "") + float_list(output.vector);
  return all + "]";
}

void tei_embed(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Asked from(desk, *exchange);
  const Parameters::Texts inputs = tei_inputs(from);
  const ModelFacts* model = tei_model(desk, from, "embed");
  auto work = std::make_shared<Work>();
  work->options.task = "embed";
  work->options.encoder.normalize = from.flag("normalize").value_or(true);
  work->options.encoder.prompt_name = from.text("prompt_name").value_or("");
  work->options.encoder.dimensions = static_cast<uint32_t>(from.whole("dimensions", 1, 1 << 20).value_or(0));
  const bool truncate = read_truncate(from);
  if (from.refusal()) return refuse_tei(*exchange, from.refusal());
  work->model = model->name;
  set_texts(*work, inputs.all);
  work->done = [exchange, truncate, list = inputs.list, work = work.get()](const Outcome& outcome) {
    Refusal why = failure_of(outcome, "inputs", list);
    if (!why && !truncate) why = too_long(outcome, *work, "inputs", list, 413);
    if (why) return refuse_tei(*exchange, why);
    exchange->answer({200, vectors_json(*outcome.results), "application/json", {}});
  };
  desk.start(std::move(work), exchange);
}

// ---- /rerank ----

Json ranks_json(const Ranking& ranking, bool raw, const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const RankedDocument& d : ranking.documents) {
    Json one = {{"index", d.index}};
    if (!texts.empty()) one["text"] = texts[d.index];
    one["score"] = raw ? d.logit : d.score;
    all.push_back(std::move(one));
  }
  return all;
}

void tei_rerank(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Asked from(desk, *exchange);
  RankingRequest request;
  request.member = "texts";
  request.too_long_status = 413;
  request.query = from.required_text("query");
  if (auto texts = from.texts("texts", from.limits.texts)) request.documents = std::move(texts->all);
  if (request.documents.empty()) from.refuse("texts", "give a list of texts");
  check_ranking(from, request);
  const bool raw = from.flag("raw_scores").value_or(false);
  const bool with_texts = from.flag("return_text").value_or(false);
  request.truncate = read_truncate(from);
  if (const ModelFacts* model = tei_model(desk, from, "rerank")) request.model = model->name;
  if (from.refusal()) return refuse_tei(*exchange, from.refusal());
  const std::vector<std::string> texts = with_texts ? request.documents : std::vector<std::string>();
  start_ranking(desk, exchange, std::move(request), [exchange, raw, texts](const Refusal& why, const Ranking& ranking) {
    if (why) return refuse_tei(*exchange, why);
    answer_json(*exchange, ranks_json(ranking, raw, texts));
  });
}

// ---- /predict ----

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A text, or a list of one or two of them.
bool add_sequence(const nlohmann::json& sequence, Pairs& to) {
  if (sequence.is_string()) {
    to.emplace_back(sequence.get<std::string>(), "");
    return true;
  }
  const bool fits = sequence.is_array() && !sequence.empty() && sequence.size() <= 2 &&
                    std::all_of(sequence.begin(), sequence.end(), [](const auto& text) { return text.is_string(); });
  if (fits) to.emplace_back(sequence[0].get<std::string>(), sequence.size() == 2 ? sequence[1].get<std::string>() : "");
  return fits;
}

struct PredictRequest {
  Pairs pairs;  // the second text is "" where one alone is judged
  bool batch = false, raw = false, truncate = false;
};

void read_sequences(Asked& from, PredictRequest& to) {
  static constexpr const char* kForms =
      "give a text, [text, text] for a pair, or a list of such lists: [[text], [text, text]]";
  const nlohmann::json* inputs = from.json("inputs");
  to.batch = inputs && inputs->is_array() && !inputs->empty() && (*inputs)[0].is_array();
  if (!to.batch) {
    if (!inputs || !add_sequence(*inputs, to.pairs)) from.refuse("inputs", kForms);
    return;
  }
  const size_t most = from.limits.texts;
  if (inputs->size() > most)
    return from.refuse("inputs",
                       std::to_string(inputs->size()) + " texts are above the limit of " + std::to_string(most));
  for (const nlohmann::json& sequence : *inputs)
    if (!add_sequence(sequence, to.pairs)) return from.refuse("inputs", kForms);
}

// Pairs and single texts run in one job: a pair without a second text is a text.
void give_sequences(Work& work, Pairs pairs) {
  auto kept = std::make_shared<Pairs>(std::move(pairs));
  for (const auto& [text, second] : *kept) {
    work.inputs.push_back(lapilli_text_of(text.data(), text.size()));
    if (second.empty()) continue;
    work.inputs.back().pair = second.data();
    work.inputs.back().pair_bytes = second.size();
  }
  work.kept = std::move(kept);
}

Json classes_json(const Output& output, bool raw) {
  Json all = Json::array();
  for (const Class& c : output.classes) all.push_back({{"score", raw ? c.score : c.probability}, {"label", c.label}});
  return all;
}

Json predictions_json(const Results& results, const PredictRequest& request) {
  if (!request.batch) return classes_json(results[0], request.raw);
  Json all = Json::array();
  for (const Output& output : results) all.push_back(classes_json(output, request.raw));
  return all;
}

void tei_predict(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Asked from(desk, *exchange);
  PredictRequest request;
  read_sequences(from, request);
  request.raw = from.flag("raw_scores").value_or(false);
  request.truncate = read_truncate(from);
  const ModelFacts* model = tei_model(desk, from, "classify");
  std::vector<std::string> texts;
  for (const auto& [text, second] : request.pairs) texts.push_back(text + second);
  check_characters(from, "inputs", texts);
  if (from.refusal()) return refuse_tei(*exchange, from.refusal());
  auto work = std::make_shared<Work>();
  work->model = model->name;
  work->options.task = "classify";
  work->options.encoder.top_classes = kAllClasses;
  give_sequences(*work, std::move(request.pairs));
  work->done = [exchange, request, work = work.get()](const Outcome& outcome) {
    Refusal why = failure_of(outcome, "inputs", request.batch);
    if (!why && !request.truncate) why = too_long(outcome, *work, "inputs", request.batch, 413);
    if (why) return refuse_tei(*exchange, why);
    answer_json(*exchange, predictions_json(*outcome.results, request));
  };
  desk.start(std::move(work), exchange);
}

// ---- /tokenize and /info: of a model without inputs ----

// The first model that one of the protocol's routes serves, unless one is named.
const ModelFacts* any_tei_model(const Desk& desk, Asked& from) {
  const std::string name = from.text("model").value_or("");
  for (const ModelFacts& model : desk.models()) {
    const bool serves = model.does("embed") || model.does("rerank") || model.does("classify");
    if (name.empty() ? serves && model.input == "text" : model.name == name) return &model;
  }
  from.refuse("model", name.empty() ? "no model of this server makes vectors or judges texts" : "there is no " + name,
              404);
  return nullptr;
}

// Work without inputs, which brings the model.
void with_model(Desk& desk, const std::shared_ptr<Exchange>& exchange, const ModelFacts& model,
                std::function<void(const Model&)> then) {
  auto work = std::make_shared<Work>();
  work->model = model.name;
  work->options.task = model.does("embed") ? "embed" : "classify";
  work->done = [exchange, then = std::move(then)](const Outcome& outcome) {
    if (const Refusal why = failure_of(outcome, "", false)) return refuse_tei(*exchange, why);
    then(*outcome.model);
  };
  desk.start(std::move(work), exchange);
}

// Finds the tokens in the text, one behind the other; each character is counted once.
class TokenPlaces {
 public:
  explicit TokenPlaces(const std::string& text) : text_(text) {}
  // {start, stop} in characters, or nulls for tokens that stand nowhere.
  std::pair<Json, Json> find(std::string token) {
    if (token.starts_with("##")) token.erase(0, 2);
    token.erase(0, std::min(token.find_first_not_of(' '), token.size()));
    pass(std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()));
    if (token.empty() || !same(at_, token)) return {nullptr, nullptr};
    const uint64_t start = characters_;
    pass(at_ + token.size());
    return {start, characters_};
  }

 private:
  void pass(size_t to) {
    characters_ += characters_of(std::string_view(text_).substr(at_, to - at_));
    at_ = to;
  }
  // Tokenizers of lower case give lower letters.
  [[nodiscard]] bool same(size_t begin, const std::string& token) const {
    if (text_.size() - begin < token.size()) return false;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
    return std::equal(token.begin(), token.end(), text_.begin() + static_cast<ptrdiff_t>(begin),
                      [&](char a, char b) { return lower(a) == lower(b); });
  }
  const std::string& text_;
  size_t at_ = 0;
  uint64_t characters_ = 0;  // in front of at_
};

// The texts of a model's ids, each read once.
class TokenTexts {
 public:
  explicit TokenTexts(const Model& model) : model_(model) {}
  struct Token {
    std::string text;
    bool special = false;
  };
  const Token& of(int32_t id) {
    const auto [at, is_new] = known_.try_emplace(id);
    if (is_new) at->second = read(id);
    return at->second;
  }

 private:
  [[nodiscard]] Token read(int32_t id) const {
    const auto shown = model_.decode({id}, true), plain = model_.decode({id}, false);
    if (!shown) return {};
    return {*shown, !shown->empty() && plain && plain->empty()};
  }
  const Model& model_;
  std::unordered_map<int32_t, Token> known_;
};

Json token_json(int32_t id, const TokenTexts::Token& token, TokenPlaces& places) {
  const auto [start, stop] = token.special ? std::pair<Json, Json>(nullptr, nullptr) : places.find(token.text);
  return {{"id", id}, {"text", token.text}, {"special", token.special}, {"start", start}, {"stop", stop}};
}

struct TokenizeRequest {
  std::vector<std::string> texts;
  bool with_special = true;
};

// The tokens of a text; fewer once the client has left.
Json tokens_json(const Model& model, const std::string& text, bool with_special, TokenTexts& texts,
                 const Exchange& exchange, Refusal& why) {
  Json all = Json::array();
  const auto ids = model.encode(text);
  if (!ids) return why = {422, ids.error().message(), "inputs"}, all;
  TokenPlaces places(text);
  for (const int32_t id : *ids) {
    if (exchange.gone()) break;
    const TokenTexts::Token& token = texts.of(id);
    if (with_special || !token.special) all.push_back(token_json(id, token, places));
  }
  return all;
}

void answer_tokens(Exchange& exchange, const Model& model, const TokenizeRequest& request) {
  Json all = Json::array();
  TokenTexts texts(model);
  Refusal why;
  for (const std::string& text : request.texts) {
    if (exchange.gone()) why = {kClientLeft, "the client has left", ""};
    if (why) return refuse_tei(exchange, why);
    all.push_back(tokens_json(model, text, request.with_special, texts, exchange, why));
  }
  why ? refuse_tei(exchange, why) : answer_json(exchange, all);
}

// Each token's answer takes memory many times its text's.
void check_tokenized(Asked& from, const std::vector<std::string>& texts) {
  constexpr size_t kMostOfOne = size_t{64} << 10, kMostOfAll = size_t{256} << 10;
  size_t all = 0;
  for (const std::string& text : texts) {
    all += text.size();
    if (text.size() > kMostOfOne)
      from.refuse("inputs",
                  "a text has " + std::to_string(text.size()) + " bytes, of at most " + std::to_string(kMostOfOne),
                  413);
  }
  if (all > kMostOfAll)
    from.refuse("inputs", "the texts have " + std::to_string(all) + " bytes, of at most " + std::to_string(kMostOfAll),
                413);
}

void tei_tokenize(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  static constexpr Unserved kNamed[] = {{"prompt_name", "", "put the prompt before the text"}};
  Asked from(desk, *exchange);
  TokenizeRequest request{tei_inputs(from).all};
  check_tokenized(from, request.texts);
  request.with_special = from.flag("add_special_tokens").value_or(true);
  from.refuse_unserved(kNamed);
  const ModelFacts* facts = from.refusal() ? nullptr : any_tei_model(desk, from);
  if (from.refusal()) return refuse_tei(*exchange, from.refusal());
  with_model(desk, exchange, *facts, [exchange, request = std::move(request)](const Model& model) {
    answer_tokens(*exchange, model, request);
  });
}

const char* dtype_text(int32_t dtype) {
  switch (dtype) {
    case LAPILLI_DTYPE_BF16: return "bfloat16";
    case LAPILLI_DTYPE_FP16: return "float16";
    case LAPILLI_DTYPE_INT8: return "int8";
    case LAPILLI_DTYPE_INT4: return "int4";
    default: return "float32";
  }
}

Json type_json(const ModelFacts& facts) {
  if (facts.does("embed")) return {{"embedding", {{"pooling", "as the model's directory says"}}}};
  const Json labels = {{"id2label", Json::object()}, {"label2id", Json::object()}};
  return Json{{facts.does("rerank") ? "reranker" : "classifier", labels}};
}

Json info_json(const Desk::Limits& limits, const ModelFacts& facts, const Model& model) {
  const lapilli_model_info info = model.info().value();
  return {{"model_id", facts.name},
          {"model_sha", nullptr},
          {"model_dtype", dtype_text(info.dtype)},
          {"model_type", type_json(facts)},
          {"max_concurrent_requests", limits.texts},
          {"max_input_length", info.max_source_tokens},
          {"max_batch_tokens", info.max_source_tokens * limits.texts},
          {"max_batch_requests", nullptr},
          {"max_client_batch_size", limits.texts},
          {"auto_truncate", false},
          {"tokenization_workers", 1},
          {"version", LAPILLI_VERSION},
          {"sha", nullptr},
          {"docker_label", nullptr}};
}

void tei_info(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Asked from(desk, *exchange, false);
  const ModelFacts* facts = any_tei_model(desk, from);
  if (!facts) return refuse_tei(*exchange, from.refusal());
  with_model(desk, exchange, *facts, [exchange, facts, limits = from.limits](const Model& model) {
    answer_json(*exchange, info_json(limits, *facts, model));
  });
}

}  // namespace

Protocol tei() {
  Protocol protocol;
  protocol.name = "tei";
  protocol.routes = {{"POST", "/embed", &tei_embed},
                     {"POST", "/rerank", &tei_rerank},
                     {"POST", "/predict", &tei_predict},
                     {"POST", "/tokenize", &tei_tokenize},
                     {"GET", "/info", &tei_info}};
  protocol.error = &tei_error;
  protocol.key = &bearer_key;
  return protocol;
}

}  // namespace lapilli::server
