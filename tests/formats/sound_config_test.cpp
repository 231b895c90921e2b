// preprocessor_config.json of models of sound: published files, contradictions to the weights, hostile files.
#include "formats/sound_config.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

const std::string kWhisper =
    R"({"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 128, "n_fft": 400, "hop_length": 160,
        "chunk_length": 30, "sampling_rate": 16000, "dither": 0.0, "mel_filters": [[0.1]], "padding_value": 0.0})";

Result<SoundConfig> read(const std::string& text, const char* file = "preprocessor_config.json") {
  TempDirectory dir;
  dir.write(file, text);
  return read_sound_config(dir.path());
}

void expect_refused(const std::string& text, const std::string& why) {
  const auto c = read(text);
  ASSERT_FALSE(c.ok()) << text;
  EXPECT_NE(c.error().message.find(why), std::string::npos) << c.error().message;
}

TEST(SoundConfigs, AsPublished) {
  const auto whisper = read(kWhisper);
  ASSERT_TRUE(whisper.ok()) << whisper.error().message;
  EXPECT_EQ(whisper->kind, SoundKind::log_mel);
  EXPECT_EQ(whisper->mel_bins, 128u);
  EXPECT_EQ(whisper->chunk_samples, 480000u);
  EXPECT_EQ(whisper->bins(), 201u);
  const auto speech = read(R"({"feature_extractor_type": "Speech2TextFeatureExtractor", "feature_size": 24,
                                 "num_mel_bins": 24, "normalize_vars": false})");
  ASSERT_TRUE(speech.ok()) << speech.error().message;
  EXPECT_EQ(speech->kind, SoundKind::filter_banks);
  EXPECT_TRUE(speech->normalize_means);
  EXPECT_FALSE(speech->normalize_deviations);
  EXPECT_EQ(read(R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "feature_size": 1})")->kind,
            SoundKind::samples);
  EXPECT_TRUE(read(R"({"feature_extractor": )" + kWhisper + "}", "processor_config.json").ok());
  EXPECT_TRUE(read(R"({"processor_class": "WhisperProcessor"})").ok());
}

TEST(SoundConfigs, ContradictionsAdvise) {
  const auto c = read(kWhisper);
  ASSERT_TRUE(c.ok());
  EXPECT_TRUE(check_sound_config(*c, {128, 3000}).ok());
  const auto bands = check_sound_config(*c, {80, 3000}), frames = check_sound_config(*c, {128, 1500});
  ASSERT_FALSE(bands.ok());
  EXPECT_NE(bands.error().message.find("128 mel bands, but the model's weights take 80"), std::string::npos);
  ASSERT_FALSE(frames.ok());
  EXPECT_NE(frames.error().message.find("3000 frames"), std::string::npos);
}

TEST(SoundConfigs, RefusesWhatItCannotDo) {
  const std::string type = R"("feature_extractor_type": "WhisperFeatureExtractor")";
  expect_refused("{}", "does not say");
  expect_refused("[]", "object");
  expect_refused(R"({"feature_extractor_type": "ViTImageProcessor"})", "not supported");
  expect_refused("{" + type + R"(, "n_fft": 0})", "n_fft");
  expect_refused("{" + type + R"(, "n_fft": 4294967295})", "n_fft");
  expect_refused("{" + type + R"(, "n_fft": 401})", "even");
  expect_refused("{" + type + R"(, "n_fft": 400.5})", "n_fft");
  expect_refused("{" + type + R"(, "hop_length": 401})", "hop_length");
  expect_refused("{" + type + R"(, "hop_length": -1})", "hop_length");
  expect_refused("{" + type + R"(, "feature_size": 100000})", "feature_size");
  expect_refused("{" + type + R"(, "chunk_length": 100000})", "chunk_length");
  expect_refused("{" + type + R"(, "sampling_rate": 1})", "sampling_rate");
  expect_refused("{" + type + R"(, "n_fft": 4096, "sampling_rate": 1000, "chunk_length": 1})", "no longer than");
  expect_refused("{" + type + R"(, "dither": 1.0})", "dither");
  expect_refused("{" + type + R"(, "padding_value": "x"})", "padding_value");
  expect_refused(R"({"feature_extractor_type": "Speech2TextFeatureExtractor", "feature_size": 80, "num_mel_bins": 40})",
                 "must be equal");
  expect_refused(R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": true})", "do_normalize");
  TempDirectory empty;
  EXPECT_FALSE(read_sound_config(empty.path()).ok());
}

// Whatever is changed, what is taken is within bounds.
TEST(SoundConfigs, Mutations) {
  std::mt19937 random(5);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int taken = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = kWhisper;
    for (size_t k = 0, n = 1 + pick(3); k < n; ++k) text[pick(text.size())] = "09{}\"-.e,:["[pick(11)];
    const auto c = read(text);
    if (!c) continue;
    ++taken;
    EXPECT_LE(c->frame_length, 4096u);
    EXPECT_LE(c->hop, c->frame_length);
    EXPECT_GE(c->hop, 1u);
    EXPECT_LE(c->mel_bins, 512u);
    EXPECT_GT(c->chunk_samples, c->frame_length / 2);
  }
  EXPECT_GT(taken, 20);
}

}  // namespace
}  // namespace lapilli
