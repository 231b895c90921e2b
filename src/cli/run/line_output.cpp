#include "cli/run/line_output.hpp"

#include <cstdio>

#include "cli/output.hpp"
#include "cli/run/text_json.hpp"
#include "cli/run/unsure.hpp"

namespace lapilli::cli {

namespace {

// How a line came to its text where no model wrote it.
const char* finish_without_output(const LineResult& result) {
  if (result.nothing_between) return "empty";
  return result.is_made() ? "memory" : "kept";
}

std::string line_text(const LineResult& result, bool ids) {
  if (result.status != Status::ok || !result.is_made()) return "";
  const std::string text = ids ? ids_text(result.output->sequences.front().ids) : result.text();
  return in_one_line(text) + (result.alignments.empty() ? "" : result.alignments.front());
}

std::string line_json(const LineResult& result, uint64_t number, const TextArguments& arguments,
                      const std::optional<double>& unsure_below) {
  std::string out = "{\"line\":" + std::to_string(number) + ",";
  if (result.status != Status::ok) return out + error_json(result);
  if (!result.output)
    return out + "\"text\":" + json_string(result.text()) + ",\"score\":0,\"ids\":[],\"finish\":\"" +
           finish_without_output(result) + "\"}";
  const auto& sequences = result.output->sequences;
  const auto sequence = [&](size_t i) {
    const std::string& text = i < result.texts.size() ? result.texts[i] : sequences[i].text;
    return sequence_json(sequences[i], text, arguments.scores) +
           (i == 0 && is_unsure(sequences[0], unsure_below) ? ",\"unsure\":true" : "") +
           (i < result.alignments.size() ? result.alignments[i] : "") + "}";
  };
  if (arguments.nbest == 1 && sequences.size() == 1) return out + sequence(0);
  out += "\"sequences\":[";
  for (size_t i = 0; i < sequences.size(); ++i) out += (i == 0 ? "{" : ",{") + sequence(i);
  return out + "]}";
}

}  // namespace

std::string error_json(const LineResult& result) {
  return "\"error\":{\"code\":" + json_string(name_of(result.status)) + ",\"message\":" + json_string(result.error) +
         "}}";
}

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
    if (result.status != Status::ok) return out + error_json(result);
    const bool cut = result.output && result.output->cut;
    return out + "\"classes\":" + classes_json(classes) + (cut ? ",\"cut\":true}" : "}");
  }
  std::string text;
  for (const Class& c : classes) {
    char probability[32];
    std::snprintf(probability, sizeof probability, " %.3f", c.probability);
    text += (text.empty() ? "" : "\t") + in_one_field(c.label) + probability;
  }
  return text;
}

namespace {

std::string places_json(const Span& span) {
  return "\"begin\":" + std::to_string(span.begin) + ",\"end\":" + std::to_string(span.end) +
         ",\"first_character\":" + std::to_string(span.first_character) +
         ",\"end_character\":" + std::to_string(span.end_character);
}

std::string score_json(const Span& span) {
  char score[48];
  std::snprintf(score, sizeof score, ",\"score\":%.9g", span.score);
  return score;
}

std::string span_json(const Span& span, Makes makes) {
  const std::string label = makes == Makes::tags ? "\"label\":" + json_string(span.label) + "," : "";
  return "{" + label + "\"text\":" + json_string(span.text) + score_json(span) + "," + places_json(span) + "}";
}

std::string word_json(const Span& span) {
  return "{\"text\":" + json_string(span.text) + ",\"token\":" + std::to_string(span.token) + score_json(span) +
         ",\"filled\":" + json_string(span.filled) + "}";
}

bool same_mask(const std::vector<Span>& spans, size_t i) { return i > 0 && spans[i].begin == spans[i - 1].begin; }

std::string masks_json(const std::vector<Span>& spans) {
  std::string out = "[";
  for (size_t i = 0; i < spans.size(); ++i) {
    const bool again = same_mask(spans, i);
    if (i > 0) out += again ? "," : "]},";
    if (!again) out += "{" + places_json(spans[i]) + ",\"words\":[";
    out += word_json(spans[i]);
  }
  return out + (spans.empty() ? "]" : "]}]");
}

std::string span_text(const Span& span, Makes makes) {
  char score[32];
  std::snprintf(score, sizeof score, " %.3f", span.score);
  const std::string label = makes == Makes::tags ? " " + in_one_field(span.label) : "";
  const std::string place = makes != Makes::answers ? ""
                                                    : " at " + std::to_string(span.first_character) + "-" +
                                                          std::to_string(span.end_character);
  return in_one_field(span.text) + label + score + place;
}

}  // namespace

std::string spans_json(const std::vector<Span>& spans, Makes makes) {
  if (makes == Makes::fills) return masks_json(spans);
  std::string out = "[";
  for (const Span& span : spans) out += (out.size() > 1 ? "," : "") + span_json(span, makes);
  return out + "]";
}

std::string spans_output(const LineResult& result, uint64_t number, Makes makes, bool json) {
  const std::vector<Span> spans = result.output ? result.output->spans : std::vector<Span>();
  if (!json) {
    std::string text;
    for (size_t i = 0; i < spans.size(); ++i) {
      const bool other_mask = makes == Makes::fills && i > 0 && !same_mask(spans, i);
      text += (i == 0 ? "" : other_mask ? "\t|\t" : "\t") + span_text(spans[i], makes);
    }
    return text;
  }
  const std::string out = "{\"line\":" + std::to_string(number) + ",";
  if (result.status != Status::ok) return out + error_json(result);
  const char* key = makes == Makes::tags ? "tags" : makes == Makes::answers ? "answers" : "masks";
  const bool windows = result.output && result.output->windows > 1;
  return out + "\"" + key + "\":" + spans_json(spans, makes) +
         (windows ? ",\"windows\":" + std::to_string(result.output->windows) : "") +
         (result.output && result.output->cut ? ",\"cut\":true" : "") + "}";
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
