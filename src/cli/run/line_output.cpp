#include "cli/run/line_output.hpp"

#include <cstdio>

#include "cli/output.hpp"
#include "cli/run/text_json.hpp"
#include "cli/run/unsure.hpp"

namespace lapilli::cli {

namespace {

std::string line_text(const LineResult& result, bool ids) {
  if (result.status != Status::ok || !result.output) return "";
  const std::string text = ids ? ids_text(result.output->sequences.front().ids) : result.output->text();
  return in_one_line(text) + (result.alignments.empty() ? "" : result.alignments.front());
}

std::string error_json(const LineResult& result) {
  return "\"error\":{\"code\":" + json_string(name_of(result.status)) + ",\"message\":" + json_string(result.error) +
         "}}";
}

std::string line_json(const LineResult& result, uint64_t number, const TextArguments& arguments,
                      const std::optional<double>& unsure_below) {
  std::string out = "{\"line\":" + std::to_string(number) + ",";
  if (result.status != Status::ok) return out + error_json(result);
  if (!result.output) return out + "\"text\":\"\",\"score\":0,\"ids\":[],\"finish\":\"kept\"}";
  const auto& sequences = result.output->sequences;
  const auto sequence = [&](size_t i) {
    return sequence_json(sequences[i], arguments.scores) +
           (i == 0 && is_unsure(sequences[0], unsure_below) ? ",\"unsure\":true" : "") +
           (i < result.alignments.size() ? result.alignments[i] : "") + "}";
  };
  if (arguments.nbest == 1 && sequences.size() == 1) return out + sequence(0);
  out += "\"sequences\":[";
  for (size_t i = 0; i < sequences.size(); ++i) out += (i == 0 ? "{" : ",{") + sequence(i);
  return out + "]}";
}

}  // namespace

std::string vector_output(const LineResult& result, uint64_t number, VectorFormat format, uint32_t dimensions) {
  const std::vector<float> values = result.output ? result.output->vector : std::vector<float>();
  if (format != VectorFormat::json) return vector_bytes(values, dimensions);
  const std::string out = "{\"line\":" + std::to_string(number) + ",";
  if (result.status != Status::ok) return out + error_json(result) + "\n";
  return out + "\"embedding\":" + vector_json(values) + ",\"tokens\":" + std::to_string(result.output->tokens) +
         (result.output->cut ? ",\"cut\":true" : "") + "}\n";
}

std::string classes_json(const std::vector<Class>& classes) {
  std::string out = "[";
  for (const Class& c : classes) {
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, ",\"probability\":%.9g,\"score\":%.9g}", c.probability, c.score);
    out += (out.size() > 1 ? "," : "") + ("{\"class\":" + std::to_string(c.index)) +
           ",\"label\":" + json_string(c.label) + numbers;
  }
  return out + "]";
}

std::string classes_output(const LineResult& result, uint64_t number, bool json) {
  const std::vector<Class> classes = result.output ? result.output->classes : std::vector<Class>();
  if (json) {
    const std::string out = "{\"line\":" + std::to_string(number) + ",";
    return out + (result.status != Status::ok ? error_json(result) : "\"classes\":" + classes_json(classes) + "}");
  }
  std::string text;
  for (const Class& c : classes) {
    char probability[32];
    std::snprintf(probability, sizeof probability, " %.3f", c.probability);
    text += (text.empty() ? "" : "\t") + in_one_field(c.label) + probability;
  }
  return text;
}

std::string in_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::string line_output(const LineResult& result, uint64_t number, const TextArguments& arguments,
                        const std::optional<double>& unsure_below) {
  return arguments.json ? line_json(result, number, arguments, unsure_below) : line_text(result, arguments.ids);
}

}  // namespace lapilli::cli
