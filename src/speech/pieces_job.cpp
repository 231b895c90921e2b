#include "speech/pieces_job.hpp"

#include <algorithm>
#include <utility>

#include "speech/prefix.hpp"
#include "speech/window.hpp"

namespace lapilli::speech {

namespace {

// A piece's frames, kept from the first read on, because a recording can only be read forwards.
class PieceFrames : public FrameSource {
 public:
  PieceFrames(std::shared_ptr<FrameSource> all, const Piece& piece, uint32_t width)
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
  Status rest() override { return all_ ? all_->rest() : Status(); }

 private:
  std::shared_ptr<FrameSource> all_;  // until the frames are in values_
  Piece piece_;
  uint32_t width_;
  std::vector<float> values_;
};

// Moves a segment's times to its piece's place in the recording.
void shift(Segment& s, double seconds) {
  s.recording = 0;
  s.window += seconds;
  s.begin += seconds;
  s.end += seconds;
  for (double& t : s.times) t += seconds;
  for (Word& w : s.words) {
    w.begin += seconds;
    w.end += seconds;
  }
}

}  // namespace

PiecesJob::PiecesJob(std::shared_ptr<Model> model, TranscribeRequest request, std::vector<Piece> pieces,
                     uint32_t at_a_time)
    : model_(std::move(model)),
      info_(model_->info()),
      request_(std::move(request)),
      pieces_(std::move(pieces)),
      at_a_time_(at_a_time),
      frames_(all().extent().frames) {
  out_.transcripts.resize(1);
}

Result<std::unique_ptr<PiecesJob>> PiecesJob::start(std::shared_ptr<Model> model, TranscribeRequest request,
                                                    std::vector<Piece> pieces, uint32_t at_a_time) {
  if (request.recordings.size() != 1)
    return fail(ErrorCode::invalid_argument, "%u recordings: one is heard in pieces", request.recordings.size());
  if (at_a_time == 0) return fail(ErrorCode::invalid_argument, "0 pieces at a time: there is to be one at least");
  LAPILLI_TRY(const bool detects, check(model, request));
  std::unique_ptr<PiecesJob> job(new PiecesJob(std::move(model), std::move(request), std::move(pieces), at_a_time));
  job->detects_ = detects;
  return job;
}

Result<bool> PiecesJob::check(const std::shared_ptr<Model>& model, const TranscribeRequest& request) {
  LAPILLI_CHECK(check_transcribes(*model));
  if (request.condition_on_previous)
    return fail(ErrorCode::invalid_argument, "pieces do not go on from what was written before them");
  PrefixRequest wanted;
  wanted.task = request.task;
  wanted.timestamps = request.timestamps;
  if (!request.languages.empty()) wanted.language = request.languages.front();
  LAPILLI_TRY(const auto prefix, make_prefix(model->speech(), wanted));
  TranscribeRequest nothing = request;
  nothing.recordings.clear();
  LAPILLI_TRY(const auto checked, TranscriptionJob::start(model, std::move(nothing)));
  return prefix.detect_language;
}

bool PiecesJob::pump(double budget_us) {
  if (ended_) return true;
  if (cancelled_) {
    out_.cancelled = true;
    end({});
  } else if (!model_->device()->is_paused()) {
    if (auto s = step(budget_us); !s) stop(std::move(s));
  }
  return ended_;
}

void PiecesJob::rest() {
  if (ended_) return;
  if (model_->device()->is_paused()) {
    (void)model_->device()->wait_while_paused(vulkan::kPauseRound);
    return;
  }
  if (job_) return job_->rest();
  if (!detection_) return;
  if (auto s = detection_->rest(); !s) stop(std::move(s));
}

Status PiecesJob::step(double budget_us) {
  if (detects_) return detect(budget_us);
  if (!job_ && next_ == pieces_.size()) {
    end({});
    return {};
  }
  if (!job_) LAPILLI_CHECK(begin_together());
  return job_->pump(budget_us) ? end_together() : Status();
}

Status PiecesJob::detect(double budget_us) {
  if (!detection_) detection_ = std::make_unique<LanguageDetection>(model_, request_.recordings);
  LAPILLI_TRY(const bool done, detection_->poll(budget_us));
  if (!done) return {};
  request_.languages = {language_token(model_->speech(), detection_->found().front())};
  detection_.reset();
  detects_ = false;
  return {};
}

std::span<const Piece> PiecesJob::together() const {
  return std::span(pieces_).subspan(next_, std::min<size_t>(at_a_time_, pieces_.size() - next_));
}

Status PiecesJob::begin_together() {
  TranscribeRequest r = request_;
  r.recordings.clear();
  for (const Piece& p : together()) {
    const auto& frames = request_.recordings.front().frames;
    r.recordings.push_back({std::make_shared<PieceFrames>(frames, p, model_->info().feature_width), {}});
  }
  heard_.assign(r.recordings.size(), {});
  r.on_segment = [this](const Segment& s) -> Status {
    heard_[s.recording].push_back(s);
    return {};
  };
  r.on_end = {};
  r.on_draft = {};
  LAPILLI_TRY(job_, TranscriptionJob::start(model_, std::move(r)));
  return {};
}

// Keeps segments up to the first piece with an error, which becomes the recording's.
Status PiecesJob::end_together() {
  if (!job_->status()) return job_->status();
  auto out = job_->take();
  job_.reset();
  Transcript& all = out_.transcripts.front();
  const auto pieces = together();
  for (size_t i = 0; i < pieces.size() && all.status; ++i) {
    LAPILLI_CHECK(give(pieces[i], std::move(heard_[i])));
    all.status = std::move(out.transcripts[i].status);
  }
  all.language = out.transcripts.front().language;
  add_stats(out_.stats, out.stats);
  for (Window& w : out.windows) {
    w.seek += pieces[w.recording].first;
    w.recording = 0;
    out_.windows.push_back(std::move(w));
  }
  next_ += pieces.size();
  if (!all.status) end({});
  return {};
}

Status PiecesJob::give(const Piece& piece, std::vector<Segment> heard) {
  for (Segment& s : heard) {
    shift(s, static_cast<double>(piece.first) * kSecondsPerFrame);
    if (request_.on_segment) LAPILLI_CHECK(request_.on_segment(s));
    s.looks.reset();
    out_.transcripts.front().segments.push_back(std::move(s));
  }
  return {};
}

uint64_t PiecesJob::frames_done() const {
  if (ended_ && !interrupted_) return frames_;
  const uint64_t before = next_ < pieces_.size() ? pieces_[next_].first : frames_;
  return before + (job_ ? job_->frames_done() : 0);
}

// ---- its end -------------------------------------------------------------------------------------------------------

// After a lost device, the pieces that were being heard together are heard again.
void PiecesJob::stop(Status status) {
  if (status.error().code != ErrorCode::device_lost) return end(std::move(status));
  status_ = std::move(status);
  ended_ = interrupted_ = true;
  detection_.reset();
  job_.reset();
  model_.reset();
  all().use(nullptr);
}

Status PiecesJob::resume(std::shared_ptr<Model> model, const std::shared_ptr<SoundFeatures>& features) {
  if (!interrupted_) return fail(ErrorCode::invalid_argument, "the job has not ended because of a lost device");
  LAPILLI_CHECK(check_same_model(model->info(), info_));
  model_ = std::move(model);
  all().use(features);
  status_ = {};
  ended_ = interrupted_ = false;
  return {};
}

void PiecesJob::end(Status status) {
  status_ = std::move(status);
  ended_ = true;
  detection_.reset();
  job_.reset();
  model_.reset();
}

}  // namespace lapilli::speech
