#include "server/protocols/answers.hpp"

#include <charconv>
#include <chrono>
#include <random>

#include "server/work/job_pump.hpp"

namespace lapilli::server {

namespace {

std::string names_of(const std::vector<const ModelFacts*>& models) {
  std::string all;
  for (const ModelFacts* model : models) all += (all.empty() ? "" : ", ") + model->name;
  return all;
}

std::string tasks_text(const ModelFacts& model) {
  std::string all;
  for (const std::string& task : model.tasks) all += (all.empty() ? "" : ", ") + task;
  return all.empty() ? "nothing" : all;
}

ModelChoice only_model(const std::vector<const ModelFacts*>& fitting, std::string_view task) {
  if (fitting.size() == 1) return {fitting.front(), {}};
  const std::string verb(task);
  if (fitting.empty())
    return {nullptr,
            {404, "model: no model of this server can " + verb + "; \"lapilli serve --model\" adds one", "model"}};
  return {nullptr, {400, "model: several models can " + verb + "; name one of " + names_of(fitting), "model"}};
}

std::string place(const std::string& parameter, bool list, size_t index) {
  return list ? parameter + "[" + std::to_string(index) + "]" : parameter;
}

void check_bytes(Asked& from, const std::string& name, std::span<const std::string> texts) {
  constexpr size_t kMostBytes = size_t{4} << 20;
  for (const std::string& text : texts)
    if (text.size() > kMostBytes)
      from.refuse(
          name, "a text has " + std::to_string(text.size()) + " bytes, of at most " + std::to_string(kMostBytes), 413);
}

}  // namespace

void answer_json(Exchange& exchange, const Json& json) {
  exchange.answer({200, json_line(json), "application/json", {}});
}

std::string bearer_key(const Request& request) {
  const std::string_view given = request.header("authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (given.size() < kScheme.size()) return "";
  for (size_t i = 0; i < kScheme.size(); ++i)
    if ((given[i] | 0x20) != (kScheme[i] | 0x20)) return "";
  return std::string(given.substr(std::min(given.find_first_not_of(' ', kScheme.size()), given.size())));
}

ModelChoice choose_model(const Desk& desk, const std::string& name, std::string_view task, std::string_view input,
                         std::span<const char* const> others) {
  const auto suits = [&](const ModelFacts& m) { return m.does(task) && (m.input.empty() || m.input == input); };
  std::vector<const ModelFacts*> fitting;
  for (const ModelFacts& model : desk.models()) {
    if (suits(model)) fitting.push_back(&model);
    if (name.empty() || model.name != name) continue;
    if (suits(model)) return {&model, {}};
    return {nullptr,
            {400,
             "model: " + name + " can " + tasks_text(model) + ", and not " + std::string(task) + ", of " +
                 std::string(input),
             "model"}};
  }
  bool any = name.empty();
  for (const char* other : others) any = any || name == other;
  if (any) return only_model(fitting, task);
  return {nullptr, {404, "The model `" + name + "` does not exist; /v1/models lists those that do", "model"}};
}

void check_characters(Asked& from, const std::string& name, const std::vector<std::string>& texts,
                      const std::string& query) {
  const uint64_t most = from.limits.characters;
  uint64_t all = most > 0 ? characters_of(query) : 0;
  check_bytes(from, name, texts);
  check_bytes(from, "query", {&query, 1});
  for (const std::string& text : texts) all += most > 0 ? characters_of(text) : 0;
  if (all > most)
    from.refuse(name, std::to_string(all) + " characters are above the limit of " + std::to_string(most), 413);
}

Refusal failure_of(const Outcome& outcome, const std::string& parameter, bool list) {
  if (!outcome.results) {
    const int status = outcome.status == 200 ? 500 : outcome.status;
    return {status, outcome.error ? outcome.error->message() : "the work came to no end", ""};
  }
  for (size_t i = 0; i < outcome.results->size(); ++i) {
    const Output& output = (*outcome.results)[i];
    if (output.ok()) continue;
    return {http_status(output.error->status()), place(parameter, list, i) + ": " + output.error->message(), parameter};
  }
  return {};
}

Refusal too_long(const Outcome& outcome, const Work& work, const std::string& parameter, bool list, int status) {
  for (size_t i = 0; outcome.results && i < outcome.results->size(); ++i) {
    const Output& output = (*outcome.results)[i];
    if (!output.cut) continue;
    std::string tokens;
    size_t count = 0;
    if (i < work.inputs.size() && work.inputs[i].kind == LAPILLI_INPUT_TEXT && outcome.model &&
        lapilli_model_count_tokens(outcome.model->handle(), &work.inputs[i], nullptr, &count) == LAPILLI_OK)
      tokens = std::to_string(count) + " tokens are more than ";
    return {status,
            place(parameter, list, i) + ": " + tokens + "the " + std::to_string(output.tokens) +
                " that the model reads; send a shorter text, or \"truncate\": true to leave out its end",
            parameter};
  }
  return {};
}

std::string random_name(const std::string& prefix) {
  static constexpr std::string_view kSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr int kLong = 24;
  std::random_device random;
  std::string name = prefix;
  for (int i = 0; i < kLong; ++i) name += kSigns[random() % kSigns.size()];
  return name;
}

int64_t unix_time() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch()).count();
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (size_t i = 0; i < 4; ++i) text += at + i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

std::string float_text(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string float_list(const std::vector<float>& values) {
  std::string text = "[";
  for (const float value : values) {
    if (text.size() > 1) text += ',';
    text += float_text(value);
  }
  return text + "]";
}

}  // namespace lapilli::server
