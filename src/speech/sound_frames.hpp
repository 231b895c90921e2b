// Frames made of samples on the device: of a recording that is there as a whole, and of one that is still going on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "speech/frame_source.hpp"
#include "speech/sound_features.hpp"

namespace lapilli::speech {

// Samples of one recording, all of them: read twice from first to last, once for the loudest frame, which the floor of
// all features goes by. What is shorter than a chunk is filled up with silence, as models were trained; of no samples
// there are no frames.
class SoundFrames : public FrameSource {
 public:
  SoundFrames(std::shared_ptr<SoundFeatures> features, std::shared_ptr<audio::SampleSource> source, uint64_t samples);
  [[nodiscard]] Extent extent() const override;
  Result<bool> read(uint64_t first, std::span<float> rows) override;
  Status rest() override { return features_->rest(); }
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

// Samples that come one after the other. A window can be read as soon as it is full, or the end was told. The floor of
// its features goes by the loudest frame up to the window's end, however much has come by then, so that the result does
// not depend on how the samples were cut: the reference looks at the whole recording, which is not known here.
class SampleStream : public FrameSource {
 public:
  explicit SampleStream(std::shared_ptr<SoundFeatures> features);
  ~SampleStream() override;
  // At the rate of the features' configuration, -1 to 1. Refuses samples behind the end, and numbers that are no sound.
  Status push(std::span<const float> samples);
  // There are no more. What is shorter than a chunk is filled up as that of SoundFrames.
  Status finish();
  [[nodiscard]] bool is_finished() const { return finished_; }
  [[nodiscard]] uint64_t samples() const { return count_; }  // so far
  [[nodiscard]] size_t samples_held() const;                 // that are still needed

  [[nodiscard]] Extent extent() const override;
  Result<bool> read(uint64_t first, std::span<float> rows) override;
  Status rest() override { return features_->rest(); }
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
  uint64_t known_ = 0;  // frames that loudest_ is of
  float loudest_ = 0;
  Step step_ = Step::none;
};

}  // namespace lapilli::speech
