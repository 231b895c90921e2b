// The whole way from recordings of speech (by espeak-ng) and noise to features: languages, kinds of files, rates and
// channels. What a file holds is decoded, mixed and resampled here once more, by other calls, and made into features by
// the formula.
#ifdef LAPILLI_HAVE_SAMPLERATE
#include <gtest/gtest.h>
#include <samplerate.h>

#include <array>
#include <random>

#include "recordings/recording.hpp"
#include "recordings/reference_features.hpp"
#include "recordings/written_sounds.hpp"
#include "speech/sound_features.hpp"
#include "support/process.hpp"

namespace lapilli {
namespace {

using test::Kind;
using test::kKinds;

std::vector<float> resampled(std::vector<float> samples, uint32_t from, uint32_t to) {
  if (from == to) return samples;
  std::vector<float> out(samples.size() * to / from + 64);
  SRC_DATA data{};
  data.data_in = samples.data();
  data.input_frames = static_cast<long>(samples.size());
  data.data_out = out.data();
  data.output_frames = static_cast<long>(out.size());
  data.src_ratio = static_cast<double>(to) / from;
  EXPECT_EQ(src_simple(&data, SRC_SINC_MEDIUM_QUALITY, 1), 0);
  out.resize(static_cast<size_t>(data.output_frames_gen));
  return out;
}

// A file's samples, of all channels, at once.
std::vector<float> spoken_samples(const std::string& path) {
  SF_INFO info{};
  SNDFILE* file = sf_open(path.c_str(), SFM_READ, &info);
  EXPECT_NE(file, nullptr) << path;
  if (!file) return {};
  const auto channels = static_cast<size_t>(info.channels);
  std::vector<float> all(1 << 22), mono;
  all.resize(static_cast<size_t>(sf_readf_float(file, all.data(), static_cast<sf_count_t>(all.size() / channels))) *
             channels);
  sf_close(file);
  for (size_t i = 0; i < all.size(); i += channels) {
    double sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += static_cast<double>(all[i + c]);
    mono.push_back(static_cast<float>(sum / static_cast<double>(channels)));
  }
  return resampled(std::move(mono), static_cast<uint32_t>(info.samplerate), 16000);
}

struct Said {
  const char *language, *text;
};
constexpr std::array<Said, 3> kSaid = {
    {{"en", "The weather is fine."}, {"de", "Das Wetter ist sch\u00f6n."}, {"fr", "Il fait beau."}}};

// At 22,050 Hz; nothing where there is no such program.
std::vector<float> spoken(const TempDirectory& dir, const Said& said) {
  const std::string path = dir.path() + "/said.wav";
  test::Spawn spawn;
  spawn.arguments = {"/usr/bin/env", "espeak-ng", "-v", said.language, "-w", path, said.text};
  if (test::run(spawn).code != 0) return {};
  SF_INFO info{};
  SNDFILE* file = sf_open(path.c_str(), SFM_READ, &info);
  if (!file) return {};
  std::vector<float> samples(static_cast<size_t>(info.frames) * static_cast<size_t>(info.channels));
  sf_read_float(file, samples.data(), static_cast<sf_count_t>(samples.size()));
  sf_close(file);
  EXPECT_EQ(info.samplerate, 22050);
  return samples;
}

std::vector<float> noise() {
  std::mt19937 random(7);
  std::vector<float> samples(22050);
  for (float& v : samples) v = std::normal_distribution<float>(0, 0.1f)(random);
  return samples;
}

// The second channel comes a little later, and softer.
std::vector<float> with_channels(const std::vector<float>& mono, uint32_t channels) {
  if (channels == 1) return mono;
  std::vector<float> both;
  for (size_t i = 0; i < mono.size(); ++i) {
    both.push_back(mono[i]);
    both.push_back(i >= 40 ? 0.6f * mono[i - 40] : 0.0f);
  }
  return both;
}

class RecordingsDeviceSpoken : public testing::Test {
 protected:
  void SetUp() override {
    auto device = vulkan::Device::create({});
    ASSERT_TRUE(device.ok()) << device.error().message;
    auto maker = speech::SoundFeatures::create(*device, test::small_whisper());
    ASSERT_TRUE(maker.ok()) << maker.error().message;
    maker_ = std::move(*maker);
  }

  // Writes it in this shape, if the library does, and follows it to the features.
  void follow(const std::vector<float>& at_22050, const Kind& kind, const test::SoundShape& shape,
              const std::string& what) {
    const auto mono = resampled(at_22050, 22050, shape.rate);
    const std::string file = test::sound_file(dir_, kind.format, with_channels(mono, shape.channels), shape);
    if (file.empty()) return;
    ++written_;
    const auto path = dir_.write(std::string("a.") + kind.name, file);
    const auto samples = spoken_samples(path);
    auto recording = recordings::Recording::open([&] { return recordings::open_sound_file(path); }, path, 16000);
    ASSERT_TRUE(recording.ok()) << recording.error().message;
    const auto count = (*recording)->count();
    ASSERT_TRUE(count.ok()) << count.error().message;
    ASSERT_EQ(*count, samples.size()) << what;
    const auto ours = (*maker_).make_all({recording->get(), samples.size()});
    ASSERT_TRUE(ours.ok()) << ours.error().message;
    const auto expected = test::features_of(samples, test::small_whisper());
    ASSERT_EQ(ours->size(), expected.size()) << what;
    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>((*ours)[i]) - expected[i]));
    EXPECT_LE(worst, 2e-4) << what;
    worst_ = std::max(worst_, worst);
  }

  TempDirectory dir_;
  std::unique_ptr<speech::SoundFeatures> maker_;
  int written_ = 0;
  double worst_ = 0;
};

// The rates that a kind of file knows, 8 to 48 kHz.
std::vector<uint32_t> rates_of(const Kind& kind) {
  if (kind.name == std::string("opus")) return {8000, 16000, 24000, 48000};
  return {8000, 16000, 22050, 44100, 48000};
}

TEST_F(RecordingsDeviceSpoken, SpeechOfEachLanguage) {
  size_t turn = 0;
  for (const Said& said : kSaid) {
    const auto sound = spoken(dir_, said);
    if (sound.empty()) GTEST_SKIP() << "SKIPPED: espeak-ng is not installed (Debian: espeak-ng)";
    for (const Kind& kind : kKinds)
      for (const uint32_t channels : {1u, 2u}) {
        const auto rates = rates_of(kind);
        const uint32_t rate = rates[turn++ % rates.size()];
        follow(sound, kind, {rate, channels}, format("%s %s %u %u", said.language, kind.name, rate, channels));
      }
  }
  EXPECT_GE(written_, 24);
  std::printf("%d files, features within %.2g of the formula's\n", written_, worst_);
}

TEST_F(RecordingsDeviceSpoken, NoiseAtEachRate) {
  const auto sound = noise();
  for (const Kind& kind : kKinds)
    for (const uint32_t rate : rates_of(kind))
      follow(sound, kind, {rate, 1 + rate / 100 % 2}, format("noise %s %u", kind.name, rate));
  EXPECT_GE(written_, 15);
  std::printf("%d files, features within %.2g of the formula's\n", written_, worst_);
}

}  // namespace
}  // namespace lapilli
#endif
