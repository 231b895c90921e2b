#include "speech/transcribe.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "search/encoded_source.hpp"
#include "speech/measures.hpp"
#include "speech/prefix.hpp"
#include "speech/window.hpp"
#include "speech/window_search.hpp"

namespace lapilli::speech {

namespace {

constexpr double kSecondsPerFrame = 0.01;
constexpr double kSecondsPerUnit = 0.02;  // of a timestamp
// Above this temperature what was written is not worth going on from.
constexpr double kLastTrusted = 0.5;

// The window's frames from `seek` on; behind the recording's end there are zeros, which is not what silence looks like,
// but what the models were trained with.
Result<std::shared_ptr<const model::Features>> read_window(const ModelInfo& info, const Recording& recording,
                                                           uint64_t seek) {
  auto f = std::make_shared<model::Features>();
  f->rows = info.feature_rows;
  f->width = info.feature_width;
  f->values.assign(uint64_t{f->rows} * f->width, 0.0f);
  const uint64_t there = std::min<uint64_t>(f->rows, recording.frames - seek);
  LAPILLI_CHECK(recording.read(seek, std::span(f->values).first(there * f->width)));
  return std::shared_ptr<const model::Features>(std::move(f));
}

// One recording and how far it has come.
struct Progress {
  const Recording* recording = nullptr;
  std::vector<int32_t> prefix;
  uint64_t seek = 0;
  std::vector<std::vector<int32_t>> written;  // ids of its segments, the prompt in front if it counts as one
  bool trusted = true;                        // its last window was taken at a low temperature
  WindowSource source;
  Window window;
  WindowResult result;  // of the last attempt
  [[nodiscard]] bool done() const { return seek >= recording->frames; }
};

class Transcriber {
 public:
  Transcriber(std::shared_ptr<Model> model, const TranscribeRequest& request)
      : model_(std::move(model)), settings_(model_->speech()), r_(request), search_(model_, request) {}

  Result<TranscribeOutput> run() {
    LAPILLI_CHECK(check());
    LAPILLI_CHECK(begin());
    for (auto active = unfinished(); !active.empty(); active = unfinished()) {
      if (r_.progress && !r_.progress(frames_done(), all_frames())) return fail(ErrorCode::cancelled, "cancelled");
      LAPILLI_CHECK(run_windows(active));
      for (const size_t i : active) LAPILLI_CHECK(finish_window(i));
    }
    if (r_.progress) (void)r_.progress(all_frames(), all_frames());
    return std::move(out_);
  }

 private:
  [[nodiscard]] Status check() const;
  Status begin();
  Status begin_recording(size_t i);
  Status run_windows(std::span<const size_t> active);
  Status open_window(size_t i);
  Result<std::vector<size_t>> attempt(std::span<const size_t> rows, std::optional<double> temperature, bool last);
  Status judge(Progress& p, std::optional<double> temperature, bool last, bool& again);
  Status finish_window(size_t i);
  Status keep_window(size_t i, const std::vector<int32_t>& ids);
  Status deliver(size_t i, const WindowPart& part, const std::vector<int32_t>& ids);
  [[nodiscard]] std::vector<int32_t> before_prefix(const Progress& p) const;
  [[nodiscard]] std::vector<int32_t> written_before(const Progress& p) const;
  [[nodiscard]] std::vector<int32_t> without_end(const std::vector<int32_t>& ids) const;

  [[nodiscard]] const ModelInfo& info() const { return model_->info(); }
  [[nodiscard]] int32_t timestamp_begin() const { return settings_.no_timestamps.value_or(INT32_MAX - 1) + 1; }
  [[nodiscard]] std::vector<size_t> unfinished() const {
    std::vector<size_t> rows;
    for (size_t i = 0; i < all_.size(); ++i)
      if (!all_[i].done()) rows.push_back(i);
    return rows;
  }
  [[nodiscard]] uint64_t frames_done() const {
    uint64_t n = 0;
    for (const Progress& p : all_) n += std::min(p.seek, p.recording->frames);
    return n;
  }
  [[nodiscard]] uint64_t all_frames() const {
    uint64_t n = 0;
    for (const Progress& p : all_) n += p.recording->frames;
    return n;
  }

  std::shared_ptr<Model> model_;
  const SpeechSettings& settings_;
  const TranscribeRequest& r_;
  WindowSearch search_;
  std::vector<Progress> all_;
  TranscribeOutput out_;
  uint32_t sequences_ = 0;  // windows so far
};

Status check_model(const Model& model) {
  if (model.info().family == "whisper" && model.info().feature_rows != 0) return {};
  return fail(ErrorCode::unsupported, "%s models do not transcribe; a directory of the Whisper family does",
              model.info().family.c_str());
}

Status Transcriber::check() const {
  LAPILLI_CHECK(check_model(*model_));
  if (r_.recordings.empty()) return fail(ErrorCode::invalid_argument, "no recordings");
  if (r_.languages.size() > 1 && r_.languages.size() != r_.recordings.size())
    return fail(ErrorCode::invalid_argument, "%zu languages for %zu recordings", r_.languages.size(),
                r_.recordings.size());
  if (r_.timestamps && !settings_.no_timestamps)
    return fail(ErrorCode::unsupported, "timestamps: the model has none (no_timestamps_token_id is not set)");
  if (r_.word_times && settings_.alignment_heads.empty())
    return fail(ErrorCode::unsupported, "times of words: the model's generation_config.json names no alignment_heads");
  for (size_t i = 0; i < r_.recordings.size(); ++i)
    if (!r_.timestamps && r_.recordings[i].frames > info().feature_rows)
      return fail(ErrorCode::invalid_argument,
                  "recording %zu is longer than a window of %u frames: ask for timestamps, which say where the next "
                  "window begins",
                  i, info().feature_rows);
  if (r_.no_speech_threshold && (!r_.logprob_threshold || !settings_.no_timestamps))
    return fail(ErrorCode::invalid_argument, "no_speech_threshold goes together with logprob_threshold");
  if (r_.condition_on_previous && !settings_.previous_start && r_.prompt_ids.empty())
    return fail(ErrorCode::unsupported, "the model has no mark for what was written before (prev_sot_token_id)");
  return {};
}

Status Transcriber::begin() {
  all_.resize(r_.recordings.size());
  out_.transcripts.resize(r_.recordings.size());
  for (size_t i = 0; i < all_.size(); ++i) LAPILLI_CHECK(begin_recording(i));
  return {};
}

Status Transcriber::begin_recording(size_t i) {
  Progress& p = all_[i];
  p.recording = &r_.recordings[i];
  PrefixRequest wanted;
  wanted.start = model_->generation_config().decoder_start_token_id.value_or(0);
  if (!r_.languages.empty()) wanted.language = r_.languages[r_.languages.size() == 1 ? 0 : i];
  wanted.task = r_.task;
  wanted.timestamps = r_.timestamps;
  LAPILLI_TRY(auto prefix, make_prefix(settings_, wanted));
  if (prefix.detect_language && !p.done()) {
    LAPILLI_TRY(const auto found, detect_languages(model_, std::span(r_.recordings).subspan(i, 1)));
    prefix.ids.insert(prefix.ids.begin() + 1, found.front());
  }
  p.prefix = prefix.ids;
  if (p.prefix.size() > 1) out_.transcripts[i].language = language_token(settings_, p.prefix[1]);
  const bool prompt_is_segment = r_.condition_on_previous && !r_.prompt_in_all_windows && !r_.prompt_ids.empty();
  if (prompt_is_segment) p.written.emplace_back(r_.prompt_ids.begin() + 1, r_.prompt_ids.end());
  return {};
}

// What was written in earlier windows, as much of it as fits half of the decoder's positions. Of two timestamps at a
// segment's end one is enough.
std::vector<int32_t> Transcriber::written_before(const Progress& p) const {
  std::vector<int32_t> ids;
  for (const auto& segment : p.written) {
    const bool doubled = segment.size() > 2 && segment[segment.size() - 2] >= timestamp_begin();
    ids.insert(ids.end(), segment.begin(), segment.end() - (doubled ? 1 : 0));
  }
  const size_t most = info().max_target_positions / 2 - 1;
  if (ids.size() > most) ids.erase(ids.begin(), ids.end() - static_cast<ptrdiff_t>(most));
  return ids;
}

std::vector<int32_t> Transcriber::before_prefix(const Progress& p) const {
  if (!r_.condition_on_previous || !p.trusted || p.written.empty()) return r_.prompt_ids;
  const bool prompt = r_.prompt_in_all_windows && !r_.prompt_ids.empty();
  std::vector<int32_t> ids = prompt ? r_.prompt_ids : std::vector<int32_t>{settings_.previous_start.value_or(0)};
  const auto written = written_before(p);
  ids.insert(ids.end(), written.begin(), written.end());
  return ids;
}

Status Transcriber::open_window(size_t i) {
  Progress& p = all_[i];
  p.window = {};
  p.window.recording = i;
  p.window.seek = p.seek;
  p.source = {};
  LAPILLI_TRY(p.source.features, read_window(info(), *p.recording, p.seek));
  p.source.frames = static_cast<uint32_t>(std::min<uint64_t>(info().feature_rows, p.recording->frames - p.seek));
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const uint64_t heard = std::min(p.recording->heard.value_or(p.recording->frames), kMost);
  p.source.heard = static_cast<int64_t>(heard) - static_cast<int64_t>(p.seek);
  p.source.decoder_ids = before_prefix(p);
  p.source.start_at = static_cast<uint32_t>(p.source.decoder_ids.size());
  p.source.decoder_ids.insert(p.source.decoder_ids.end(), p.prefix.begin(), p.prefix.end());
  p.source.sequence = sequences_++;
  p.window.decoder_ids = p.source.decoder_ids;
  return {};
}

Status Transcriber::run_windows(std::span<const size_t> active) {
  for (const size_t i : active) LAPILLI_CHECK(open_window(i));
  std::vector<std::optional<double>> temperatures(r_.temperatures.begin(), r_.temperatures.end());
  if (temperatures.empty()) temperatures.emplace_back();
  std::vector<size_t> rows(active.begin(), active.end());
  for (size_t k = 0; k < temperatures.size() && !rows.empty(); ++k) {
    LAPILLI_TRY(rows, attempt(rows, temperatures[k], k + 1 == temperatures.size()));
  }
  return {};
}

// Gives those that another attempt is called for.
Result<std::vector<size_t>> Transcriber::attempt(std::span<const size_t> rows, std::optional<double> temperature,
                                                 bool last) {
  std::vector<WindowSource*> sources;
  for (const size_t i : rows) sources.push_back(&all_[i].source);
  WindowSearch::Wanted wanted;
  wanted.temperature = temperature;
  wanted.average = r_.logprob_threshold.has_value();
  const bool first = all_[rows.front()].window.attempts.empty();
  wanted.no_speech = r_.no_speech_threshold && first;
  wanted.keep_encoded = first && !last;
  LAPILLI_TRY(auto results, search_.run(sources, wanted));
  std::vector<size_t> again;
  for (size_t k = 0; k < rows.size(); ++k) {
    Progress& p = all_[rows[k]];
    p.result = std::move(results[k]);
    bool once_more = false;
    LAPILLI_CHECK(judge(p, temperature, last, once_more));
    if (once_more) again.push_back(rows[k]);
  }
  return again;
}

Status Transcriber::judge(Progress& p, std::optional<double> temperature, bool last, bool& again) {
  Attempt a;
  a.temperature = temperature;
  a.ids = p.result.ids;
  a.average_log_probability = p.result.average;
  a.no_speech_probability =
      p.window.attempts.empty() ? p.result.no_speech : p.window.attempts.front().no_speech_probability;
  if (r_.compression_ratio_threshold) {
    LAPILLI_TRY(a.compression_ratio, compression_ratio(a.ids, info().target_vocabulary));
    a.fallback = *a.compression_ratio > *r_.compression_ratio_threshold;
  }
  const bool unlikely = r_.logprob_threshold && *a.average_log_probability < *r_.logprob_threshold;
  a.fallback = a.fallback || unlikely;
  if (unlikely && r_.no_speech_threshold && *a.no_speech_probability > *r_.no_speech_threshold) {
    a.fallback = false;
    a.skip = true;
  }
  again = a.fallback && !last;
  p.window.skipped = a.skip;
  p.trusted = temperature.value_or(0) < kLastTrusted;
  p.window.attempts.push_back(std::move(a));
  return {};
}

std::vector<int32_t> Transcriber::without_end(const std::vector<int32_t>& ids) const {
  const auto merged = merge(r_.options, model_->generation_config());
  const auto ends = merged.eos_token_id.value_or(std::vector<int32_t>());
  auto text = ids;
  if (!text.empty() && std::find(ends.begin(), ends.end(), text.back()) != ends.end()) text.pop_back();
  return text;
}

Status Transcriber::finish_window(size_t i) {
  Progress& p = all_[i];
  if (p.window.skipped)
    p.seek += p.source.frames;
  else
    LAPILLI_CHECK(keep_window(i, without_end(p.result.ids)));
  p.source = {};
  out_.windows.push_back(std::move(p.window));
  return {};
}

Status Transcriber::keep_window(size_t i, const std::vector<int32_t>& ids) {
  Progress& p = all_[i];
  const SplitWindow split = split_window(ids, timestamp_begin(), p.source.frames);
  p.window.frames = p.source.frames;
  p.window.segments = static_cast<uint32_t>(split.parts.size());
  p.window.ending = split.ending;
  // A model that says the window's first moment again and again would never get on.
  p.window.advance = split.advance == 0 ? p.source.frames : split.advance;
  for (const WindowPart& part : split.parts) LAPILLI_CHECK(deliver(i, part, ids));
  p.seek += p.window.advance;
  return {};
}

Status Transcriber::deliver(size_t i, const WindowPart& part, const std::vector<int32_t>& ids) {
  Progress& p = all_[i];
  const auto first = static_cast<ptrdiff_t>(part.first), last = static_cast<ptrdiff_t>(part.last);
  const double window = static_cast<double>(p.seek) * kSecondsPerFrame;
  Segment s;
  s.recording = i;
  s.begin = window + part.begin * kSecondsPerUnit;
  s.end = window + part.end * kSecondsPerUnit;
  s.ids.assign(ids.begin() + first, ids.begin() + last);
  if (const auto& scores = p.result.scores; scores.size() >= ids.size())
    s.token_scores.assign(scores.begin() + first, scores.begin() + last);
  for (ptrdiff_t k = first; k < last && r_.word_times; ++k)
    s.times.push_back(window + p.result.times[static_cast<size_t>(k)]);
  if (const Tokenizer* tokenizer = model_->tokenizer()) {
    LAPILLI_TRY(s.text, tokenizer->decode(s.ids));
  }
  p.written.push_back(s.ids);
  if (r_.on_segment) LAPILLI_CHECK(r_.on_segment(s));
  out_.transcripts[i].segments.push_back(std::move(s));
  return {};
}

}  // namespace

Recording recording_of(std::shared_ptr<const model::Features> features) {
  Recording r;
  r.frames = features->rows;
  r.read = [f = std::move(features)](uint64_t first, std::span<float> rows) -> Status {
    if ((first * f->width) + rows.size() > f->values.size())
      return fail(ErrorCode::invalid_argument, "a recording's features are %zu numbers, not %u rows of %u",
                  f->values.size(), f->rows, f->width);
    std::copy_n(f->values.begin() + static_cast<ptrdiff_t>(first * f->width), rows.size(), rows.begin());
    return {};
  };
  return r;
}

Result<TranscribeOutput> transcribe(const std::shared_ptr<Model>& model, const TranscribeRequest& request) {
  return Transcriber(model, request).run();
}

// What the decoder would write behind its start, of all the languages.
Result<std::vector<int32_t>> detect_languages(const std::shared_ptr<Model>& model,
                                              std::span<const Recording> recordings) {
  LAPILLI_CHECK(check_model(*model));
  const auto& languages = model->speech().languages;
  if (languages.empty())
    return fail(ErrorCode::unsupported, "the model knows one language only: there is nothing to detect");
  GenerateRequest r;
  const int32_t start = model->generation_config().decoder_start_token_id.value_or(0);
  for (const Recording& recording : recordings) {
    LAPILLI_TRY(r.features.emplace_back(), read_window(model->info(), recording, 0));
    r.decoder_ids.push_back({start});
    r.logits_at.push_back({0});
  }
  r.options.max_new_tokens = 1;
  r.options.forced_decoder_ids.emplace();
  r.options.return_timestamps = false;
  r.exact_decoder_ids = r.deterministic = true;
  LAPILLI_TRY(const auto out, generate(model, r));
  std::vector<int32_t> found;
  for (size_t i = 0; i < recordings.size(); ++i) {
    LAPILLI_CHECK(Status(out.errors[i]));
    const auto& logits = out.logits[i].front();
    for (const auto& [token, id] : languages)
      if (static_cast<size_t>(id) >= logits.size())
        return fail(ErrorCode::invalid_data, "lang_to_id: %s has the id %d, the model %zu words", token.c_str(), id,
                    logits.size());
    const auto best = std::max_element(languages.begin(), languages.end(), [&](const auto& a, const auto& b) {
      return logits[static_cast<size_t>(a.second)] < logits[static_cast<size_t>(b.second)];
    });
    found.push_back(best->second);
  }
  return found;
}

}  // namespace lapilli::speech
