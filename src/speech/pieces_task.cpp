#include "speech/pieces_task.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "speech/prefix.hpp"
#include "speech/window.hpp"

namespace lapilli::speech {

namespace {

// A piece's frames, kept from the first read on, because a recording can only be read forwards.
class ChunkFrames : public FrameSource {
 public:
  ChunkFrames(std::shared_ptr<FrameSource> all, const Piece& piece, uint32_t width)
      : all_(std::move(all)), piece_(piece), width_(width) {}
  [[nodiscard]] Extent extent() const override { return {piece_.count, true}; }
  Result<bool> read(uint64_t first, std::span<float> rows) override {
    if (all_) {
      values_.resize(piece_.count * width_);
      LAPILLI_TRY(const bool done, all_->read(piece_.first, values_));
      if (!done) return false;
      all_.reset();
    }
    std::copy_n(values_.begin() + static_cast<ptrdiff_t>(first * width_), rows.size(), rows.begin());
    return true;
  }
  Status wait() override { return all_ ? all_->wait() : Status(); }

 private:
  std::shared_ptr<FrameSource> all_;  // until the frames are in values_
  Piece piece_;
  uint32_t width_;
  std::vector<float> values_;
};

// Moves a segment's times to its piece's place in the recording.
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
    return fail(ErrorCode::invalid_argument, "pieces do not go on from what was written before them");
  PrefixRequest wanted;
  wanted.task = how.task;
  wanted.timestamps = how.timestamps;
  if (!how.languages.empty()) wanted.language = how.languages.front();
  LAPILLI_TRY(const auto prefix, make_prefix(model->speech(), wanted));
  LAPILLI_TRY(const auto checked, TranscriptionTask::start(model, how));
  return prefix.detect_language;
}

}  // namespace

PiecesTask::PiecesTask(std::shared_ptr<Model> model, PiecesRequest request, bool detects)
    : SpeechTask(std::move(model), request.recordings.size()), request_(std::move(request)), detects_(detects) {
  for (const CutRecording& r : request_.recordings) frames_ += r.frames->extent().frames;
  begin_recording();
}

Result<std::unique_ptr<PiecesTask>> PiecesTask::start(std::shared_ptr<Model> model, PiecesRequest request) {
  if (request.at_a_time == 0)
    return fail(ErrorCode::invalid_argument, "0 pieces at a time: there is to be one at least");
  LAPILLI_TRY(const bool detects, check(model, request.how));
  return std::unique_ptr<PiecesTask>(new PiecesTask(std::move(model), std::move(request), detects));
}

// ---- one recording after the other ---------------------------------------------------------------------------------

void PiecesTask::begin_recording() {
  energies_.reset();
  detection_.reset();
  job_.reset();
  next_ = 0;
  languages_ = request_.how.languages;
  const bool measures = now_ < request_.recordings.size() && recording().source;
  phase_ = measures ? Phase::measure : detects_ ? Phase::detect : Phase::hear;
}

// An error that does not concern the recording alone ends the task.
Status PiecesTask::step(double budget_us) {
  if (now_ == request_.recordings.size()) return end();
  auto stepped = step_recording(budget_us);
  if (stepped || !concerns_one(stepped.error())) return stepped;
  return end_recording(std::move(stepped));
}

Status PiecesTask::step_recording(double budget_us) {
  switch (phase_) {
    case Phase::measure: return measure(budget_us);
    case Phase::detect: return detect(budget_us);
    case Phase::hear: return hear(budget_us);
  }
  return {};
}

Status PiecesTask::end_recording(Status status) {
  const size_t ended = now_++;
  begin_recording();
  results().transcripts[ended].status = std::move(status);
  if (request_.how.on_end) request_.how.on_end(ended, results().transcripts[ended].status);
  return now_ == request_.recordings.size() ? end() : Status();
}

Status PiecesTask::wait_for_device() {
  if (job_) job_->wait();
  return detection_ ? detection_->wait() : Status();
}

TaskProgress PiecesTask::progress() const {
  const auto& all = request_.recordings;
  TaskProgress now{job_ ? job_->progress().done : 0, frames_, tokens()};
  for (size_t i = 0; i < now_; ++i) now.done += all[i].frames->extent().frames;
  if (phase_ != Phase::hear || now_ == all.size()) return now;
  const auto& pieces = all[now_].pieces;
  now.done += next_ < pieces.size() ? pieces[next_].first : all[now_].frames->extent().frames;
  return now;
}

// ---- where to cut, and in which language ---------------------------------------------------------------------------

// Measures the loudness of each frame, to cut at silence. Returns often enough to be cancelled.
Status PiecesTask::measure(double budget_us) {
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

void PiecesTask::cut() {
  auto energies = energies_->energies();
  energies_.reset();
  energies.resize(recording().frames->extent().frames);  // pads with silence
  recording().pieces = cut_at_silence(energies, info().feature_rows);
  phase_ = detects_ ? Phase::detect : Phase::hear;
}

Status PiecesTask::detect(double budget_us) {
  if (!detection_)
    detection_ = std::make_unique<LanguageDetection>(model(), std::vector<Recording>{{recording().frames, {}}});
  LAPILLI_TRY(const bool done, detection_->poll(budget_us));
  if (!done) return {};
  languages_ = {language_token(model()->speech(), detection_->found().front())};
  detection_.reset();
  phase_ = Phase::hear;
  return {};
}

// ---- pieces that are heard together --------------------------------------------------------------------------------

Status PiecesTask::hear(double budget_us) {
  if (!job_ && next_ == recording().pieces.size()) return end_recording({});
  if (!job_) LAPILLI_CHECK(begin_together());
  return job_->pump(budget_us) ? end_together() : Status();
}

std::span<const Piece> PiecesTask::together() {
  const std::span<const Piece> pieces = recording().pieces;
  return pieces.subspan(next_, std::min<size_t>(request_.at_a_time, pieces.size() - next_));
}

Status PiecesTask::begin_together() {
  TranscribeRequest r = request_.how;
  r.languages = languages_;
  for (const Piece& p : together())
    r.recordings.push_back({std::make_shared<ChunkFrames>(recording().frames, p, info().feature_width), {}});
  heard_.assign(r.recordings.size(), {});
  r.on_segment = [this](const Segment& s) -> Status {
    heard_[s.recording].push_back(s);
    return {};
  };
  r.on_end = {};
  r.on_draft = {};
  LAPILLI_TRY(job_, TranscriptionTask::start(model(), std::move(r)));
  return {};
}

// Keeps segments up to the first piece with an error, which becomes the recording's.
Status PiecesTask::end_together() {
  LAPILLI_CHECK(Status(job_->status()));
  auto out = job_->take();
  job_.reset();
  results().transcripts[now_].language = out.transcripts.front().language;
  add_stats(results().stats, out.stats);
  keep_windows(std::move(out.windows));
  const auto pieces = together();
  for (size_t i = 0; i < pieces.size(); ++i) {
    LAPILLI_CHECK(give_chunk(pieces[i], std::move(heard_[i])));
    LAPILLI_CHECK(std::move(out.transcripts[i].status));
  }
  next_ += pieces.size();
  return {};
}

void PiecesTask::keep_windows(std::vector<Window> windows) {
  for (Window& w : windows) {
    w.seek += together()[w.recording].first;
    w.recording = now_;
    results().windows.push_back(std::move(w));
  }
}

Status PiecesTask::give_chunk(const Piece& piece, std::vector<Segment> heard) {
  for (Segment& s : heard) {
    s.recording = now_;
    shift(s, static_cast<double>(piece.first) * kSecondsPerFrame);
    LAPILLI_CHECK(give(std::move(s), request_.how.on_segment));
  }
  return {};
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

// After a lost device, the pieces that were being heard together are heard again.
void PiecesTask::release() {
  detection_.reset();
  job_.reset();
  if (!is_interrupted()) return;
  for (const CutRecording& r : request_.recordings) r.frames->use(nullptr);
}

Status PiecesTask::begin_again(const FrontEnd& front) {
  LAPILLI_TRY(const auto features, make_features(*model(), front));
  for (const CutRecording& r : request_.recordings) r.frames->use(features);
  return {};
}

}  // namespace lapilli::speech
