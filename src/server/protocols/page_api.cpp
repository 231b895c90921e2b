// The page's own routes beside the known protocols: translations as they are made, attention, the device and its
// health. Events are those of https://html.spec.whatwg.org/#server-sent-events, read from an answer to POST. Any client
// may use these routes, but they follow the page from version to version.
#include <algorithm>
#include <atomic>
#include <utility>

#include "server/protocols/answers.hpp"
#include "server/protocols/protocol.hpp"
#include "server/work/document_kinds.hpp"
#include "server/work/language_detector.hpp"
#include "server/work/language_ways.hpp"
#include "server/work/languages.hpp"
#include "server/work/live_translation.hpp"
#include "server/work/translation.hpp"
#include "tools/tools.hpp"

namespace lapilli::server {

Protocol page_api();

namespace {

constexpr uint64_t kMostTextBytes = 1 << 20;       // of a text in the field
constexpr uint64_t kMostSentenceBytes = 1 << 12;   // whose attention is drawn
constexpr uint64_t kMostQuestionBytes = 16 << 10;  // of a request that brings no text

Response page_api_error(int status, const std::string& message, const std::string&) {
  return {status, json_line({{"error", message}}), "application/json", {}};
}

bool refused_by_page(Exchange& exchange, const Parameters& parameters) {
  const Refusal& refusal = parameters.refusal();
  if (refusal) exchange.answer(page_api_error(refusal.status, refusal.message, ""));
  return bool{refusal};
}

// An answer of events. Threads take turns.
class EventStream {
 public:
  explicit EventStream(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {
    exchange_->begin(
        {200, "", "text/event-stream", {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}}});
  }
  void tell(const char* event, const Json& data) {
    exchange_->write("event: " + std::string(event) + "\ndata: " + json_line(data) + "\n\n");
  }
  void end() { exchange_->end(); }
  [[nodiscard]] bool gone() const { return exchange_->gone(); }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

// ---- what there is ----

Json page_languages(const Desk& desk) {
  Json all = Json::array();
  for (const std::string& code : known_languages(desk.models())) {
    Json targets = Json::array();
    for (const std::string& to : targets_from(desk.models(), code))
      if (to != code) targets.push_back(to);
    all.push_back({{"code", code}, {"name", language_name(code)}, {"targets", std::move(targets)}});
  }
  return all;
}

Json page_models(const Desk& desk) {
  Json all = Json::array();
  for (const ModelFacts& model : desk.models())
    all.push_back({{"name", model.name},
                   {"family", model.family},
                   {"input", model.input},
                   {"tasks", model.tasks},
                   {"bytes", model.weight_bytes}});
  return all;
}

Json page_documents() {
  Json all = Json::object();
  for (const DocumentKind& kind : document_kinds()) all[kind.ending.substr(1)] = kind.type;
  return all;
}

void page_facts(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  const Desk::Limits& limits = desk.limits();
  answer_json(*exchange, {{"version", LAPILLI_VERSION},
                          {"detects", detects_languages()},
                          {"keys", desk.asks_for_keys()},
                          {"languages", page_languages(desk)},
                          {"models", page_models(desk)},
                          {"documents", page_documents()},
                          {"limits",
                           {{"characters", limits.characters},
                            {"bytes", kMostTextBytes},
                            {"alternatives", limits.alternatives},
                            {"seconds", limits.sound_seconds},
                            {"files", limits.files}}}});
}

void page_device(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  const Desk::DeviceState state = desk.device();
  Json models = Json::array();
  for (const ModelFacts& model : desk.models())
    models.push_back({{"name", model.name},
                      {"family", model.family},
                      {"bytes", model.weight_bytes},
                      {"loaded", std::ranges::find(state.loaded, model.name) != state.loaded.end()}});
  answer_json(*exchange, {{"name", state.facts.name},
                          {"driver", state.facts.driver},
                          {"type", state.facts.type},
                          {"alive", desk.is_alive()},
                          {"memory",
                           {{"total", state.facts.heap_bytes},
                            {"limit", state.limit_bytes},
                            {"held", state.held_bytes},
                            {"weights", state.weight_bytes},
                            {"peak", state.peak_bytes}}},
                          {"models", std::move(models)}});
}

// ---- translations as they are made ----

Json spans_json(const std::vector<LiveSpan>& spans, bool weights) {
  Json all = Json::array();
  for (const LiveSpan& s : spans) {
    all.push_back({s.source_begin, s.source_end, s.target_begin, s.target_end});
    if (weights) all.back().push_back(s.weight);
  }
  return all;
}

class PageListener final : public LiveListener {
 public:
  explicit PageListener(const std::shared_ptr<Exchange>& exchange) : stream_(exchange) {}
  void on_languages(const Languages& all) override {
    stream_.tell("languages", {{"source", all.from},
                               {"target", all.to},
                               {"between", all.between},
                               {"confidence", all.confidence},
                               {"same", all.same}});
  }
  void on_text(size_t line, const std::string& text) override {
    stream_.tell("text", {{"line", line}, {"text", text}});
  }
  void on_whole(const LiveWhole& whole) override {
    stream_.tell("whole", {{"text", whole.text},
                           {"alternatives", whole.alternatives},
                           {"sentences", spans_json(whole.sentences, false)}});
  }
  void on_links(const std::vector<LiveSpan>& links) override {
    stream_.tell("links", {{"links", spans_json(links, true)}});
  }
  void on_end() override { finish("end", Json::object()); }
  void on_error(int status, const std::string& message) override {
    finish("error", {{"status", status}, {"error", message}});
  }

 private:
  void finish(const char* event, const Json& data) {
    stream_.tell(event, data);
    stream_.end();
  }
  EventStream stream_;
};

// Null: it is refused.
std::optional<LiveRequest> read_live(const Desk::Limits& limits, Exchange& exchange) {
  Parameters parameters(exchange.request());
  LiveRequest to;
  to.text = parameters.required_text("text");
  to.from = parameters.text("source").value_or("auto");
  to.to = parameters.required_text("target");
  to.alternatives = static_cast<uint32_t>(parameters.whole("alternatives", 0, limits.alternatives).value_or(0));
  to.links = parameters.flag("links").value_or(false);
  const uint64_t characters = count_characters(to.text);
  if (limits.characters > 0 && characters > limits.characters)
    parameters.refuse("text", "has " + std::to_string(characters) + " characters, and the limit is " +
                                  std::to_string(limits.characters));
  if (refused_by_page(exchange, parameters)) return {};
  return to;
}

void page_translate(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  auto request = read_live(desk.limits(*exchange), *exchange);
  if (request) translate_live(desk, exchange, std::move(*request), std::make_shared<PageListener>(exchange));
}

// ---- attention ----

std::shared_ptr<Work> attention_work(Desk& desk, Parameters& from) {
  auto work = std::make_shared<Work>();
  const std::string text = from.required_text("text");
  const auto way = find_way(desk.models(), from.required_text("source"), from.required_text("target"));
  if (text.size() > kMostSentenceBytes)
    from.refuse("text", "has " + std::to_string(text.size()) + " bytes, and attention is drawn of at most " +
                            std::to_string(kMostSentenceBytes));
  if (way.steps.size() != 1)
    from.refuse("target",
                "attention is that of one model, and these languages have " + std::to_string(way.steps.size()));
  if (from.refusal()) return work;
  work->model = way.steps[0].model;
  work->options.task = "translate";
  work->options.source_language = way.steps[0].from;
  work->options.target_language = way.steps[0].to;
  work->options.split_sentences = false;
  set_texts(*work, {text});
  return work;
}

void draw_attention(const Outcome& outcome, Exchange& exchange) {
  if (const Refusal why = failure_of(outcome, "text", false))
    return exchange.answer(page_api_error(why.status, why.message, ""));
  const auto attention = Attention::run(*outcome.model, *outcome.results, 0);
  const auto svg = attention ? attention->svg() : attention.error();
  if (!svg) return exchange.answer(page_api_error(400, svg.error().message(), ""));
  exchange.answer({200, *svg, "image/svg+xml", {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}}});
}

void page_attention(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Parameters from(exchange->request());
  const auto work = attention_work(desk, from);
  if (refused_by_page(*exchange, from)) return;
  work->done = [exchange](const Outcome& outcome) { draw_attention(outcome, *exchange); };
  desk.start(work, exchange);
}

// ---- the device's health ----

std::atomic<bool> examining{false};  // one at a time: it takes the device's time, and memory beside the server's

void examine(const Desk::DeviceState& device, EventStream& stream) {
  tools::DoctorRequest request;
  request.select = device.select;
  request.caps = device.caps;
  request.cache = device.cache;
  request.quick = true;
  request.progress = [&](const std::string& part) {
    if (!part.empty()) stream.tell("progress", {{"part", part}});
    return !stream.gone();
  };
  const auto found = tools::doctor(request);
  stream.tell("page", {{"healthy", found.status == LAPILLI_OK && found.healthy}, {"text", found.page}});
}

void page_doctor(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  if (examining.exchange(true))
    return exchange->answer(page_api_error(429, "the device is being examined for somebody else", ""));
  EventStream stream(exchange);
  examine(desk.device(), stream);
  examining = false;
  stream.end();
}

}  // namespace

Protocol page_api() {
  Protocol protocol;
  protocol.name = "page_api";
  protocol.routes = {{"GET", "/v1/page/facts", &page_facts, 0, false},
                     {"GET", "/v1/page/device", &page_device},
                     {"POST", "/v1/page/translate", &page_translate, kMostTextBytes + kMostQuestionBytes},
                     {"POST", "/v1/page/attention", &page_attention, kMostQuestionBytes},
                     {"POST", "/v1/page/doctor", &page_doctor, kMostQuestionBytes, true, true, true}};
  protocol.error = &page_api_error;
  protocol.key = &bearer_key;
  return protocol;
}

}  // namespace lapilli::server
