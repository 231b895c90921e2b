// POST /v1/embeddings: vectors of texts, as `lapilli embed` makes them.
#include <bit>
#include <utility>

#include "server/protocols/openai.hpp"
#include "server/protocols/token_ids.hpp"

namespace lapilli::server {

namespace {

struct EmbeddingsRequest {
  std::vector<std::string> texts;
  std::vector<Ids> ids;  // instead of texts
  bool list = false, base64 = false, truncate = false;
  uint32_t dimensions = 0;
  const ModelFacts* model = nullptr;
};

void read_input(Asked& from, EmbeddingsRequest& to) {
  const nlohmann::json* input = from.json("input");
  if (input && holds_token_ids(*input)) return read_token_ids(*input, from, "input", to.ids, to.list);
  auto texts = from.texts("input", from.limits.texts);
  if (!texts || texts->all.empty()) return from.refuse("input", "give a text, or a list of texts");
  to.list = texts->list;
  to.texts = std::move(texts->all);
}

void choose(const Desk& desk, Asked& from, EmbeddingsRequest& to) {
  const ModelChoice choice = choose_model(desk, from.text("model").value_or(""), "embed", "text");
  if (!choice.model) return from.refuse(choice.refusal);
  to.model = choice.model;
  if (to.dimensions > to.model->dimensions && to.model->dimensions > 0)
    from.refuse("dimensions", std::to_string(to.dimensions) + " are more than the " +
                                  std::to_string(to.model->dimensions) + " of the model");
}

EmbeddingsRequest read_request(const Desk& desk, Asked& from) {
  static constexpr const char* kFormats[] = {"float", "base64"};
  EmbeddingsRequest to;
  read_input(from, to);
  check_characters(from, "input", to.texts);
  to.base64 = from.one_of("encoding_format", kFormats).value_or("float") == "base64";
  to.truncate = from.flag("truncate").value_or(false);
  to.dimensions = static_cast<uint32_t>(from.whole("dimensions", 1, 1 << 20).value_or(0));
  if (!from.refusal()) choose(desk, from, to);
  return to;
}

std::string little_endian(const std::vector<float>& values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(float));
  for (const float value : values)
    for (int shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>(std::bit_cast<uint32_t>(value) >> shift & 0xff);
  return bytes;
}

std::string embeddings_json(const Results& results, const EmbeddingsRequest& request) {
  std::string data;
  uint64_t tokens = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::vector<float>& vector = results[i].vector;
    data += std::string(i == 0 ? "" : ",") + "{\"object\":\"embedding\",\"index\":" + std::to_string(i) +
            ",\"embedding\":" + (request.base64 ? '"' + base64(little_endian(vector)) + '"' : float_list(vector)) + "}";
    tokens += results[i].tokens;
  }
  return "{\"object\":\"list\",\"data\":[" + data + "],\"model\":" + json_line(request.model->name) +
         ",\"usage\":" + json_line({{"prompt_tokens", tokens}, {"total_tokens", tokens}}) + "}";
}

void give(Work& work, EmbeddingsRequest& request) {
  if (request.ids.empty()) return set_texts(work, std::move(request.texts));
  const auto kept = std::make_shared<std::vector<Ids>>(std::move(request.ids));
  work.inputs = detail::inputs_of(*kept);
  work.kept = kept;
}

}  // namespace

void openai_embeddings(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Asked from(desk, *exchange);
  EmbeddingsRequest request = read_request(desk, from);
  if (from.refusal()) return refuse_openai(*exchange, from.refusal());
  auto work = std::make_shared<Work>();
  work->model = request.model->name;
  work->options.task = "embed";
  work->options.encoder.dimensions = request.dimensions;
  give(*work, request);
  work->done = [exchange, request, work = work.get()](const Outcome& outcome) {
    Refusal why = failure_of(outcome, "input", request.list);
    if (!why && !request.truncate) why = too_long(outcome, *work, "input", request.list, 400);
    if (why) return refuse_openai(*exchange, why);
    exchange->answer({200, embeddings_json(*outcome.results, request), "application/json", {}});
  };
  desk.start(std::move(work), exchange);
}

}  // namespace lapilli::server
