// The frames of a recording (log-mel features, a hundredth of a second each), read window by window: a source need not
// hold all of them, nor know yet how many there will be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "model/features.hpp"

namespace lapilli::speech {

class SoundFeatures;

// For one thread at a time.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  struct Extent {
    uint64_t frames = 0;  // that can be read
    bool whole = true;    // no more will follow
  };
  [[nodiscard]] virtual Extent extent() const = 0;
  // Fills whole rows of ModelInfo::feature_width values with the frames from `first` on, all of which must be
  // available. Windows are read in order, with overlaps. False: the device is working on it; call again with the same
  // arguments. Does not wait for the device. Sources that share a SoundFeatures are read one at a time, each read to
  // its end.
  virtual Result<bool> read(uint64_t first, std::span<float> rows) = 0;
  // Waits, bounded, for what read() was waiting for.
  virtual Status wait() { return {}; }
  // Switches to these features, on another device; null releases the current ones. An interrupted read starts over.
  virtual void use(const std::shared_ptr<SoundFeatures>& features) { (void)features; }
};

// A recording as input of a transcription.
struct Recording {
  std::shared_ptr<FrameSource> frames;
  // Ids get times within this many frames from the beginning; none: within all. If larger than the recording, the
  // padding of the last window counts as well.
  std::optional<uint64_t> timed_frames;
};

// A recording of frames in memory: the first `count` of them, or all.
Recording recording_of(std::shared_ptr<const model::Features> features, std::optional<uint64_t> count = {});

}  // namespace lapilli::speech
