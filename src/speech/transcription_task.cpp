#include "speech/transcription_task.hpp"

#include <algorithm>
#include <utility>

#include "base/log_once.hpp"
#include "search/encoded_source.hpp"
#include "search/network_on_device.hpp"
#include "speech/languages.hpp"
#include "speech/measures.hpp"
#include "speech/prefix.hpp"
#include "speech/words.hpp"

namespace lapilli::speech {

namespace {

constexpr double kSecondsPerUnit = 0.02;  // of a timestamp
// Above this temperature, a window's text is not used as context for the next.
constexpr double kLastTrusted = 0.5;

// Mean of the rows that predicted ids [first, last) of a window, at positions [begin, end).
std::vector<float> mean_over(const AttentionRows& rows, size_t first, size_t last, uint32_t begin, uint32_t end) {
  std::vector<float> mean(end - begin);
  for (size_t id = first; id < last; ++id) {
    const size_t row = std::min<size_t>(id > 0 ? id - 1 : 0, rows.ids - 1);
    for (uint32_t p = begin; p < end; ++p)
      mean[p - begin] += rows.weights[row * rows.positions + p] / static_cast<float>(last - first);
  }
  return mean;
}

}  // namespace

Status check_transcribes(const Model& model) {
  if (model.info().family == "whisper" && model.info().feature_rows != 0) return {};
  return fail(ErrorCode::unsupported,
              "%s models do not go through recordings window by window; those of the Whisper family do",
              model.info().family);
}

TranscriptionTask::TranscriptionTask(std::shared_ptr<Model> model, TranscribeRequest request)
    : SpeechTask(std::move(model), request.recordings.size()),
      settings_(this->model()->speech()),
      r_(std::move(request)),
      temperatures_(r_.temperatures.begin(), r_.temperatures.end()) {
  search_.emplace(this->model(), r_);
  if (temperatures_.empty()) temperatures_.emplace_back();
  r_.words = r_.words || r_.attention;
}

Result<std::unique_ptr<TranscriptionTask>> TranscriptionTask::start(std::shared_ptr<Model> model,
                                                                    TranscribeRequest request) {
  LAPILLI_CHECK(check_transcribes(*model));
  std::unique_ptr<TranscriptionTask> job(new TranscriptionTask(std::move(model), std::move(request)));
  LAPILLI_CHECK(job->check());
  LAPILLI_CHECK(job->begin());
  return job;
}

// ---- the request ---------------------------------------------------------------------------------------------------

// Only timestamps tell where the next window begins.
Status TranscriptionTask::check_length(size_t i) const {
  const auto extent = r_.recordings[i].frames->extent();
  const bool one_window = extent.whole ? extent.frames <= info().feature_rows : extent.frames < info().feature_rows;
  if (r_.timestamps || one_window) return {};
  return fail(ErrorCode::invalid_argument, "recording %u is longer than a window of %u frames: %s", i,
              info().feature_rows,
              settings_.no_timestamps ? "ask for timestamps, which say where the next window begins"
                                      : "the model's files name no timestamps (no_timestamps_token_id); take "
                                        "generation_config.json from the model that this one was made from");
}

Status TranscriptionTask::check() const {
  if (r_.languages.size() > 1 && r_.languages.size() != r_.recordings.size())
    return fail(ErrorCode::invalid_argument, "%u languages for %u recordings", r_.languages.size(),
                r_.recordings.size());
  if (r_.timestamps && !settings_.no_timestamps)
    return fail(ErrorCode::unsupported, "timestamps: the model has none (no_timestamps_token_id is not set)");
  if ((r_.word_times || r_.words) && settings_.alignment_heads.empty())
    return fail(ErrorCode::unsupported, "times of words: the model's generation_config.json names no alignment_heads");
  if ((r_.word_times || r_.words) && settings_.heads_by_default)
    log_once(LogLevel::note, "alignment heads",
             "the model's files name no alignment_heads: words get their times from all heads of the upper half of the "
             "decoder, which are less exact");
  for (size_t i = 0; i < r_.recordings.size(); ++i) {
    if (!r_.recordings[i].frames) return fail(ErrorCode::invalid_argument, "recording %u has no frames", i);
    LAPILLI_CHECK(check_length(i));
  }
  if (r_.no_speech_threshold && (!r_.logprob_threshold || !settings_.no_timestamps))
    return fail(ErrorCode::invalid_argument, "no_speech_threshold goes together with logprob_threshold");
  if (r_.condition_on_previous && !settings_.previous_start && r_.prompt_ids.empty())
    return fail(ErrorCode::unsupported, "the model has no mark for what was written before (prev_sot_token_id)");
  return {};
}

Status TranscriptionTask::begin() {
  all_.resize(r_.recordings.size());
  for (size_t i = 0; i < all_.size(); ++i) LAPILLI_CHECK(begin_recording(i));
  return {};
}

Status TranscriptionTask::begin_recording(size_t i) {
  Progress& p = all_[i];
  p.recording = &r_.recordings[i];
  PrefixRequest wanted;
  wanted.start = model()->generation_config().decoder_start_token_id.value_or(0);
  if (!r_.languages.empty()) wanted.language = r_.languages[r_.languages.size() == 1 ? 0 : i];
  wanted.task = r_.task;
  wanted.timestamps = r_.timestamps;
  LAPILLI_TRY(auto prefix, make_prefix(settings_, wanted));
  p.prefix = std::move(prefix.ids);
  p.detect_language = prefix.detect_language;
  if (!p.detect_language && p.prefix.size() > 1)
    results().transcripts[i].language = language_token(settings_, p.prefix[1]);
  const bool prompt_is_segment = r_.condition_on_previous && !r_.prompt_in_all_windows && !r_.prompt_ids.empty();
  if (prompt_is_segment) p.written.emplace_back(r_.prompt_ids.begin() + 1, r_.prompt_ids.end());
  return {};
}

// ---- one step after the other --------------------------------------------------------------------------------------

Status TranscriptionTask::wait_for_device() {
  if (phase_ == Phase::read) return all_[round_[next_]].recording->frames->wait();
  if (phase_ == Phase::search) return search_->wait();
  if (detection_) detection_->wait();
  return {};
}

// After a lost device, keeps finished windows and each recording's position; otherwise the frames stay the caller's.
void TranscriptionTask::release() {
  search_.reset();
  detection_.reset();
  if (!is_interrupted()) return;
  if (std::exchange(interim_, false))
    for (const size_t i : round_) forget_interim(i);
  for (Progress& p : all_) {
    p.source = {};
    p.frames.reset();
    p.recording->frames->use(nullptr);
  }
}

// Rereads and searches the round's windows from their beginning, which on the same device gives the same ids.
Status TranscriptionTask::begin_again(const FrontEnd& front) {
  LAPILLI_TRY(const auto features, make_features(*model(), front));
  search_.emplace(model(), r_);
  for (Progress& p : all_) p.recording->frames->use(features);
  phase_ = Phase::choose;
  return {};
}

// ---- rounds --------------------------------------------------------------------------------------------------------

Status TranscriptionTask::step(double budget_us) {
  if (phase_ == Phase::choose) LAPILLI_CHECK(choose());
  if (phase_ == Phase::read) LAPILLI_CHECK(read());
  if (phase_ == Phase::detect) LAPILLI_CHECK(detect(budget_us));
  return phase_ == Phase::search ? search(budget_us) : Status();
}

bool TranscriptionTask::is_done(const Progress& p) const {
  const auto extent = p.recording->frames->extent();
  return p.over || (extent.whole && p.seek >= extent.frames);
}

bool TranscriptionTask::is_ready(const Progress& p) const {
  const auto extent = p.recording->frames->extent();
  return !is_done(p) && (extent.whole || extent.frames >= p.seek + info().feature_rows);
}

TaskProgress TranscriptionTask::progress() const {
  TaskProgress now{0, 0, tokens()};
  for (const Progress& p : all_) {
    const uint64_t frames = p.recording->frames->extent().frames;
    now.total += frames;
    now.done += p.over ? frames : std::min(p.seek, frames);
  }
  return now;
}

// Starts a round with the recordings that have a window.
Status TranscriptionTask::choose() {
  round_.clear();
  next_ = 0;
  bool all_done = true;
  for (size_t i = 0; i < all_.size(); ++i) {
    all_done = all_done && is_done(all_[i]);
    if (is_ready(all_[i])) round_.push_back(i);
  }
  report_ends();
  interim_ = round_.empty();
  if (interim_ && r_.on_interim && r_.interim_frames > 0) choose_interim();
  for (const size_t i : round_) all_[i].end = all_[i].recording->frames->extent().frames;
  if (all_done) return end();
  set_hungry(round_.empty());
  if (!round_.empty()) phase_ = Phase::read;
  return {};
}

void TranscriptionTask::report_ends() {
  for (size_t i = 0; i < all_.size(); ++i) {
    if (!is_done(all_[i]) || std::exchange(all_[i].reported, true) || !r_.on_end) continue;
    r_.on_end(i, results().transcripts[i].status);
  }
}

void TranscriptionTask::choose_interim() {
  for (size_t i = 0; i < all_.size(); ++i) {
    Progress& p = all_[i];
    const uint64_t end = p.recording->frames->extent().frames;
    if (is_done(p) || end < std::max(p.seek, p.interim_end) + r_.interim_frames) continue;
    p.interim_end = end;
    p.before = {p.prefix, p.detect_language, results().transcripts[i].language};
    round_.push_back(i);
  }
}

// Ends the recording that the error concerns; others go on.
Status TranscriptionTask::set_aside(size_t i, Status status) {
  if (!concerns_one(status.error())) return status;
  all_[i].over = true;
  all_[i].source = {};
  results().transcripts[i].status = std::move(status);
  std::erase(round_, i);
  return {};
}

// ---- windows -------------------------------------------------------------------------------------------------------

// Pads with zeros after the recording's end: not the features of silence, but what the models were trained with.
Result<bool> TranscriptionTask::read_one(Progress& p) const {
  auto& f = p.frames;
  if (!f) {
    f = std::make_shared<model::Features>();
    f->rows = info().feature_rows;
    f->width = info().feature_width;
    f->values.assign(uint64_t{f->rows} * f->width, 0.0f);
  }
  const uint64_t there = std::min<uint64_t>(f->rows, p.end - p.seek);
  LAPILLI_TRY(const bool done, p.recording->frames->read(p.seek, std::span(f->values).first(there * f->width)));
  if (!done) return false;
  LAPILLI_CHECK(model::check_features(model()->on_device().config(), *f, "the recording"));
  return true;
}

Status TranscriptionTask::read() {
  while (next_ < round_.size()) {
    const size_t i = round_[next_];
    auto done = check_length(i) ? read_one(all_[i]) : Result<bool>(check_length(i).error());
    if (!done) {
      LAPILLI_CHECK(set_aside(i, std::move(done).error()));
      continue;
    }
    if (!*done) return {};
    LAPILLI_CHECK(open_window(i));
    ++next_;
  }
  phase_ = Phase::choose;
  return round_.empty() ? Status() : begin_detection();
}

Status TranscriptionTask::open_window(size_t i) {
  Progress& p = all_[i];
  p.window = {};
  p.window.recording = i;
  p.window.seek = p.seek;
  p.source = {};
  p.source.features = std::move(p.frames);
  p.source.frames = static_cast<uint32_t>(std::min<uint64_t>(info().feature_rows, p.end - p.seek));
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const uint64_t timed = std::min(p.recording->timed_frames.value_or(p.end), kMost);
  p.source.timed_frames = static_cast<int64_t>(timed) - static_cast<int64_t>(p.seek);
  // Random draws do not depend on which other recordings run beside it.
  p.source.sequence = p.windows;
  if (!p.detect_language) give_prefix(p);
  return {};
}

void TranscriptionTask::give_prefix(Progress& p) const {
  p.source.decoder_ids = before_prefix(p);
  p.source.start_at = static_cast<uint32_t>(p.source.decoder_ids.size());
  p.source.decoder_ids.insert(p.source.decoder_ids.end(), p.prefix.begin(), p.prefix.end());
  p.window.decoder_ids = p.source.decoder_ids;
}

std::vector<int32_t> TranscriptionTask::before_prefix(const Progress& p) const {
  if (!r_.condition_on_previous || !p.trusted || p.written.empty()) return r_.prompt_ids;
  const bool prompt = r_.prompt_in_all_windows && !r_.prompt_ids.empty();
  std::vector<int32_t> ids = prompt ? r_.prompt_ids : std::vector<int32_t>{settings_.previous_start.value_or(0)};
  const auto written = ids_before(p.written, timestamp_begin(), most_ids_before(info().max_target_positions));
  ids.insert(ids.end(), written.begin(), written.end());
  return ids;
}

// ---- languages -----------------------------------------------------------------------------------------------------

// The encoded windows are kept for the searches that follow.
Status TranscriptionTask::begin_detection() {
  rows_.clear();
  std::vector<std::shared_ptr<const model::Features>> windows;
  for (const size_t i : round_) {
    if (!all_[i].detect_language) continue;
    rows_.push_back(i);
    windows.push_back(all_[i].source.features);
  }
  if (rows_.empty()) {
    begin_attempts();
    return {};
  }
  LAPILLI_TRY(auto request, language_request(*model(), windows));
  request.keep_encoded = true;
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model(), std::move(request)));
  detection_ = std::make_unique<Batch>(model(), std::move(checked));
  phase_ = Phase::detect;
  return {};
}

Status TranscriptionTask::detect(double budget_us) {
  if (!detection_->pump(budget_us)) return {};
  const auto detection = std::move(detection_);
  auto& out = detection->output();
  const auto failed = [](const Status& error) { return !error.ok(); };
  if (!detection->status() && !std::all_of(out.errors.begin(), out.errors.end(), failed)) return detection->status();
  LAPILLI_CHECK(end_detection(out));
  phase_ = Phase::choose;
  if (!round_.empty()) begin_attempts();
  return {};
}

Status TranscriptionTask::end_detection(GenerateOutput& out) {
  for (size_t k = 0; k < rows_.size(); ++k) {
    Progress& p = all_[rows_[k]];
    if (!out.errors[k]) {
      LAPILLI_CHECK(set_aside(rows_[k], std::move(out.errors[k])));
      continue;
    }
    LAPILLI_TRY(const int32_t found, likeliest_language(settings_, out.logits[k].front()));
    p.prefix.insert(p.prefix.begin() + 1, found);
    p.detect_language = false;
    p.source.encoded = out.encoded[k];
    results().transcripts[rows_[k]].language = language_token(settings_, found);
    give_prefix(p);
  }
  return {};
}

// ---- attempts ------------------------------------------------------------------------------------------------------

void TranscriptionTask::begin_attempts() {
  attempt_ = 0;
  rows_ = round_;
  phase_ = Phase::search;
  begin_attempt();
}

void TranscriptionTask::begin_attempt() {
  std::vector<WindowSource*> sources;
  for (const size_t i : rows_) sources.push_back(&all_[i].source);
  WindowSearch::Wanted wanted;
  wanted.temperature = temperatures_[attempt_];
  wanted.average = r_.logprob_threshold.has_value();
  wanted.no_speech = r_.no_speech_threshold && attempt_ == 0;
  wanted.keep_encoded = attempt_ == 0 && !is_last_attempt();
  search_->begin(std::move(sources), wanted);
}

Status TranscriptionTask::search(double budget_us) {
  LAPILLI_TRY(const bool done, search_->poll(budget_us));
  return done ? end_attempt() : Status();
}

// Continues with the windows that need another attempt.
Status TranscriptionTask::end_attempt() {
  std::vector<size_t> again;
  add_stats(results().stats, search_->stats());
  for (size_t k = 0; k < rows_.size(); ++k) {
    Progress& p = all_[rows_[k]];
    p.result = std::move(search_->results()[k]);
    if (!p.result.status) {
      LAPILLI_CHECK(set_aside(rows_[k], std::move(p.result.status)));
      continue;
    }
    bool once_more = false;
    LAPILLI_CHECK(judge(p, once_more));
    if (once_more) again.push_back(rows_[k]);
  }
  rows_ = std::move(again);
  if (rows_.empty()) return finish_round();
  ++attempt_;
  begin_attempt();
  return {};
}

Status TranscriptionTask::finish_round() {
  phase_ = Phase::choose;
  for (const size_t i : std::vector(round_)) LAPILLI_CHECK(interim_ ? finish_interim(i) : finish_window(i));
  return {};
}

Status TranscriptionTask::judge(Progress& p, bool& again) {
  const std::optional<double> temperature = temperatures_[attempt_];
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
  again = a.fallback && !is_last_attempt();
  p.window.skipped = a.skip;
  p.window.attempts.push_back(std::move(a));
  return {};
}

std::vector<int32_t> TranscriptionTask::without_end(const std::vector<int32_t>& ids) const {
  const auto ends = end_ids(*model(), r_.options);
  auto text = ids;
  if (!text.empty() && std::find(ends.begin(), ends.end(), text.back()) != ends.end()) text.pop_back();
  return text;
}

Status TranscriptionTask::finish_window(size_t i) {
  Progress& p = all_[i];
  ++p.windows;
  p.trusted = p.window.attempts.back().temperature.value_or(0) < kLastTrusted;
  if (p.window.skipped)
    p.seek += p.source.frames;
  else
    LAPILLI_CHECK(keep_window(i, without_end(p.result.ids)));
  p.source = {};
  results().windows.push_back(std::move(p.window));
  return {};
}

SplitWindow TranscriptionTask::split(const Progress& p, const std::vector<int32_t>& ids) const {
  return split_window(ids, timestamp_begin(), p.source.frames);
}

Status TranscriptionTask::keep_window(size_t i, const std::vector<int32_t>& ids) {
  Progress& p = all_[i];
  const SplitWindow parts = split(p, ids);
  p.window.frames = p.source.frames;
  p.window.segments = static_cast<uint32_t>(parts.parts.size());
  p.window.ending = parts.ending;
  // Skips the window if its only timestamp is its start, which would repeat forever.
  p.window.advance = parts.advance == 0 ? p.source.frames : parts.advance;
  for (const WindowPart& part : parts.parts) LAPILLI_CHECK(deliver(i, part, ids));
  p.seek += p.window.advance;
  return {};
}

Status TranscriptionTask::finish_interim(size_t i) {
  Progress& p = all_[i];
  const auto ids = p.window.skipped ? std::vector<int32_t>() : without_end(p.result.ids);
  std::vector<Segment> segments;
  for (const WindowPart& part : split(p, ids).parts) {
    if (part.first == part.last) continue;
    LAPILLI_TRY(segments.emplace_back(), segment_of(i, part, ids));
  }
  p.source = {};
  forget_interim(i);
  return r_.on_interim(i, segments);
}

void TranscriptionTask::forget_interim(size_t i) {
  Progress& p = all_[i];
  p.prefix = std::move(p.before.prefix);
  p.detect_language = p.before.detect_language;
  results().transcripts[i].language = std::move(p.before.language);
}

Result<Segment> TranscriptionTask::segment_of(size_t i, const WindowPart& part, const std::vector<int32_t>& ids) const {
  const Progress& p = all_[i];
  const auto first = static_cast<ptrdiff_t>(part.first), last = static_cast<ptrdiff_t>(part.last);
  const double window = static_cast<double>(p.seek) * kSecondsPerFrame;
  Segment s;
  s.recording = i;
  s.language = output().transcripts[i].language;
  s.window = window;
  s.begin = window + part.begin * kSecondsPerUnit;
  s.end = window + part.end * kSecondsPerUnit;
  s.ids.assign(ids.begin() + first, ids.begin() + last);
  if (const auto& scores = p.result.scores; scores.size() >= ids.size())
    s.token_scores.assign(scores.begin() + first, scores.begin() + last);
  if (!p.window.attempts.empty()) {
    s.no_speech_probability = p.window.attempts.front().no_speech_probability;
    s.doubtful = p.window.attempts.back().fallback;
  }
  for (ptrdiff_t k = first; k < last && (r_.word_times || r_.words); ++k)
    s.times.push_back(window + p.result.times[static_cast<size_t>(k)]);
  if (r_.words) {
    const auto probabilities = std::span(p.result.probabilities).subspan(part.first, part.last - part.first);
    const WordRules rules{model()->tokenizer(), first_special(*model(), r_.options), s.language};
    LAPILLI_TRY(s.words, words_of({s.ids, s.times, probabilities, s.begin}, rules));
    if (r_.attention) s.attention = attention_of(p, part, s.words);
  }
  if (const Tokenizer* tokenizer = model()->tokenizer()) {
    LAPILLI_TRY(s.text, tokenizer->decode(s.ids));
  }
  return s;
}

// The segment's frames in its window, without those after the recording's end: at least one position if there is any.
std::shared_ptr<const SegmentAttention> TranscriptionTask::attention_of(const Progress& p, const WindowPart& part,
                                                                        const std::vector<Word>& words) const {
  const model::Features& window = *p.source.features;
  const AttentionRows& rows = p.result.attention;
  const uint32_t all = std::min(std::max(p.source.frames / 2, 1u), rows.positions);
  const uint32_t begin = std::min(part.begin, all > 0 ? all - 1 : 0),
                 end = std::clamp(part.end, std::min(begin + 1, all), all);
  auto attention = std::make_shared<SegmentAttention>();
  attention->bands = window.width;
  attention->positions = end - begin;
  attention->frames = 2 * attention->positions;
  const auto at = window.values.begin() + static_cast<ptrdiff_t>(uint64_t{2} * begin * window.width);
  attention->features.assign(at, at + static_cast<ptrdiff_t>(uint64_t{attention->frames} * window.width));
  for (const Word& w : words)
    attention->words.push_back(mean_over(rows, part.first + w.first, part.first + w.last, begin, end));
  return attention;
}

Status TranscriptionTask::deliver(size_t i, const WindowPart& part, const std::vector<int32_t>& ids) {
  LAPILLI_TRY(auto s, segment_of(i, part, ids));
  all_[i].written.push_back(s.ids);
  return give(std::move(s), r_.on_segment);
}

int32_t TranscriptionTask::timestamp_begin() const {
  return settings_.no_timestamps.value_or(std::numeric_limits<int32_t>::max() - 1) + 1;
}

}  // namespace lapilli::speech
