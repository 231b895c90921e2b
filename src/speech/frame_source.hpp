// The frames of a recording (log-mel features, a hundredth of a second each), window by window: whoever makes them need
// not have all of them at a time, nor know yet how many there will be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "model/features.hpp"

namespace lapilli::speech {

class SoundFeatures;

// Of one thread at a time.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  struct Extent {
    uint64_t frames = 0;  // that may be asked for
    bool whole = true;    // there will be no more
  };
  [[nodiscard]] virtual Extent extent() const = 0;
  // Fills whole rows of ModelInfo::feature_width numbers with the frames from `first` on, which are all there. Windows
  // are asked for in order, with overlaps. False: the device is at it; to be called again with the same arguments.
  // Does not wait for the device. Of sources that share a SoundFeatures one is read at a time, to its end.
  virtual Result<bool> read(uint64_t first, std::span<float> rows) = 0;
  // Waits, bounded, for what read() was waiting for.
  virtual Status rest() { return {}; }
  // Goes on with these, on another device; null: lets go of those that it has. What was being read is to be read again.
  virtual void use(const std::shared_ptr<SoundFeatures>& features) { (void)features; }
};

// A recording, as those who transcribe have it.
struct Recording {
  std::shared_ptr<FrameSource> frames;
  // Times of ids lie in so many frames from the beginning; none: in all of them. More than there are: the filling of
  // the last window counts as well.
  std::optional<uint64_t> heard;
};

// Frames that lie in memory: the first `count` of them, or all.
Recording recording_of(std::shared_ptr<const model::Features> features, std::optional<uint64_t> count = {});

}  // namespace lapilli::speech
