// Quiet points of a recording, which cut it into chunks that can be transcribed without the sound before them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "audio/samples.hpp"

namespace lapilli::speech {

// Mean squares of each frame's samples, read from first to last, some frames at a time.
class FrameEnergies {
 public:
  FrameEnergies(audio::SampleSource& source, uint64_t samples, uint32_t hop);
  // Reads a hundred frames; true: those were the last.
  Result<bool> read_some();
  [[nodiscard]] const std::vector<float>& energies() const { return energies_; }

 private:
  audio::SampleSource& source_;
  const uint64_t samples_;
  const uint32_t hop_;
  uint64_t at_ = 0;
  std::vector<float> energies_, block_;
};
// All energies at once. Calls `go_on` often; false ends the reading with ErrorCode::cancelled.
Result<std::vector<float>> frame_energies(audio::SampleSource& source, uint64_t samples, uint32_t hop,
                                          const std::function<bool()>& go_on = {});

// Frames [first, first + count) of a recording.
struct Chunk {
  uint64_t first = 0, count = 0;
};
// Cuts the whole recording into chunks of at most `most` frames. Each chunk ends where its second half is quietest,
// averaged over a fifth of a second; of equally quiet points, at the last.
std::vector<Chunk> cut_at_silence(std::span<const float> energies, uint64_t most);

}  // namespace lapilli::speech
