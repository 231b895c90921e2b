// Frames computed from samples on the device: of a complete recording, and of one in progress.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "speech/frame_source.hpp"
#include "speech/sound_features.hpp"

namespace lapilli::speech {

// Frames of a complete recording, whose samples are read twice from first to last: the first time to find the loudest
// frame, which sets the floor of all features. A recording shorter than a chunk is padded with silence, as in training;
// one without samples has no frames.
class SoundFrames : public FrameSource {
 public:
  SoundFrames(std::shared_ptr<SoundFeatures> features, std::shared_ptr<audio::SampleSource> source, uint64_t samples);
  [[nodiscard]] Extent extent() const override;
  Result<bool> read(uint64_t first, std::span<float> rows) override;
  Status wait() override { return features_->wait(); }
  void use(const std::shared_ptr<SoundFeatures>& features) override;

 private:
  Result<bool> find_loudest();
  std::shared_ptr<SoundFeatures> features_;
  const SoundConfig config_;
  std::shared_ptr<audio::SampleSource> source_;
  Sound sound_;
  std::optional<float> loudest_;
  bool begun_ = false;
};

// Frames of a recording whose samples arrive over time. A window can be read once it is full or the end is known. Its
// floor depends on the loudest frame up to the window's end, even if more samples are there, so that results do not
// depend on how the samples were cut; the reference uses the whole recording, which is not known here.
class SampleStream : public FrameSource {
 public:
  explicit SampleStream(std::shared_ptr<SoundFeatures> features);
  ~SampleStream() override;
  // Samples at the configuration's rate, -1 to 1. Refuses samples after finish(), and values that are no sound.
  Status push(std::span<const float> samples);
  // Marks the end. A recording shorter than a chunk is padded like that of SoundFrames.
  Status finish();
  [[nodiscard]] uint64_t samples() const { return count_; }  // so far
  [[nodiscard]] size_t samples_held() const;                 // still needed

  [[nodiscard]] Extent extent() const override;
  Result<bool> read(uint64_t first, std::span<float> rows) override;
  Status wait() override { return features_->wait(); }
  void use(const std::shared_ptr<SoundFeatures>& features) override;

 private:
  class Tail;
  enum class Step : uint8_t { none, loudest, frames };
  Status begin(uint64_t first, std::span<float> rows);
  [[nodiscard]] Sound sound() const;

  std::shared_ptr<SoundFeatures> features_;
  const SoundConfig config_;
  std::unique_ptr<Tail> tail_;
  uint64_t count_ = 0;
  bool finished_ = false;
  uint64_t known_ = 0;  // frames that loudest_ covers
  float loudest_ = 0;
  Step step_ = Step::none;
};

}  // namespace lapilli::speech
