#include "cli/run/score_output.hpp"

#include <cmath>
#include <cstdio>

#include "cli/output.hpp"
#include "cli/run/line_output.hpp"
#include "cli/run/text_json.hpp"

namespace lapilli::cli {

namespace {

std::string digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string perplexity_text(const ScoreSum& sum, const char* none) {
  const auto perplexity = sum.perplexity();
  return perplexity && std::isfinite(*perplexity) ? digits(*perplexity) : none;
}

ScoreSum sum_of(const Output& output) {
  ScoreSum sum;
  if (!output.sequences.empty()) sum.add(output.sequences.front());
  return sum;
}

// Each id's logarithm; null for those that have none.
std::string logarithms(const std::vector<float>& scores) {
  std::string text = "[";
  for (const float score : scores) {
    char number[32] = "null";
    if (std::isfinite(score)) std::snprintf(number, sizeof number, "%.9g", static_cast<double>(score));
    text += (text.size() == 1 ? "" : ",") + std::string(number);
  }
  return text + "]";
}

// The members of the object of a text.
std::string members(const Output& output, bool token_scores) {
  const ScoreSum sum = sum_of(output);
  std::string out = "\"perplexity\":" + perplexity_text(sum, "null") +
                    ",\"log_probability\":" + digits(sum.log_probability) + ",\"tokens\":" + std::to_string(sum.tokens);
  if (output.windows > 1) out += ",\"windows\":" + std::to_string(output.windows);
  if (!token_scores || output.sequences.empty()) return out;
  const Sequence& sequence = output.sequences.front();
  return out + ",\"ids\":" + ids_json(sequence.ids) + ",\"token_scores\":" + logarithms(sequence.token_scores);
}

}  // namespace

void ScoreSum::add(const Sequence& sequence) {
  for (const float score : sequence.token_scores) {
    if (std::isnan(score)) continue;
    log_probability += static_cast<double>(score);
    ++tokens;
  }
}

std::optional<double> ScoreSum::perplexity() const {
  if (tokens == 0) return std::nullopt;
  return std::exp(-log_probability / static_cast<double>(tokens));
}

std::string scores_json(const Output& output, bool token_scores) { return "{" + members(output, token_scores) + "}"; }

std::string scores_output(const LineResult& result, uint64_t number, const TextArguments& arguments) {
  if (arguments.json) {
    const std::string out = "{\"line\":" + std::to_string(number) + ",";
    if (result.status != Status::ok) return out + error_json(result);
    return out + (result.output ? members(*result.output, arguments.scores) : members({}, false)) + "}";
  }
  if (result.status != Status::ok || !result.output) return "";
  const ScoreSum sum = sum_of(*result.output);
  return perplexity_text(sum, "-") + "\t" + digits(sum.log_probability) + "\t" + std::to_string(sum.tokens);
}

std::string why_unscored(const Output& output) {
  if (output.sequences.empty() || sum_of(output).tokens > 0) return "";
  return output.sequences.front().ids.empty()
             ? "the text has no token, so that there is nothing to score"
             : "the text has a single token: none stands before it, so that it has no score";
}

std::string total_text(uint64_t texts, const ScoreSum& sum) {
  return std::to_string(texts) + " texts, " + std::to_string(sum.tokens) + " tokens scored, perplexity " +
         perplexity_text(sum, "-");
}

}  // namespace lapilli::cli
