#include "cli/run/text_json.hpp"

#include <cmath>
#include <cstdio>

#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

// JSON has neither infinity nor NaN.
std::string number(float value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", static_cast<double>(value));
  return text;
}

std::string numbers(const std::vector<float>& values) {
  std::string text = "[";
  for (const float v : values) text += (text.size() == 1 ? "" : ",") + number(v);
  return text + "]";
}

std::string range_json(size_t begin, size_t end) {
  return "[" + std::to_string(begin) + "," + std::to_string(end) + "]";
}

const char* finish_name(Finish finish) {
  switch (finish) {
    case Finish::length: return "length";
    case Finish::kept: return "kept";
    default: return "stop";
  }
}

std::string finish_json(Finish finish, bool repeats) {
  return std::string(",\"finish\":\"") + finish_name(finish) + (repeats ? "\",\"repeats\":true" : "\"");
}

}  // namespace

std::string ids_json(const Ids& ids) {
  std::string text = "[";
  for (int32_t id : ids) text += (text.size() == 1 ? "" : ",") + std::to_string(id);
  return text + "]";
}

std::string sequence_json(const Sequence& sequence, const std::string& text, bool token_scores) {
  std::string out = "\"text\":" + json_string(text) + ",\"score\":" + number(sequence.score) +
                    ",\"ids\":" + ids_json(sequence.ids) + finish_json(sequence.finish, sequence.repeats);
  if (token_scores) out += ",\"token_scores\":" + numbers(sequence.token_scores);
  if (sequence.parts.size() < 2) return out;
  out += ",\"parts\":[";
  for (size_t i = 0; i < sequence.parts.size(); ++i) {
    const Part& p = sequence.parts[i];
    out += std::string(i == 0 ? "" : ",") + "{\"text\":" + json_string(p.text) + ",\"score\":" + number(p.score) +
           ",\"ids\":" + ids_json(p.ids) + finish_json(p.finish, p.repeats) +
           ",\"source_bytes\":" + range_json(p.source_begin, p.source_end) +
           ",\"target_bytes\":" + range_json(p.target_begin, p.target_end) + "}";
  }
  return out + "]";
}

}  // namespace lapilli::cli
