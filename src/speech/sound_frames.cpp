#include "speech/sound_frames.hpp"

#include <algorithm>

namespace lapilli::speech {

SoundFrames::SoundFrames(std::shared_ptr<SoundFeatures> features, std::shared_ptr<audio::SampleSource> source,
                         uint64_t samples)
    : features_(std::move(features)), config_(features_->config()), source_(std::move(source)) {
  if (samples > 0) sound_ = {source_.get(), std::max<uint64_t>(samples, config_.chunk_samples)};
}

FrameSource::Extent SoundFrames::extent() const { return {config_.frames(sound_.samples), true}; }

void SoundFrames::use(const std::shared_ptr<SoundFeatures>& features) {
  features_ = features;
  begun_ = false;
}

Result<bool> SoundFrames::find_loudest() {
  if (!begun_) features_->begin_loudest(sound_, 0, extent().frames);
  begun_ = true;
  LAPILLI_TRY(const bool done, features_->poll());
  if (!done) return false;
  loudest_ = features_->found();
  begun_ = false;
  return true;
}

Result<bool> SoundFrames::read(uint64_t first, std::span<float> rows) {
  if (!loudest_) {
    LAPILLI_TRY(const bool found, find_loudest());
    if (!found) return false;
  }
  if (!begun_) LAPILLI_CHECK(features_->begin_frames(sound_, first, *loudest_, rows));
  const auto done = features_->poll();
  begun_ = done && !*done;  // after an error the next read starts over
  return done;
}

// ---- streams -------------------------------------------------------------------------------------------------------

// The last samples of a recording, from `first_` on.
class SampleStream::Tail : public audio::SampleSource {
 public:
  Result<uint64_t> read(uint64_t first, std::span<float> to) override {
    if (first < first_)
      return fail(ErrorCode::internal, "samples from %u on were asked for; the first one kept is %u", first, first_);
    return audio::SamplesInMemory(samples_).read(first - first_, to);
  }
  void push(std::span<const float> samples) { samples_.insert(samples_.end(), samples.begin(), samples.end()); }
  // Drops samples before this one.
  void forget(uint64_t before) {
    if (before <= first_) return;
    const uint64_t n = std::min<uint64_t>(before - first_, samples_.size());
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(n));
    first_ += n;
  }
  [[nodiscard]] size_t size() const { return samples_.size(); }

 private:
  uint64_t first_ = 0;
  std::vector<float> samples_;
};

SampleStream::SampleStream(std::shared_ptr<SoundFeatures> features)
    : features_(std::move(features)), config_(features_->config()), tail_(std::make_unique<Tail>()) {}
SampleStream::~SampleStream() = default;

size_t SampleStream::samples_held() const { return tail_->size(); }

void SampleStream::use(const std::shared_ptr<SoundFeatures>& features) {
  features_ = features;
  step_ = Step::none;
}

Status SampleStream::push(std::span<const float> samples) {
  if (finished_) return fail(ErrorCode::invalid_argument, "samples behind the end of a recording");
  LAPILLI_CHECK(check_samples(samples, count_));
  tail_->push(samples);
  count_ += samples.size();
  return {};
}

Status SampleStream::finish() {
  if (finished_) return fail(ErrorCode::invalid_argument, "the recording has ended already");
  finished_ = true;
  return {};
}

// Until the end is known, the length is larger than anything read.
Sound SampleStream::sound() const {
  constexpr uint64_t kUnknown = uint64_t{1} << 60;
  return {tail_.get(), finished_ ? std::max<uint64_t>(count_, config_.chunk_samples) : kUnknown};
}

// A frame is available once the samples of its second half are.
FrameSource::Extent SampleStream::extent() const {
  if (finished_) return {count_ == 0 ? 0 : config_.frames(sound().samples), true};
  const uint64_t half = config_.frame_length / 2;
  return {count_ <= half ? 0 : (count_ - half) / config_.hop + 1, false};
}

// First looks for the loudest among frames that are new in this window: they may be louder than those before.
Status SampleStream::begin(uint64_t first, std::span<float> rows) {
  const uint64_t end = first + rows.size() / config_.mel_bins;
  if (step_ == Step::none) {
    const uint64_t begin = std::min(first, known_) * config_.hop, half = config_.frame_length / 2;
    tail_->forget(begin > half ? begin - half : 0);
    features_->begin_loudest(sound(), known_, end > known_ ? end - known_ : 0);
    step_ = Step::loudest;
    return {};
  }
  loudest_ = std::max(loudest_, features_->found());
  known_ = std::max(known_, end);
  step_ = Step::frames;
  return features_->begin_frames(sound(), first, loudest_, rows);
}

Result<bool> SampleStream::read(uint64_t first, std::span<float> rows) {
  if (step_ == Step::none) LAPILLI_CHECK(begin(first, rows));
  LAPILLI_TRY(bool done, features_->poll());
  if (!done) return false;
  if (step_ == Step::loudest) {
    LAPILLI_CHECK(begin(first, rows));
    LAPILLI_TRY(done, features_->poll());
    if (!done) return false;
  }
  step_ = Step::none;
  return true;
}

}  // namespace lapilli::speech
