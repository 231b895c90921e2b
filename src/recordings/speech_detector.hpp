// Finds where in a recording somebody may be speaking. Quiet parts, steady sounds (hum, fans) and sounds that change
// only from time to time (notes, chords) are not speech. The detector knows no words: songs and noises that change as
// quickly as speech pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lapilli::recordings {

// Samples [first, first + count).
struct SpeechStretch {
  uint64_t first = 0, count = 0;
};

// Takes all samples of a recording, in order; keeps 800 bytes for each second.
class SpeechDetector {
 public:
  explicit SpeechDetector(uint32_t rate);
  void add(std::span<const float> samples);
  // Stretches in all that was added, with 0.18 seconds to each side; they include pauses of less than two
  // seconds.
  [[nodiscard]] std::vector<SpeechStretch> stretches() const;

  static constexpr uint32_t kBands = 16;  // from 200 to 4000 Hz, or as far as the rate goes

 private:
  void end_block();

  uint32_t block_;  // samples of a fiftieth of a second
  uint64_t count_ = 0;
  uint32_t in_block_ = 0;
  // A second-order filter for each band: its coefficients and its last two states.
  float gain_[kBands] = {}, back_[kBands] = {}, far_[kBands] = {}, near_state_[kBands] = {}, far_state_[kBands] = {};
  float energy_[kBands] = {};    // of the current block
  std::vector<uint8_t> levels_;  // each block's bands, in steps of half a decibel
};

}  // namespace lapilli::recordings
