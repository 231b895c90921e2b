// Cases of kinds "asr", "asr_token_timestamps", "asr_long" and "detect_language" (Whisper): segments, times, and the
// windows that lead to them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/filled_batch.hpp"
#include "conformance/folder.hpp"
#include "generate/generate.hpp"
#include "search/network_on_device.hpp"
#include "speech/language_detection.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

constexpr double kTime = 1e-3;     // seconds; what the records are rounded to
constexpr double kMeasure = 1e-4;  // logarithms and probabilities of six recorded digits, and the rounding of fp32

// The reference cuts rows by their masks only where there are several and they are longer than a window; times of ids
// go by masks everywhere, and without them by whole windows.
Result<std::vector<speech::Recording>> recordings_of(const Model& model, const Record& record, const Json& c) {
  LAPILLI_TRY(const auto sources, read_sources(record, c.at("inputs"), model.on_device().config()));
  std::vector<std::vector<int32_t>> masks;
  if (c["inputs"].contains("attention_mask")) {
    LAPILLI_TRY(masks, read_ids(record, c["inputs"]["attention_mask"].get<std::string>()));
  }
  std::vector<speech::Recording> all;
  for (size_t i = 0; i < sources.features.size(); ++i) {
    uint64_t frames = sources.features[i]->rows, timed = std::numeric_limits<uint64_t>::max();
    if (!masks.empty()) {
      const auto& mask = masks.at(i);
      timed = std::min<uint64_t>(frames, static_cast<uint64_t>(std::count(mask.begin(), mask.end(), 1)));
      if (sources.features.size() > 1 && frames > model.info().feature_rows) frames = timed;
    }
    all.push_back(speech::recording_of(sources.features[i], frames));
    all.back().timed_frames = timed;
  }
  return all;
}

template <class T>
void take(Json& args, const char* key, T& to) {
  if (args.contains(key) && !args[key].is_null()) to = args[key].get<T>();
  args.erase(key);
}
void take(Json& args, const char* key, std::optional<double>& to) {
  if (args.contains(key) && !args[key].is_null()) to = args[key].get<double>();
  args.erase(key);
}

// One, or one a row.
template <class T>
void take_list(Json& args, const char* key, std::vector<T>& to) {
  if (!args.contains(key)) return;
  if (args[key].is_array())
    to = args[key].get<std::vector<T>>();
  else if (!args[key].is_null())
    to = {args[key].get<T>()};
  args.erase(key);
}

Result<speech::TranscribeRequest> request_of(const Model& model, const Record& record, const Json& c) {
  speech::TranscribeRequest r;
  LAPILLI_TRY(r.recordings, recordings_of(model, record, c));
  Json args = c.value("args", Json::object());
  r.timestamps = model.speech().return_timestamps;
  r.fill_batches = true;
  bool segments = false;
  std::string prompt_in;
  take_list(args, "language", r.languages);
  take_list(args, "temperature", r.temperatures);
  take(args, "task", r.task);
  take(args, "return_timestamps", r.timestamps);
  take(args, "return_token_timestamps", r.word_times);
  take(args, "return_segments", segments);
  take(args, "prompt_ids", r.prompt_ids);
  take(args, "prompt_condition_type", prompt_in);
  take(args, "condition_on_prev_tokens", r.condition_on_previous);
  take(args, "compression_ratio_threshold", r.compression_ratio_threshold);
  take(args, "logprob_threshold", r.logprob_threshold);
  take(args, "no_speech_threshold", r.no_speech_threshold);
  r.prompt_in_all_windows = prompt_in == "all-segments";
  args.erase("num_return_sequences");  // the reference repeats the best one
  LAPILLI_TRY(r.options, parse_generation_config(args, "args"));
  if (!r.options.unknown.empty()) return fail(ErrorCode::unsupported, "argument %s", r.options.unknown.front().c_str());
  return r;
}

std::string said_ids(const Ids& ids) {
  std::string t;
  for (const int32_t id : ids) t += (t.empty() ? "" : " ") + std::to_string(id);
  return t;
}

std::string where(const char* what, size_t i) { return std::string(what) + " " + std::to_string(i); }

class Comparison {
 public:
  Comparison(const Record& record, const Json& c, const speech::TranscribeOutput& ours)
      : record_(record), c_(c), ours_(ours) {}

  Outcome run() {
    sequences();
    if (c_.contains("segments")) segments();
    if (c_.contains("windows")) windows();
    if (c_.contains("token_timestamps")) times_in_windows();
    return o_;
  }

 private:
  // Rows are filled on the right; every source stands there as often as sequences were asked for.
  void sequences() {
    const auto expected = c_.at("sequences").get<std::vector<Ids>>();
    const size_t rows = ours_.transcripts.size(), copies = expected.size() / std::max<size_t>(rows, 1);
    if (rows == 0 || expected.size() != rows * copies || copies == 0)
      return o_.fail(std::to_string(rows) + " transcripts for " + std::to_string(expected.size()) + " sequences");
    const auto fill = record_.json.at("special_tokens").at("pad").get<int32_t>();
    for (size_t i = 0; i < expected.size(); ++i) {
      Ids ids;
      for (const auto& s : ours_.transcripts[i / copies].segments) ids.insert(ids.end(), s.ids.begin(), s.ids.end());
      ids.resize(std::max(ids.size(), expected[i].size()), fill);
      if (ids != expected[i]) o_.fail(where("sequence", i) + " is " + said_ids(ids) + ", not " + said_ids(expected[i]));
    }
  }

  void segments() {
    const Json& rows = c_["segments"];
    if (rows.size() != ours_.transcripts.size()) return o_.fail("another number of rows of segments");
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto& list = ours_.transcripts[i].segments;
      if (list.size() != rows[i].size())
        return o_.fail(where("row", i) + " has " + std::to_string(list.size()) + " segments, not " +
                       std::to_string(rows[i].size()));
      for (size_t k = 0; k < list.size(); ++k)
        segment(list[k], rows[i][k], where("segment", k) + " of row " + std::to_string(i));
    }
  }

  void segment(const speech::Segment& s, const Json& expected, const std::string& what) {
    if (s.ids != expected.at("tokens").get<Ids>()) o_.fail(what + " has other ids: " + said_ids(s.ids));
    o_.compare(std::abs(s.begin - expected.at("start").get<double>()), kTime, what + ", start");
    o_.compare(std::abs(s.end - expected.at("end").get<double>()), kTime, what + ", end");
    if (expected.contains("token_timestamps"))
      times(s.times, expected["token_timestamps"].get<std::vector<double>>(), what);
  }

  void times(const std::vector<double>& ours, const std::vector<double>& expected, const std::string& what) {
    if (ours.size() > expected.size()) return o_.fail(what + " has another number of times");
    for (size_t i = 0; i < ours.size(); ++i)
      o_.compare(std::abs(ours[i] - expected[i]), kTime,
                 what + ", time " + std::to_string(i) + ", " + Json(ours).dump() + ",");
  }

  // Times of whole rows count from the window of an id.
  void times_in_windows() {
    std::vector<std::vector<double>> rows(ours_.transcripts.size());
    std::vector<size_t> next(rows.size(), 0);
    for (const auto& w : ours_.windows)
      for (uint32_t k = 0; k < w.segments; ++k) {
        const auto& s = ours_.transcripts[w.recording].segments.at(next[w.recording]++);
        for (const double t : s.times) rows[w.recording].push_back(t - static_cast<double>(w.seek) * 0.01);
      }
    for (size_t i = 0; i < rows.size(); ++i)
      times(rows[i], c_["token_timestamps"].at(i).get<std::vector<double>>(), where("row", i));
  }

  void windows() {
    const Json& list = c_["windows"];
    for (size_t i = 0; i < std::min(list.size(), ours_.windows.size()); ++i)
      window(ours_.windows[i], list[i], where("window", i));
    if (list.size() != ours_.windows.size())
      o_.fail(std::to_string(ours_.windows.size()) + " windows, not " + std::to_string(list.size()));
  }

  template <class T>
  void equal(const Json& expected, const char* key, const T& ours, const std::string& what) {
    if (!expected.contains(key) || expected[key].is_null()) return;
    if (expected[key].get<T>() != ours)
      o_.fail(what + ": " + key + " is " + Json(ours).dump() + ", not " + expected[key].dump());
  }
  void measure(const Json& expected, const char* key, const std::optional<double>& ours, const std::string& what) {
    if (!expected.contains(key) || expected[key].is_null()) return;
    if (!ours) return o_.fail(what + ": " + key + " was not measured");
    o_.compare(std::abs(*ours - expected[key].get<double>()), kMeasure, what + ", " + key);
  }

  void window(const speech::Window& w, const Json& expected, const std::string& what) {
    equal(expected, "row", w.recording, what);
    equal(expected, "seek", w.seek, what);
    equal(expected, "decoder_input_ids", w.decoder_ids, what);
    equal(expected, "skipped", w.skipped, what);
    const Json& attempts = expected.at("attempts");
    if (attempts.size() != w.attempts.size())
      return o_.fail(what + " took " + std::to_string(w.attempts.size()) + " attempts, not " +
                     std::to_string(attempts.size()));
    for (size_t k = 0; k < w.attempts.size(); ++k)
      attempt(w.attempts[k], attempts[k], what + ", " + where("attempt", k));
    if (w.skipped) return;
    equal(expected, "frames", w.frames, what);
    equal(expected, "segments", w.segments, what);
    equal(expected, "advance", w.advance, what);
    equal(expected, "ending", std::string(speech::name(w.ending)), what);
  }

  void attempt(const speech::Attempt& a, const Json& expected, const std::string& what) {
    equal(expected, "tokens", a.ids, what);
    equal(expected, "skip", a.skip, what);
    equal(expected, "fallback", a.fallback, what);
    measure(expected, "temperature", a.temperature, what);
    measure(expected, "compression_ratio", a.compression_ratio, what);
    measure(expected, "average_log_probability", a.average_log_probability, what);
    measure(expected, "no_speech_probability", a.no_speech_probability, what);
  }

  const Record& record_;
  const Json& c_;
  const speech::TranscribeOutput& ours_;
  Outcome o_;
};

// The id of each recording's language, by its first window.
Result<std::vector<int32_t>> detect_languages(const std::shared_ptr<Model>& model,
                                              const std::vector<speech::Recording>& recordings) {
  LAPILLI_CHECK(speech::check_transcribes(*model));
  speech::LanguageDetection detection(model, recordings);
  for (;;) {
    LAPILLI_TRY(const bool done, detection.poll(std::numeric_limits<double>::infinity()));
    if (done) return detection.found();
    LAPILLI_CHECK(detection.wait());
  }
}

Result<Outcome> run_detection(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  LAPILLI_TRY(const auto recordings, recordings_of(*model, record, c));
  LAPILLI_TRY(const auto ours, detect_languages(model, recordings));
  const auto expected = c.at("language_ids").get<Ids>();
  Outcome o;
  if (ours != expected) o.fail("languages are " + said_ids(ours) + ", not " + said_ids(expected));
  return o;
}

}  // namespace

Result<Outcome> run_speech(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  if (c.at("kind") == "detect_language") return run_detection(model, record, c);
  LAPILLI_TRY(const auto request, request_of(*model, record, c));
  const bool filled = request.condition_on_previous && request.recordings.size() > 1;
  const auto pad = record.json.at("special_tokens").at("pad").get<int32_t>();
  LAPILLI_TRY(const auto ours, filled ? transcribe_filled(model, request, pad) : speech::transcribe(model, request));
  return Comparison(record, c, ours).run();
}

}  // namespace lapilli::conformance
