#include "speech/chunks_task.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "speech/prefix.hpp"
#include "speech/window.hpp"

namespace lapilli::speech {

namespace {

// A chunk's frames, kept from the first read on, because a recording can only be read forwards.
class ChunkFrames : public FrameSource {
 public:
  ChunkFrames(std::shared_ptr<FrameSource> all, const Chunk& chunk, uint32_t width)
      : all_(std::move(all)), chunk_(chunk), width_(width) {}
  [[nodiscard]] Extent extent() const override { return {chunk_.count, true}; }
  Result<bool> read(uint64_t first, std::span<float> rows) override {
    if (all_) {
      values_.resize(chunk_.count * width_);
      LAPILLI_TRY(const bool done, all_->read(chunk_.first, values_));
      if (!done) return false;
      all_.reset();
    }
    std::copy_n(values_.begin() + static_cast<ptrdiff_t>(first * width_), rows.size(), rows.begin());
    return true;
  }
  Status wait() override { return all_ ? all_->wait() : Status(); }

 private:
  std::shared_ptr<FrameSource> all_;  // until the frames are in values_
  Chunk chunk_;
  uint32_t width_;
  std::vector<float> values_;
};

// Moves a segment's times to its chunk's place in the recording.
void shift(Segment& s, double seconds) {
  s.window += seconds;
  s.begin += seconds;
  s.end += seconds;
  for (double& t : s.times) t += seconds;
  for (Word& w : s.words) {
    w.begin += seconds;
    w.end += seconds;
  }
}

// Refuses requests that are invalid for any recording; true: the language must be detected first.
Result<bool> check(const std::shared_ptr<Model>& model, const TranscribeRequest& how) {
  LAPILLI_CHECK(check_transcribes(*model));
  if (how.condition_on_previous)
    return fail(ErrorCode::invalid_argument, "chunks do not go on from what was written before them");
  PrefixRequest wanted;
  wanted.task = how.task;
  wanted.timestamps = how.timestamps;
  if (!how.languages.empty()) wanted.language = how.languages.front();
  LAPILLI_TRY(const auto prefix, make_prefix(model->speech(), wanted));
  LAPILLI_TRY(const auto checked, TranscriptionTask::start(model, how));
  return prefix.detect_language;
}

}  // namespace

ChunksTask::ChunksTask(std::shared_ptr<Model> model, ChunksRequest request, bool detects)
    : SpeechTask(std::move(model), request.recordings.size()), request_(std::move(request)), detects_(detects) {
  for (const CutRecording& r : request_.recordings) frames_ += r.frames->extent().frames;
  begin_recording();
}

Result<std::unique_ptr<ChunksTask>> ChunksTask::start(std::shared_ptr<Model> model, ChunksRequest request) {
  if (request.at_a_time == 0) return fail(ErrorCode::invalid_argument, "0 chunks at a time: at least one is needed");
  LAPILLI_TRY(const bool detects, check(model, request.how));
  return std::unique_ptr<ChunksTask>(new ChunksTask(std::move(model), std::move(request), detects));
}

// ---- one recording after the other ---------------------------------------------------------------------------------

void ChunksTask::begin_recording() {
  energies_.reset();
  detection_.reset();
  job_.reset();
  next_ = 0;
  languages_ = request_.how.languages;
  const bool measures = now_ < request_.recordings.size() && recording().source;
  phase_ = measures ? Phase::measure : detects_ ? Phase::detect : Phase::transcribe;
}

// An error that does not concern the recording alone ends the task.
Status ChunksTask::step(double budget_us) {
  if (now_ == request_.recordings.size()) return end();
  auto stepped = step_recording(budget_us);
  if (stepped || !concerns_one(stepped.error())) return stepped;
  return end_recording(std::move(stepped));
}

Status ChunksTask::step_recording(double budget_us) {
  switch (phase_) {
    case Phase::measure: return measure(budget_us);
    case Phase::detect: return detect(budget_us);
    case Phase::transcribe: return transcribe(budget_us);
  }
  return {};
}

Status ChunksTask::end_recording(Status status) {
  const size_t ended = now_++;
  begin_recording();
  results().transcripts[ended].status = std::move(status);
  if (request_.how.on_end) request_.how.on_end(ended, results().transcripts[ended].status);
  return now_ == request_.recordings.size() ? end() : Status();
}

Status ChunksTask::wait_for_device() {
  if (job_) job_->wait();
  return detection_ ? detection_->wait() : Status();
}

TaskProgress ChunksTask::progress() const {
  const auto& all = request_.recordings;
  TaskProgress now{job_ ? job_->progress().done : 0, frames_, tokens()};
  for (size_t i = 0; i < now_; ++i) now.done += all[i].frames->extent().frames;
  if (phase_ != Phase::transcribe || now_ == all.size()) return now;
  const auto& chunks = all[now_].chunks;
  now.done += next_ < chunks.size() ? chunks[next_].first : all[now_].frames->extent().frames;
  return now;
}

// ---- where to cut, and in which language ---------------------------------------------------------------------------

// Measures the loudness of each frame, to cut at silence. Returns often enough to be cancelled.
Status ChunksTask::measure(double budget_us) {
  constexpr double kLongest = 50'000;
  const auto since = Clock::now();
  if (!energies_) energies_.emplace(*recording().source, recording().samples, request_.hop);
  do {
    LAPILLI_TRY(const bool done, energies_->read_some());
    if (!done) continue;
    cut();
    return {};
  } while (ms_since(since) * 1000 < std::min(budget_us, kLongest));
  return {};
}

void ChunksTask::cut() {
  auto energies = energies_->energies();
  energies_.reset();
  energies.resize(recording().frames->extent().frames);  // pads with silence
  recording().chunks = cut_at_silence(energies, info().feature_rows);
  phase_ = detects_ ? Phase::detect : Phase::transcribe;
}

Status ChunksTask::detect(double budget_us) {
  if (!detection_)
    detection_ = std::make_unique<LanguageDetection>(model(), std::vector<Recording>{{recording().frames, {}}});
  LAPILLI_TRY(const bool done, detection_->poll(budget_us));
  if (!done) return {};
  languages_ = {language_token(model()->speech(), detection_->found().front())};
  detection_.reset();
  phase_ = Phase::transcribe;
  return {};
}

// ---- groups of chunks --------------------------------------------------------------------------------

Status ChunksTask::transcribe(double budget_us) {
  if (!job_ && next_ == recording().chunks.size()) return end_recording({});
  if (!job_) LAPILLI_CHECK(begin_together());
  return job_->pump(budget_us) ? end_together() : Status();
}

std::span<const Chunk> ChunksTask::together() {
  const std::span<const Chunk> chunks = recording().chunks;
  return chunks.subspan(next_, std::min<size_t>(request_.at_a_time, chunks.size() - next_));
}

Status ChunksTask::begin_together() {
  TranscribeRequest r = request_.how;
  r.languages = languages_;
  for (const Chunk& p : together())
    r.recordings.push_back({std::make_shared<ChunkFrames>(recording().frames, p, info().feature_width), {}});
  segments_.assign(r.recordings.size(), {});
  r.on_segment = [this](const Segment& s) -> Status {
    segments_[s.recording].push_back(s);
    return {};
  };
  r.on_end = {};
  r.on_interim = {};
  LAPILLI_TRY(job_, TranscriptionTask::start(model(), std::move(r)));
  return {};
}

// Keeps segments up to the first chunk with an error, which becomes the recording's.
Status ChunksTask::end_together() {
  LAPILLI_CHECK(Status(job_->status()));
  auto out = job_->take();
  job_.reset();
  results().transcripts[now_].language = out.transcripts.front().language;
  add_stats(results().stats, out.stats);
  keep_windows(std::move(out.windows));
  const auto chunks = together();
  for (size_t i = 0; i < chunks.size(); ++i) {
    LAPILLI_CHECK(give_chunk(chunks[i], std::move(segments_[i])));
    LAPILLI_CHECK(std::move(out.transcripts[i].status));
  }
  next_ += chunks.size();
  return {};
}

void ChunksTask::keep_windows(std::vector<Window> windows) {
  for (Window& w : windows) {
    w.seek += together()[w.recording].first;
    w.recording = now_;
    results().windows.push_back(std::move(w));
  }
}

Status ChunksTask::give_chunk(const Chunk& chunk, std::vector<Segment> segments) {
  for (Segment& s : segments) {
    s.recording = now_;
    shift(s, static_cast<double>(chunk.first) * kSecondsPerFrame);
    LAPILLI_CHECK(give(std::move(s), request_.how.on_segment));
  }
  return {};
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

// After a lost device, the group of chunks that was at work starts anew.
void ChunksTask::release() {
  detection_.reset();
  job_.reset();
  if (!is_interrupted()) return;
  for (const CutRecording& r : request_.recordings) r.frames->use(nullptr);
}

Status ChunksTask::begin_again(const FrontEnd& front) {
  LAPILLI_TRY(const auto features, make_features(*model(), front));
  for (const CutRecording& r : request_.recordings) r.frames->use(features);
  return {};
}

}  // namespace lapilli::speech
