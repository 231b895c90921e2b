#include "speech/sound_features.hpp"

#include <algorithm>
#include <cmath>

namespace lapilli::speech {
namespace {

// Frames of a run: enough to keep a device busy, few for short sounds. Normalization sees all frames at once, so the
// largest pass covers the longest possible recording.
constexpr uint32_t kPasses[] = {128, 1024, 8192};
constexpr uint32_t kMostInParts = 1024;

// Louder than any recording; squares must fit a float.
constexpr float kMostLoud = 1e9f;

}  // namespace

Status check_samples(std::span<const float> samples, uint64_t first) {
  for (size_t i = 0; i < samples.size(); ++i)
    if (!(std::abs(samples[i]) <= kMostLoud))
      return fail(ErrorCode::invalid_data, "sample %u is %g, which is no sound; samples go from -1 to 1", first + i,
                  static_cast<double>(samples[i]));
  return {};
}

Result<std::unique_ptr<SoundFeatures>> SoundFeatures::create(std::shared_ptr<vulkan::Device> device,
                                                             SoundConfig config) {
  if (config.kind == SoundKind::samples)
    return fail(ErrorCode::invalid_argument, "%s: its model takes samples, no features", config.where);
  std::unique_ptr<SoundFeatures> made(new SoundFeatures());
  made->device_ = std::move(device);
  made->config_ = std::move(config);
  return made;
}

Result<FeaturePass*> SoundFeatures::pass(uint64_t frames, FrameOutput output) {
  const auto* size = std::lower_bound(std::begin(kPasses), std::end(kPasses), frames);
  if (size == std::end(kPasses))
    return fail(ErrorCode::unsupported, "%u frames of sound, which are taken as a whole; %u are possible", frames,
                kPasses[std::size(kPasses) - 1]);
  auto& pass = passes_[{*size, output}];
  if (!pass) pass = std::make_unique<FeaturePass>(device_, tables_, config_, PassShape{*size, output});
  return pass.get();
}

// Fills samples outside the recording by reflection about its first and last sample.
Status SoundFeatures::reflect(const Sound& sound, int64_t begin) {
  const auto total = static_cast<int64_t>(sound.samples), n = static_cast<int64_t>(samples_.size());
  std::vector<float> mirrored;
  if (begin < 0) {
    mirrored.resize(static_cast<size_t>(-begin) + 1);
    LAPILLI_CHECK(sound.source->read(0, mirrored));
    LAPILLI_CHECK(check_samples(mirrored, 0));
    for (int64_t i = begin; i < 0; ++i) samples_[static_cast<size_t>(i - begin)] = mirrored[static_cast<size_t>(-i)];
  }
  const int64_t behind = begin + n - total;
  if (behind <= 0) return {};
  mirrored.assign(static_cast<size_t>(behind), 0.0f);
  LAPILLI_CHECK(sound.source->read(static_cast<uint64_t>(total - 1 - behind), mirrored));
  LAPILLI_CHECK(check_samples(mirrored, static_cast<uint64_t>(total - 1 - behind)));
  std::copy(mirrored.rbegin(), mirrored.rend(), samples_.end() - behind);
  return {};
}

// Reads the samples of the frames, with silence after the source's end.
Status SoundFeatures::read_part(const Sound& sound, uint64_t first, uint64_t count) {
  const bool centred = config_.kind == SoundKind::log_mel;
  if (centred && sound.samples <= config_.frame_length / 2)
    return fail(ErrorCode::invalid_argument, "%u samples are too few for a frame: fill them up to a chunk of %u",
                sound.samples, config_.chunk_samples);
  const int64_t begin = static_cast<int64_t>(first * config_.hop) - (centred ? config_.frame_length / 2 : 0);
  samples_.assign((count - 1) * config_.hop + config_.frame_length, 0.0f);
  const auto end = begin + static_cast<int64_t>(samples_.size()), total = static_cast<int64_t>(sound.samples);
  const int64_t from = std::max<int64_t>(begin, 0), to = std::min(end, total);
  if (from < to) {
    const auto inside = std::span(samples_).subspan(static_cast<size_t>(from - begin), static_cast<size_t>(to - from));
    LAPILLI_CHECK(sound.source->read(static_cast<uint64_t>(from), inside));
    LAPILLI_CHECK(check_samples(inside, static_cast<uint64_t>(from)));
  }
  return begin < 0 || end > total ? reflect(sound, begin) : Status();
}

// ---- one thing at a time -------------------------------------------------------------------------------------------

void SoundFeatures::begin_loudest(const Sound& sound, uint64_t first, uint64_t count) {
  task_ = {};
  task_.sound = sound;
  task_.output = FrameOutput::loudest;
  task_.first = first;
  task_.count = count;
  task_.most_at_a_time = kMostInParts;
}

Status SoundFeatures::begin_frames(const Sound& sound, uint64_t first, float loudest, std::span<float> to) {
  const uint64_t count = to.size() / config_.mel_bins;
  if (config_.kind != SoundKind::log_mel || first + count > frames(sound.samples))
    return fail(ErrorCode::internal, "frames %u to %u of a sound cannot be made alone", first, first + count);
  task_ = {};
  task_.sound = sound;
  task_.first = first;
  task_.count = count;
  task_.most_at_a_time = kMostInParts;
  task_.floor = loudest * 1e-8f;  // 8 decades below the loudest
  task_.to = to;
  return {};
}

Status SoundFeatures::begin_all(const Sound& sound, std::span<float> to) {
  task_ = {};
  task_.sound = sound;
  task_.count = task_.most_at_a_time = frames(sound.samples);
  task_.to = to;
  if (to.size() == task_.count * config_.mel_bins) return {};
  return fail(ErrorCode::internal, "no room for the features of a sound");
}

Result<bool> SoundFeatures::load_tables() {
  if (tables_) return true;
  if (!loading_) {
    sources_ = sound_tables(config_);
    loading_ = WeightsLoading::start(device_, sources_);
  }
  for (;;) {
    LAPILLI_TRY(const auto step, loading_->step());
    if (step == WeightsLoading::Step::blocked) return false;
    if (step == WeightsLoading::Step::ended) break;
  }
  tables_ = loading_->take();
  loading_.reset();
  sources_.clear();
  return true;
}

// False: kernels are on trial.
Result<bool> SoundFeatures::begin_part() {
  Task& t = task_;
  t.now = std::min(t.count - t.done, t.most_at_a_time);
  LAPILLI_TRY(t.pass, pass(t.now, t.output));
  LAPILLI_TRY(const bool ready, t.pass->ready());
  if (!ready) return false;
  LAPILLI_CHECK(read_part(t.sound, t.first + t.done, t.now));
  LAPILLI_CHECK(t.pass->begin({samples_, t.floor, static_cast<uint32_t>(t.now)}));
  t.running = true;
  return true;
}

Status SoundFeatures::end_part() {
  Task& t = task_;
  t.running = false;
  if (t.output == FrameOutput::loudest) {
    of_frames_.resize(t.now);
    LAPILLI_CHECK(t.pass->rows(of_frames_));
    t.most = std::max(t.most, *std::max_element(of_frames_.begin(), of_frames_.end()));
  } else {
    LAPILLI_CHECK(t.pass->rows(t.to.subspan(t.done * config_.mel_bins, t.now * config_.mel_bins)));
  }
  t.done += t.now;
  return {};
}

Result<bool> SoundFeatures::poll() {
  if (task_.done == task_.count) return true;
  LAPILLI_TRY(const bool there, load_tables());
  if (!there) return false;
  if (!task_.running) {
    LAPILLI_TRY(const bool begun, begin_part());
    if (!begun) return false;
  }
  LAPILLI_TRY(const bool done, task_.pass->poll());
  if (done) LAPILLI_CHECK(end_part());
  return task_.done == task_.count;
}

Status SoundFeatures::wait() {
  if (loading_) return loading_->wait();
  return task_.pass ? task_.pass->wait() : Status();
}

Status SoundFeatures::run_to_end() {
  for (;;) {
    while (!device_->wait_while_paused(vulkan::kPauseRound)) {
    }
    LAPILLI_TRY(const bool done, poll());
    if (done) return {};
    LAPILLI_CHECK(wait());
  }
}

// ---- waiting -------------------------------------------------------------------------------------------------------

Result<float> SoundFeatures::loudest(const Sound& sound, uint64_t first, uint64_t count) {
  begin_loudest(sound, first, count);
  LAPILLI_CHECK(run_to_end());
  return found();
}

Status SoundFeatures::make(const Sound& sound, uint64_t first, float loudest, std::span<float> to) {
  LAPILLI_CHECK(begin_frames(sound, first, loudest, to));
  return run_to_end();
}

Result<std::vector<float>> SoundFeatures::make_all(const Sound& sound) {
  std::vector<float> values(frames(sound.samples) * config_.mel_bins);
  if (config_.kind == SoundKind::log_mel) {
    LAPILLI_TRY(const float most, loudest(sound));
    LAPILLI_CHECK(make(sound, 0, most, values));
  } else {
    LAPILLI_CHECK(begin_all(sound, values));
    LAPILLI_CHECK(run_to_end());
  }
  return values;
}

}  // namespace lapilli::speech
