#include "recordings/speech_detector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace lapilli::recordings {

namespace {

constexpr uint32_t kBlocksPerSecond = 50;
constexpr double kLevelStep = 0.5, kLowest = -110;  // decibels
// Thresholds between silence, sound and speech, found with spoken clips, hum and chords.
constexpr int kWithinLoudest = 40;     // decibels below the loud parts of the recording: quieter is silence
constexpr int kLeastLoud = -65;        // decibels: quieter is silence in every recording
constexpr double kLeastMovement = 9;   // decibels between the loudest and the quietest around
constexpr double kLeastChange = 1.5;   // decibels by which bands change against each other, in most blocks around
constexpr size_t kAround = 15;         // blocks to each side that are examined
constexpr size_t kLeastBlocks = 5;     // loud blocks around one that is speech
constexpr size_t kMostOfASound = 15;   // blocks by which a loud sound may extend before or after speech
constexpr size_t kBeside = 9;          // blocks kept to each side: with rounding to blocks, less than 0.2 s
constexpr size_t kLongestPause = 100;  // blocks

constexpr auto kBands = SpeechDetector::kBands;

// Measures derived from the levels of blocks.
class Blocks {
 public:
  explicit Blocks(std::span<const uint8_t> levels) : levels_(levels), count_(levels.size() / kBands) {
    for (size_t t = 0; t < count_; ++t) {
      double sum = 0;
      for (size_t b = 0; b < kBands; ++b) sum += level(t, b);
      mean_.push_back(static_cast<float>(sum / kBands));
    }
    floor_ = static_cast<float>(std::max<double>(loud() - kWithinLoudest, kLeastLoud));
    for (size_t t = 0; t < count_; ++t) change_.push_back(change_at(t));
  }
  [[nodiscard]] size_t count() const { return count_; }
  [[nodiscard]] bool is_loud(size_t t) const { return mean_[t] > floor_; }
  [[nodiscard]] bool is_speech(size_t t) const {
    if (!is_loud(t)) return false;
    const size_t begin = t > kAround ? t - kAround : 0, end = std::min(t + kAround + 1, count_);
    float lowest = mean_[t], highest = mean_[t];
    std::array<float, 2 * kAround + 1> changes{};
    size_t n = 0;
    for (size_t i = begin; i < end; ++i) {
      const float here = std::max(mean_[i], floor_ - 10);
      lowest = std::min(lowest, here);
      highest = std::max(highest, here);
      if (is_loud(i)) changes[n++] = change_[i];
    }
    if (n < kLeastBlocks || highest - lowest < kLeastMovement) return false;
    std::nth_element(changes.begin(), changes.begin() + static_cast<ptrdiff_t>(n / 2),
                     changes.begin() + static_cast<ptrdiff_t>(n));
    return changes[n / 2] >= kLeastChange;
  }

 private:
  [[nodiscard]] double level(size_t t, size_t band) const { return kLowest + kLevelStep * levels_[t * kBands + band]; }
  // The level that a twentieth of the blocks exceeds.
  [[nodiscard]] double loud() const {
    std::vector<float> sorted = mean_;
    if (sorted.empty()) return kLowest;
    const auto at = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() * 19 / 20);
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }
  // By how much the bands diverge within two blocks, apart from their common change.
  [[nodiscard]] float change_at(size_t t) const {
    if (t + 2 >= count_) return 0;
    std::array<double, kBands> moved{};
    double all = 0;
    for (size_t b = 0; b < kBands; ++b) {
      const auto audible = [&](size_t at) { return std::max(level(at, b), static_cast<double>(floor_) - 10); };
      moved[b] = audible(t + 2) - audible(t);
      all += moved[b] / kBands;
    }
    double apart = 0;
    for (const double m : moved) apart += std::abs(m - all) / kBands;
    return static_cast<float>(apart);
  }

  std::span<const uint8_t> levels_;
  size_t count_;
  std::vector<float> mean_, change_;
  float floor_ = 0;
};

// Blocks [begin, end).
struct Run {
  size_t begin = 0, end = 0;
};

// Runs of speech, extended by the loud sounds that they begin and end in.
std::vector<Run> runs_of(const Blocks& blocks) {
  std::vector<Run> runs;
  for (size_t t = 0; t < blocks.count(); ++t) {
    if (!blocks.is_speech(t)) continue;
    Run run{t, t};
    while (run.end < blocks.count() && blocks.is_speech(run.end)) ++run.end;
    t = run.end;
    const size_t first = run.begin, last = run.end;
    while (run.begin > 0 && first - run.begin < kMostOfASound && blocks.is_loud(run.begin - 1)) --run.begin;
    while (run.end < blocks.count() && run.end - last < kMostOfASound && blocks.is_loud(run.end)) ++run.end;
    runs.push_back(run);
  }
  return runs;
}

// Widens runs by the blocks beside them and joins them across short pauses.
std::vector<Run> joined(std::vector<Run> runs, size_t count) {
  std::vector<Run> all;
  for (Run run : runs) {
    run.begin -= std::min(run.begin, kBeside);
    run.end = std::min(run.end + kBeside, count);
    if (!all.empty() && run.begin < all.back().end + kLongestPause)
      all.back().end = std::max(all.back().end, run.end);
    else
      all.push_back(run);
  }
  return all;
}

}  // namespace

SpeechDetector::SpeechDetector(uint32_t rate) : block_(std::max(rate / kBlocksPerSecond, 1u)) {
  const double lowest = 200, highest = std::min(4000.0, 0.45 * rate),
               width = std::pow(highest / lowest, 1.0 / (kBands - 1)) - 1;
  for (uint32_t b = 0; b < kBands; ++b) {
    const double turn = 2 * 3.14159265358979323846 * lowest * std::pow(1 + width, b) / rate;
    const double half = std::sin(turn) * width / 2;
    gain_[b] = static_cast<float>(half / (1 + half));
    back_[b] = static_cast<float>(2 * std::cos(turn) / (1 + half));
    far_[b] = static_cast<float>(-(1 - half) / (1 + half));
  }
}

void SpeechDetector::add(std::span<const float> samples) {
  for (const float sample : samples) {
    for (uint32_t b = 0; b < kBands; ++b) {
      const float state = sample + back_[b] * near_state_[b] + far_[b] * far_state_[b];
      const float out = gain_[b] * (state - far_state_[b]);
      far_state_[b] = near_state_[b];
      near_state_[b] = state;
      energy_[b] += out * out;
    }
    if (++in_block_ == block_) end_block();
  }
  count_ += samples.size();
}

void SpeechDetector::end_block() {
  for (uint32_t b = 0; b < kBands; ++b) {
    const double decibels = 10 * std::log10(static_cast<double>(energy_[b]) / block_ + 1e-12);
    const double steps = (std::isfinite(decibels) ? decibels - kLowest : 0) / kLevelStep;
    levels_.push_back(static_cast<uint8_t>(std::clamp(std::lround(steps), 0L, 255L)));
    energy_[b] = 0;
    // Denormal floats would be slow.
    if (std::abs(near_state_[b]) + std::abs(far_state_[b]) < 1e-20f || !std::isfinite(near_state_[b]))
      near_state_[b] = far_state_[b] = 0;
  }
  in_block_ = 0;
}

std::vector<SpeechStretch> SpeechDetector::stretches() const {
  const Blocks blocks(levels_);
  std::vector<SpeechStretch> all;
  for (const Run& run : joined(runs_of(blocks), blocks.count())) {
    const uint64_t first = uint64_t{run.begin} * block_;
    // Samples behind the last whole block belong to it.
    const uint64_t end = run.end == blocks.count() ? count_ : uint64_t{run.end} * block_;
    all.push_back({first, end - first});
  }
  return all;
}

}  // namespace lapilli::recordings
