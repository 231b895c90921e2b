// A spoken sentence is taken for speech; silence, hum, fans and chords are not.
#include "recordings/speech_detector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "recordings/reader.hpp"
#include "recordings/sounds.hpp"
#include "recordings/steady_sounds.hpp"

namespace lapilli::recordings {
namespace {

using test::chords;
using test::hum;

constexpr uint32_t kRate = 16000;

// The spoken part of the sentence by its waveform: it begins 0.23 s after the file's beginning.
const std::vector<float>& spoken() {
  static const std::vector<float> samples = [] {
    auto reader = open_wav(LAPILLI_TEST_DATA "/sounds/spoken.wav");
    std::vector<float> all(1 << 20);
    if (!reader) return std::vector<float>();
    const auto got = (*reader)->read(all);
    all.resize(got ? *got : 0);
    return all;
  }();
  return samples;
}

std::vector<float> noise(double seconds, float loudness) {
  std::mt19937 random(7);
  std::normal_distribution<float> draw(0, loudness);
  std::vector<float> samples(static_cast<size_t>(seconds * kRate));
  for (float& s : samples) s = draw(random);
  return samples;
}

std::vector<SpeechStretch> found(const std::vector<std::vector<float>>& parts, uint32_t rate = kRate) {
  SpeechDetector detector(rate);
  for (const auto& part : parts) detector.add(part);
  return detector.stretches();
}

TEST(SpeechDetector, SteadySoundsAreNoSpeech) {
  EXPECT_TRUE(found({std::vector<float>(8 * kRate)}).empty());
  EXPECT_TRUE(found({hum(kRate, 8)}).empty());
  EXPECT_TRUE(found({noise(8, 0.02f)}).empty());
  for (const double each : {0.4, 1.0, 2.0}) EXPECT_TRUE(found({chords(kRate, 8, each)}).empty()) << each;
}

TEST(SpeechDetector, SpeechIsFoundBetweenOtherSounds) {
  ASSERT_EQ(spoken().size(), 47840u);
  const double length = 47840.0 / kRate;
  // Steady loud sound counts as speech for up to half a second.
  const std::vector<std::pair<std::vector<float>, double>> kBetween{
      {std::vector<float>(5 * kRate), 0.2}, {hum(kRate, 5), 0.2}, {chords(kRate, 5, 1), 0.2}, {noise(5, 0.003f), 0.6}};
  for (const auto& [between, most] : kBetween) {
    const auto all = found({between, spoken(), between, spoken(), between});
    ASSERT_EQ(all.size(), 2u);
    for (size_t i = 0; i < all.size(); ++i) {
      const double begin = 5 + static_cast<double>(i) * (5 + length), first = static_cast<double>(all[i].first) / kRate,
                   end = static_cast<double>(all[i].first + all[i].count) / kRate;
      EXPECT_NEAR(first, begin, most) << i;
      EXPECT_NEAR(end, begin + length, most) << i;
    }
  }
}

// A pause for breath does not cut; the end of a recording belongs to what is said up to there.
TEST(SpeechDetector, ShortPausesStay) {
  const auto all = found({spoken(), std::vector<float>(kRate), spoken()});
  ASSERT_EQ(all.size(), 1u);
  const auto whole = std::vector<float>(spoken().begin(), spoken().begin() + 20011);
  const auto cut = found({whole});
  ASSERT_EQ(cut.size(), 1u);
  EXPECT_EQ(cut[0].first + cut[0].count, 20011u);
}

// In whatever pieces it comes.
TEST(SpeechDetector, PiecesOfSamplesAreTheSame) {
  std::vector<std::vector<float>> pieces;
  for (size_t at = 0, step = 1; at < spoken().size(); at += step, step = step * 3 % 1009 + 1)
    pieces.emplace_back(spoken().begin() + static_cast<ptrdiff_t>(at),
                        spoken().begin() + static_cast<ptrdiff_t>(std::min(at + step, spoken().size())));
  const auto whole = found({spoken()}), cut = found(pieces);
  ASSERT_EQ(cut.size(), whole.size());
  for (size_t i = 0; i < cut.size(); ++i) {
    EXPECT_EQ(cut[i].first, whole[i].first);
    EXPECT_EQ(cut[i].count, whole[i].count);
  }
}

TEST(SpeechDetector, HostileSamples) {
  EXPECT_TRUE(found({}).empty());
  EXPECT_TRUE(found({{0.5f}}).empty());
  for (const float v : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e38f})
    for (const uint32_t rate : {1u, 1000u, 8000u, 768000u}) {
      const std::vector<float> samples(9000, v);
      for (const SpeechStretch& s : found({samples, spoken(), samples}, rate))
        EXPECT_LE(s.first + s.count, 18000 + spoken().size());
    }
  // Samples that are no numbers are soon forgotten.
  EXPECT_EQ(found({std::vector<float>(100, NAN), hum(kRate, 5), spoken()}).size(), 1u);
}

}  // namespace
}  // namespace lapilli::recordings
