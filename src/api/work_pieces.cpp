// Recordings cut at silence, whose pieces are transcribed several at a time: PiecesJobs, one recording after the other.
#include <algorithm>
#include <optional>

#include "api/handles.hpp"
#include "api/work_recordings.hpp"
#include "speech/pieces_job.hpp"
#include "speech/sound_frames.hpp"

namespace lapilli::api {

namespace {

class Pieces : public Recordings {
 public:
  explicit Pieces(WorkRequest& from, uint32_t at_a_time) : Recordings(from), at_a_time_(at_a_time) {}
  Status begin(const WorkRequest& from, speech::TranscribeRequest how);

  bool pump(double budget_us) override;
  void rest() override {
    if (job_) job_->rest();
  }
  void cancel() override { cancelled_ = true; }
  [[nodiscard]] const Status& status() const override { return status_; }
  [[nodiscard]] WorkProgress progress() const override;
  [[nodiscard]] bool is_interrupted() const override { return interrupted_; }
  Status resume(const std::shared_ptr<Model>& model, const FrontEnd& front) override;
  Status abandon() override;
  Result<WorkOutput> take() override;

 private:
  struct Sound {
    std::shared_ptr<audio::SampleSource> source;
    uint64_t samples = 0;
    std::shared_ptr<speech::SoundFrames> frames;
  };
  Status step(double budget_us);
  Status measure(double budget_us);
  Status start_job();
  Status end_job();
  void end_recording_with(Status status);
  void interrupt(Status status);
  void end();

  const uint32_t at_a_time_;
  std::shared_ptr<Model> model_;  // held until the end
  uint32_t hop_ = 1;
  speech::TranscribeRequest how_;  // for each recording, without recordings of its own
  std::vector<Sound> sounds_;      // by input
  uint64_t frames_ = 0;            // of all recordings
  size_t now_ = 0;                 // index of the current input
  std::optional<speech::FrameEnergies> energies_;
  std::unique_ptr<speech::PiecesJob> job_;
  bool ended_ = false, interrupted_ = false, cancelled_ = false;
  Status status_;
  speech::TranscribeOutput out_;
};

Status Pieces::begin(const WorkRequest& from, speech::TranscribeRequest how) {
  if (auto s = speech::PiecesJob::check(from.model, how); !s) return std::move(s).failure();
  LAPILLI_TRY(auto made, speech::SoundFeatures::create(from.model->device(), *from.front->sound));
  const std::shared_ptr<speech::SoundFeatures> features = std::move(made);
  for (const Input& input : from.inputs) {
    Sound& sound = sounds_.emplace_back(Sound{source_of(input), samples_of(input), nullptr});
    sound.frames = std::make_shared<speech::SoundFrames>(features, sound.source, sound.samples);
    frames_ += sound.frames->extent().frames;
  }
  model_ = from.model;
  hop_ = from.front->sound->hop;
  how_ = std::move(how);
  how_.on_segment = [this](const speech::Segment& segment) {
    speech::Segment own = segment;
    own.recording = now_;
    return hear(own);
  };
  out_.transcripts.resize(sounds_.size());
  return {};
}

// ---- one recording after the other ---------------------------------------------------------------------------------

bool Pieces::pump(double budget_us) {
  if (ended_) return true;
  if (cancelled_ || now_ == sounds_.size()) {
    out_.cancelled = now_ < sounds_.size();
    end();
  } else if (auto s = step(budget_us); !s) {
    s.error().code == ErrorCode::device_lost ? interrupt(std::move(s)) : end_recording_with(std::move(s));
  }
  return ended_;
}

Status Pieces::step(double budget_us) {
  if (!job_) return measure(budget_us);
  return job_->pump(budget_us) ? end_job() : Status();
}

// Measures the loudness of each frame, to cut at silence.
Status Pieces::measure(double budget_us) {
  const auto since = Clock::now();
  const Sound& sound = sounds_[now_];
  if (!energies_) energies_.emplace(*sound.source, sound.samples, hop_);
  do {
    LAPILLI_TRY(const bool done, energies_->read_some());
    if (done) return start_job();
  } while (ms_since(since) * 1000 < std::min(budget_us, 50'000.0));  // returns often enough to be cancelled
  return {};
}

Status Pieces::start_job() {
  auto energies = energies_->energies();
  energies_.reset();
  const auto& frames = sounds_[now_].frames;
  energies.resize(frames->extent().frames);  // pads with silence
  auto request = how_;
  request.recordings = {{frames, {}}};
  LAPILLI_TRY(job_,
              speech::PiecesJob::start(model_, std::move(request),
                                       speech::cut_at_silence(energies, model_->info().feature_rows), at_a_time_));
  return {};
}

Status Pieces::end_job() {
  if (!job_->status()) return job_->status();
  auto said = job_->take();
  add_stats(out_.stats, said.stats);
  end_recording_with(std::move(said.transcripts.front().status));
  return {};
}

// An error that does not concern this recording alone fails all.
void Pieces::end_recording_with(Status status) {
  job_.reset();
  energies_.reset();
  if (!status && !concerns_one(status.error())) {
    status_ = std::move(status);
    return end();
  }
  tell_end(now_, status);
  out_.transcripts[now_++].status = std::move(status);
}

WorkProgress Pieces::progress() const {
  uint64_t done = job_ ? job_->frames_done() : 0;
  for (size_t i = 0; i < now_ && i < sounds_.size(); ++i) done += sounds_[i].frames->extent().frames;
  return {done, frames_, tokens()};
}

void Pieces::end() {
  ended_ = true;
  job_.reset();
  model_.reset();
}

Result<WorkOutput> Pieces::take() {
  LAPILLI_CHECK(Status(status_));
  return output(out_);
}

// ---- a lost device -------------------------------------------------------------------------------------------------

void Pieces::interrupt(Status status) {
  status_ = std::move(status);
  ended_ = interrupted_ = true;
  model_.reset();
  for (const Sound& sound : sounds_) sound.frames->use(nullptr);
}

Status Pieces::resume(const std::shared_ptr<Model>& model, const FrontEnd& front) {
  if (!front.sound) return hears_nothing();
  LAPILLI_TRY(auto made, speech::SoundFeatures::create(model->device(), *front.sound));
  const std::shared_ptr<speech::SoundFeatures> features = std::move(made);
  if (job_) LAPILLI_CHECK(job_->resume(model, features));
  for (const Sound& sound : sounds_) sound.frames->use(features);
  model_ = model;
  status_ = {};
  ended_ = interrupted_ = false;
  return {};
}

Status Pieces::abandon() {
  interrupted_ = false;
  status_ = {};
  out_.cancelled = true;
  return {};
}

}  // namespace

Result<std::unique_ptr<Work>> start_pieces(WorkRequest request, speech::TranscribeRequest how) {
  for (size_t i = 0; i < request.inputs.size(); ++i)
    if (request.inputs[i].more_samples)
      return fail(ErrorCode::invalid_argument,
                  "%s: input %u goes on, and lapilli_options.pieces cuts recordings that are there as a whole",
                  request.function, i);
  auto work = std::make_unique<Pieces>(request, request.options.pieces);
  LAPILLI_CHECK(work->begin(request, std::move(how)));
  return std::unique_ptr<Work>(std::move(work));
}

}  // namespace lapilli::api
