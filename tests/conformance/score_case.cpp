// Cases of kind "score" (log-probabilities of given targets, by one forward pass) and "text" (what a search must
// write).
#include <algorithm>
#include <cmath>

#include "base/path.hpp"
#include "conformance/folder.hpp"
#include "generate/generate.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;

// log-softmax of one row, at one id.
double log_probability(const float* logits, size_t vocabulary, int32_t id) {
  const double largest = *std::max_element(logits, logits + vocabulary);
  double sum = 0;
  for (size_t i = 0; i < vocabulary; ++i) sum += std::exp(logits[i] - largest);
  return logits[id] - largest - std::log(sum);
}

Result<int32_t> decoder_start(const std::shared_ptr<Model>& model) {
  const auto& config = model->generation_config();
  const auto start = config.decoder_start_token_id ? config.decoder_start_token_id : config.bos_token_id;
  if (!start) return fail(ErrorCode::invalid_data, "the model has no decoder_start_token_id");
  return *start;
}

// Ids by a table of the record's own (tokens.json: one token per id from target_offset on), for models without a
// tokenizer. Ids outside and those in angle brackets give nothing.
Result<std::string> text_by_table(const std::string& directory, const std::vector<int32_t>& ids) {
  const std::string path = directory + "/tokens.json";
  if (!file_exists(path)) return fail(ErrorCode::unsupported, "a text, but neither a tokenizer nor tokens.json");
  LAPILLI_TRY(const auto json, read_json_file(path));
  const auto tokens = json.at("target").get<std::vector<std::string>>();
  const auto offset = json.at("target_offset").get<int64_t>();
  std::string text;
  for (const int32_t id : ids) {
    const int64_t at = id - offset;
    if (at < 0 || at >= static_cast<int64_t>(tokens.size())) continue;
    const std::string& token = tokens[static_cast<size_t>(at)];
    if (!(token.size() > 1 && token.front() == '<' && token.back() == '>')) text += token;
  }
  return text;
}

}  // namespace

Result<Outcome> run_score(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  const auto target = c.at("target").get<std::vector<int32_t>>();
  const auto expected = c.at("token_log_probs").get<std::vector<double>>();
  if (target.size() != expected.size() || target.empty())
    return Outcome::failed("the record is damaged: ids and scores differ in number");
  ForwardRequest request;
  LAPILLI_TRY(request.sources, masked_rows(record, c.at("inputs"), "input_ids", "attention_mask"));
  if (request.sources.size() != 1) return Outcome::unsupported("scores of several sources");
  LAPILLI_TRY(const int32_t start, decoder_start(model));
  request.targets.push_back({start});
  request.targets[0].insert(request.targets[0].end(), target.begin(), target.end() - 1);
  LAPILLI_TRY(const auto ours, forward(model, request));
  const auto logits = std::find_if(ours.begin(), ours.end(), [](const auto& t) { return t.name == "logits"; });
  if (logits == ours.end() || logits->shape.back() == 0) return Outcome::failed("no logits came back");
  const uint64_t vocabulary = logits->shape.back();
  Outcome outcome;
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] < 0 || static_cast<uint64_t>(target[i]) >= vocabulary)
      return Outcome::failed("the record is damaged: id " + std::to_string(target[i]));
    const double value = log_probability(logits->values.data() + i * vocabulary, vocabulary, target[i]);
    outcome.compare(std::abs(value - expected[i]), c.at("atol_fp32").get<double>(), "token " + std::to_string(i));
  }
  return outcome;
}

Result<Outcome> run_text(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                         const Json& c) {
  GenerateRequest request;
  request.deterministic = true;
  LAPILLI_TRY(request.sources, masked_rows(record, c.at("inputs"), "input_ids", "attention_mask"));
  if (request.sources.size() != 1) return Outcome::unsupported("the text of several sources");
  // The lists that these records come from were made with four beams.
  LAPILLI_TRY(request.options, parse_generation_config(c.value("args", Json{{"num_beams", 4}}), "args"));
  if (c.contains("decoder_prefix")) request.decoder_ids.push_back(c["decoder_prefix"].get<std::vector<int32_t>>());
  LAPILLI_TRY(const auto ours, generate(model, request));
  const auto& ids = ours.hypotheses.at(0).at(0).ids;
  LAPILLI_TRY(const auto text, model->tokenizer() ? model->tokenizer()->decode(ids) : text_by_table(directory, ids));
  Outcome outcome;
  if (text != c.at("text").get<std::string>()) outcome.fail("wrote \"" + text + "\", not " + c.at("text").dump());
  return outcome;
}

}  // namespace lapilli::conformance
