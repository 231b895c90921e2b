#include "server/protocols/openai_text.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace lapilli::server {

namespace {

constexpr int64_t kMostTokens = int64_t{1} << 20;
constexpr size_t kMostStops = 16;

constexpr Unserved kUnservedText[] = {
    {"logit_bias", "", ""},
    {"presence_penalty", "0", "repetition_penalty is"},
    {"frequency_penalty", "0", "repetition_penalty is"},
    {"best_of", "1", "n gives several choices"},
    {"suffix", "", ""},
    {"tools", "", ""},
    {"tool_choice", "\"none\"|\"auto\"", ""},
    {"functions", "", ""},
    {"function_call", "\"none\"|\"auto\"", ""},
    {"response_format", "{\"type\":\"text\"}", ""},
    {"modalities", "[\"text\"]", ""},
    {"audio", "", ""},
    {"prediction", "", ""},
    {"reasoning_effort", "\"none\"", "chat_template_kwargs reach the template"},
    {"verbosity", "\"medium\"", ""},
    {"web_search_options", "", ""},
    {"store", "false", ""},
};

bool is_sampled(const nlohmann::json& settings) { return settings.value("do_sample", false); }

void read_sampling(Asked& from, TextRequest& to) {
  constexpr int64_t kMostCandidates = 1 << 20;
  nlohmann::json settings = nlohmann::json::object();
  const auto temperature = from.number("temperature", 0, 2);
  const auto top_p = from.number("top_p", 0, 1);
  const auto top_k = from.whole("top_k", -1, kMostCandidates);
  const auto min_p = from.number("min_p", 0, 1);
  const bool greedy = (temperature && *temperature == 0) || (top_p && *top_p == 0);
  const bool narrowed = (top_p && *top_p < 1) || top_k.value_or(0) > 0 || min_p.value_or(0) > 0;
  if (greedy) settings["do_sample"] = false;
  if (!greedy && (temperature || narrowed)) {
    settings["do_sample"] = true;
    settings["temperature"] = temperature.value_or(1);
    if (top_p) settings["top_p"] = *top_p;
    if (top_k.value_or(0) > 0) settings["top_k"] = *top_k;
    if (min_p.value_or(0) > 0) settings["min_p"] = *min_p;
    to.options.num_beams = 1;
  }
  const auto seed = from.whole("seed", INT64_MIN, INT64_MAX);
  if (seed) settings["seed"] = static_cast<uint32_t>(static_cast<uint64_t>(*seed) ^ static_cast<uint64_t>(*seed) >> 32);
  if (!seed && is_sampled(settings)) settings["seed"] = std::random_device()();
  if (const auto penalty = from.number("repetition_penalty", 0.01, 100))
    to.options.repetition_penalty = static_cast<float>(*penalty);
  if (!settings.empty()) to.options.json = settings.dump();
}

void read_stream(Asked& from, TextRequest& to) {
  to.stream = from.flag("stream").value_or(false);
  const nlohmann::json* options = from.json("stream_options");
  if (!options) return;
  if (!to.stream) return from.refuse("stream_options", "goes with stream");
  if (!options->is_object()) return from.refuse("stream_options", "must be an object");
  const auto usage = options->find("include_usage");
  if (usage == options->end() || usage->is_null()) return;
  if (!usage->is_boolean()) return from.refuse("stream_options", "include_usage must be true or false");
  to.include_usage = usage->get<bool>();
}

void read_length(Asked& from, TextRequest& to) {
  for (const char* name : {"max_completion_tokens", "max_tokens"}) {
    const auto most = from.whole(name, 1, kMostTokens);
    if (!most) continue;
    to.options.max_new_tokens = static_cast<int32_t>(*most);
    break;
  }
}

void read_stops(Asked& from, TextRequest& to) {
  const auto stops = from.texts("stop", kMostStops);
  if (!stops) return;
  for (const std::string& stop : stops->all)
    if (!stop.empty()) to.options.chat.stops.push_back(stop);
}

// The library's names of options, as the protocol calls them. A text has its start token in front, which max_length
// counts.
void name_as_asked(Refusal& why, const TextRequest& request) {
  const std::string tokens = std::to_string(request.options.max_new_tokens.value_or(0));
  const std::string start = "max_length: " + std::to_string(request.options.max_new_tokens.value_or(0) + int64_t{1});
  if (request.options.max_new_tokens && why.message.starts_with(start)) {
    why.message = "max_tokens: " + tokens + why.message.substr(start.size());
    why.parameter = "max_tokens";
  }
}

Json score_json(float score) {
  if (!std::isfinite(score)) return nullptr;
  return Json::parse(float_text(score));
}

Json byte_list(const std::string& text) {
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

const char* finish_reason(const Sequence& sequence) { return sequence.finish == Finish::length ? "length" : "stop"; }

// Tokens of a sequence and the logarithms of their probabilities, for the forms of both routes.
class TokenScores {
 public:
  TokenScores(const Sequence& sequence, const Model& model, bool likeliest) : likeliest_(likeliest) {
    for (size_t i = 0; i < sequence.ids.size() && i < sequence.token_scores.size(); ++i) {
      const auto text = model.decode({sequence.ids[i]}, true);
      tokens_.emplace_back(text ? *text : "", score_json(sequence.token_scores[i]));
    }
  }

  [[nodiscard]] Json of_chat() const {
    Json content = Json::array();
    for (const auto& [text, score] : tokens_) {
      Json one = {{"token", text}, {"logprob", score}, {"bytes", byte_list(text)}};
      Json top = Json::array();
      if (likeliest_) top.push_back(one);
      one["top_logprobs"] = std::move(top);
      content.push_back(std::move(one));
    }
    return {{"content", std::move(content)}, {"refusal", nullptr}};
  }

  [[nodiscard]] Json of_completion(size_t offset) const {
    Json texts = Json::array(), scores = Json::array(), top = Json::array(), offsets = Json::array();
    for (const auto& [text, score] : tokens_) {
      texts.push_back(text);
      scores.push_back(score);
      top.push_back(Json{{text, score}});
      offsets.push_back(offset);
      offset += static_cast<size_t>(characters_of(text));
    }
    return {{"tokens", std::move(texts)},
            {"token_logprobs", std::move(scores)},
            {"top_logprobs", likeliest_ ? std::move(top) : Json(nullptr)},
            {"text_offset", std::move(offsets)}};
  }

 private:
  std::vector<std::pair<std::string, Json>> tokens_;
  bool likeliest_;
};

// One answer on its way; events come before the outcome.
class Answering {
 public:
  Answering(TextRequest request, std::shared_ptr<Exchange> exchange)
      : request_(std::move(request)),
        exchange_(std::move(exchange)),
        id_(random_name(request_.chat ? "chatcmpl-" : "cmpl-")),
        created_(unix_time()),
        begun_(request_.prompts() * request_.choices, false) {}

  [[nodiscard]] const TextRequest& request() const { return request_; }

  void take_event(const Event& event) {
    if (event.kind != EventKind::text || event.text.empty() || event.input >= begun_.size()) return;
    begin_choice(event.input);
    send_piece(event.input, event.text);
  }

  void finish(const Outcome& outcome) {
    Refusal why = failure_of(outcome, request_.chat ? "messages" : "prompt", !request_.chat && request_.prompts() > 1);
    name_as_asked(why, request_);
    if (why) return fail(why);
    if (!request_.stream) return answer_json(*exchange_, whole(outcome));
    finish_stream(*outcome.results);
  }

 private:
  [[nodiscard]] Json head(const char* of_chat, const char* of_completion) const {
    return {{"id", id_},
            {"object", request_.chat ? of_chat : of_completion},
            {"created", created_},
            {"model", request_.model->name}};
  }

  [[nodiscard]] std::string prompt_of(size_t choice) const {
    return request_.echo ? request_.texts[choice / request_.choices] : "";
  }

  [[nodiscard]] Json usage(const Results& results) const {
    uint64_t written = 0;
    for (const Output& output : results)
      if (!output.sequences.empty()) written += output.sequences.front().ids.size();
    const uint64_t read = results.stats().source_tokens / request_.choices;
    return {{"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}};
  }

  [[nodiscard]] Json scores(size_t choice, const Sequence& sequence, const Model& model) const {
    if (!request_.log_probabilities) return nullptr;
    const TokenScores scores(sequence, model, request_.likeliest);
    return request_.chat ? scores.of_chat() : scores.of_completion(characters_of(prompt_of(choice)));
  }

  [[nodiscard]] Json choice_json(size_t choice, const Sequence& sequence, const Model& model) const {
    Json json = {{"index", choice}};
    if (request_.chat)
      json["message"] = {{"role", "assistant"}, {"content", sequence.text}, {"refusal", nullptr}};
    else
      json["text"] = prompt_of(choice) + sequence.text;
    json["logprobs"] = scores(choice, sequence, model);
    json["finish_reason"] = finish_reason(sequence);
    return json;
  }

  [[nodiscard]] Json whole(const Outcome& outcome) const {
    Json json = head("chat.completion", "text_completion");
    Json choices = Json::array();
    for (size_t i = 0; i < outcome.results->size(); ++i)
      choices.push_back(choice_json(i, (*outcome.results)[i].sequences.front(), *outcome.model));
    json["choices"] = std::move(choices);
    json["usage"] = usage(*outcome.results);
    return json;
  }

  void send(Json choices, Json usage) {
    if (!std::exchange(streams_, true))
      exchange_->begin({200, "", "text/event-stream", {{"cache-control", "no-cache"}}});
    Json json = head("chat.completion.chunk", "text_completion");
    json["choices"] = std::move(choices);
    if (request_.include_usage) json["usage"] = std::move(usage);
    exchange_->write("data: " + json_line(json) + "\n\n");
  }

  // `content` is the delta of a chat, or the text of a completion.
  void send_choice(size_t choice, Json content, Json finish) {
    Json json = {{"index", choice}};
    json[request_.chat ? "delta" : "text"] = std::move(content);
    json["logprobs"] = nullptr;
    json["finish_reason"] = std::move(finish);
    send(Json::array({std::move(json)}), nullptr);
  }

  void send_piece(size_t choice, const std::string& text) {
    send_choice(choice, request_.chat ? Json{{"content", text}} : Json(text), nullptr);
  }

  void begin_choice(size_t choice) {
    if (begun_[choice]) return;
    begun_[choice] = true;
    if (request_.chat)
      send_choice(choice, {{"role", "assistant"}, {"content", ""}}, nullptr);
    else if (request_.echo)
      send_piece(choice, prompt_of(choice));
  }

  void finish_stream(const Results& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      begin_choice(i);
      send_choice(i, request_.chat ? Json::object() : Json(""), finish_reason(results[i].sequences.front()));
    }
    if (request_.include_usage) send(Json::array(), usage(results));
    exchange_->write("data: [DONE]\n\n");
    exchange_->end();
  }

  void fail(const Refusal& why) {
    if (!streams_) return refuse_openai(*exchange_, why);
    exchange_->write("data: " + openai_error(why.status, why.message, why.parameter).body + "\n\n");
    exchange_->end();
  }

  TextRequest request_;
  std::shared_ptr<Exchange> exchange_;
  const std::string id_;
  const int64_t created_;
  std::vector<bool> begun_;  // of each choice: its first piece was sent
  bool streams_ = false;
};

// Each choice is an input of its own: sampling draws by the inputs' numbers, and each has a stream.
void give_prompts(Work& work, const TextRequest& request) {
  for (size_t prompt = 0; prompt < request.prompts(); ++prompt)
    for (uint32_t choice = 0; choice < request.choices; ++choice)
      work.inputs.push_back(request.ids.empty()
                                ? lapilli_text_of(request.texts[prompt].data(), request.texts[prompt].size())
                                : lapilli_tokens(request.ids[prompt].data(), request.ids[prompt].size()));
}

}  // namespace

void read_text_options(const Desk& desk, Asked& from, TextRequest& to) {
  to.options.task = "generate";
  read_length(from, to);
  read_sampling(from, to);
  read_stops(from, to);
  to.choices = static_cast<uint32_t>(from.whole("n", 1, from.limits.alternatives).value_or(1));
  read_stream(from, to);
  from.refuse_unserved(kUnservedText);
  const ModelChoice choice = choose_model(desk, from.text("model").value_or(""), "generate", "text");
  if (!choice.model) from.refuse(choice.refusal);
  to.model = choice.model;
}

void read_log_probabilities(Asked& from, TextRequest& to, const char* name, int64_t top) {
  if (!to.log_probabilities) return;
  const bool sampled = is_sampled(nlohmann::json::parse(to.options.json.empty() ? "{}" : to.options.json));
  if (top > (sampled ? 0 : 1))
    from.refuse(name, "is not served above " + std::string(sampled ? "0 with sampling" : "1") +
                          ": the probabilities of tokens that were not written are not kept");
  if (to.stream) from.refuse(name, "is not served together with stream");
  if (!to.options.chat.stops.empty()) from.refuse(name, "is not served together with stop");
  if (to.echo) from.refuse(name, "is not served together with echo");
  to.likeliest = top == 1;
}

void start_text(Desk& desk, const std::shared_ptr<Exchange>& exchange, TextRequest request) {
  auto run = std::make_shared<Answering>(std::move(request), exchange);
  auto work = std::make_shared<Work>();
  work->model = run->request().model->name;
  work->options = run->request().options;
  give_prompts(*work, run->request());
  work->kept = run;
  if (run->request().stream) work->on_event = [run = run.get()](const Event& event) { run->take_event(event); };
  work->done = [run = run.get()](const Outcome& outcome) { run->finish(outcome); };
  desk.start(std::move(work), exchange);
}

}  // namespace lapilli::server
