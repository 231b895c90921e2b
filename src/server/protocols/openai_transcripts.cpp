#include "server/protocols/openai_transcripts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#ifdef LAPILLI_HAVE_ZLIB
#include <zlib.h>
#endif

#include "server/protocols/answers.hpp"
#include "server/protocols/spoken_languages.hpp"
#include "subtitles/subtitle_writer.hpp"

namespace lapilli::server {

namespace {

std::string without_blanks(const std::string& text) { return subtitles::trimmed(text); }

// JSON has neither infinity nor NaN. A float becomes the shortest decimal that is the same float.
Json number_of(float value) {
  if (!std::isfinite(value)) return nullptr;
  return Json::parse(float_text(value));
}

// Seconds with two digits, as the model's times have them.
double seconds_of(double value) { return std::round(value * 100) / 100; }

// How many times smaller zlib makes the text; null in a build without it.
Json compression_ratio(const std::string& text) {
#ifdef LAPILLI_HAVE_ZLIB
  if (text.empty()) return 0.0;
  std::string packed(compressBound(static_cast<uLong>(text.size())), '\0');
  uLongf bytes = static_cast<uLongf>(packed.size());
  const auto* from = reinterpret_cast<const Bytef*>(text.data());
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &bytes, from, static_cast<uLong>(text.size())) == Z_OK)
    return static_cast<double>(text.size()) / static_cast<double>(bytes);
#else
  (void)text;
#endif
  return nullptr;
}

subtitles::SpokenLine line_of(const Segment& segment) {
  subtitles::SpokenLine line{segment.begin, segment.end, segment.text, segment.ids, {}};
  line.language = segment.language;
  return line;
}

std::string subtitles_of(const Output& output, const TranscriptStyle& style) {
  subtitles::SubtitleStyle how;
  how.vtt = style.format == "vtt";
  subtitles::SubtitleWriter writer(how);
  std::string all = writer.head();
  for (const Segment& segment : output.segments) all += writer.line(line_of(segment), style.duration);
  return all;
}

Json usage_of(const TranscriptStyle& style) {
  return {{"type", "duration"}, {"seconds", static_cast<int64_t>(std::ceil(style.duration))}};
}

// The text of each window, whose segments share its measures.
std::map<double, std::string> texts_of_windows(const Output& output) {
  std::map<double, std::string> texts;
  for (const Segment& segment : output.segments) texts[segment.window_begin] += segment.text;
  return texts;
}

Json segments_json(const Output& output, const TranscriptStyle& style) {
  constexpr double kFramesASecond = 100;
  Json all = Json::array();
  auto texts = texts_of_windows(output);
  for (const Segment& s : output.segments) {
    all.push_back({{"id", all.size()},
                   {"seek", std::llround(s.window_begin * kFramesASecond)},
                   {"start", seconds_of(s.begin)},
                   {"end", seconds_of(s.end)},
                   {"text", s.text},
                   {"tokens", s.ids},
                   {"temperature", style.temperature},
                   {"avg_logprob", number_of(s.log_probability)},
                   {"compression_ratio", compression_ratio(without_blanks(texts[s.window_begin]))},
                   {"no_speech_prob", number_of(s.no_speech_probability)}});
  }
  return all;
}

Json words_json(const Output& output) {
  Json all = Json::array();
  for (const Segment& segment : output.segments)
    for (const Word& word : segment.words)
      all.push_back(
          {{"word", without_blanks(word.text)}, {"start", seconds_of(word.begin)}, {"end", seconds_of(word.end)}});
  return all;
}

std::string language_of(const Output& output, const TranscriptStyle& style) {
  for (const Segment& segment : output.segments)
    if (!segment.language.empty()) return spoken_language(segment.language);
  return spoken_language(style.language);
}

std::string verbose(const Output& output, const TranscriptStyle& style) {
  Json json = {{"task", style.task},
               {"language", language_of(output, style)},
               {"duration", seconds_of(style.duration)},
               {"text", transcript_text(output)}};
  if (style.segments) json["segments"] = segments_json(output, style);
  if (style.words) json["words"] = words_json(output);
  json["usage"] = usage_of(style);
  return json_line(json);
}

Json bytes_of(const std::string& text) {
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

// Ids without a text, such as times, are left out.
Json log_probabilities(const Output& output, const Model& model) {
  Json all = Json::array();
  if (output.sequences.empty()) return all;
  const Sequence& sequence = output.sequences.front();
  for (size_t i = 0; i < sequence.ids.size() && i < sequence.token_scores.size(); ++i) {
    const auto token = model.decode({sequence.ids[i]});
    if (!token || token->empty()) continue;
    all.push_back({{"token", *token}, {"logprob", number_of(sequence.token_scores[i])}, {"bytes", bytes_of(*token)}});
  }
  return all;
}

}  // namespace

std::string transcript_text(const Output& output) {
  std::string all;
  for (const Segment& segment : output.segments) all += segment.text;
  return without_blanks(output.segments.empty() ? output.text() : all);
}

std::string transcript(const Output& output, const TranscriptStyle& style, const Model& model) {
  if (style.format == "text") return transcript_text(output) + "\n";
  if (style.format == "srt" || style.format == "vtt") return subtitles_of(output, style);
  if (style.format == "verbose_json") return verbose(output, style);
  Json json = {{"text", transcript_text(output)}};
  if (style.log_probabilities) json["logprobs"] = log_probabilities(output, model);
  json["usage"] = usage_of(style);
  return json_line(json);
}

const char* transcript_type(const std::string& format) {
  if (format == "text" || format == "srt") return "text/plain; charset=utf-8";
  return format == "vtt" ? "text/vtt; charset=utf-8" : "application/json";
}

std::string transcript_delta(const std::string& text) {
  return "data: " + json_line({{"type", "transcript.text.delta"}, {"delta", text}}) + "\n\n";
}

std::string transcript_done(const Output& output, const TranscriptStyle& style, const Model& model) {
  Json json = {{"type", "transcript.text.done"}, {"text", transcript_text(output)}};
  if (style.log_probabilities) json["logprobs"] = log_probabilities(output, model);
  json["usage"] = usage_of(style);
  return "data: " + json_line(json) + "\n\n";
}

}  // namespace lapilli::server
