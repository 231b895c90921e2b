// Recordings through small models that take them whole: what the encoder is given, the text of the reference's, what is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "formats/checkpoint.hpp"
#include "speech/offline_task.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"

namespace lapilli::speech {
namespace {

using namespace testing_support;
using testing::HasSubstr;

std::vector<float> tensor(const std::string& folder, const std::string& name) {
  const auto file = Checkpoint::open_file(std::string(LAPILLI_TEST_DATA) + folder + "/expected.safetensors");
  EXPECT_TRUE(file.ok());
  const StoredTensor* t = file.ok() ? file->find(name) : nullptr;
  EXPECT_NE(t, nullptr) << name;
  if (!t) return {};
  if (t->type == StoredType::f32) return *read_floats(*t);
  std::vector<float> values;  // samples of 16 bits
  const auto integers = *read_integers(*t);
  for (const auto v : integers) values.push_back(static_cast<float>(v) / 32768.0f);
  return values;
}

class DeviceOffline : public testing::Test {
 protected:
  void open(const std::string& family, SoundConfig config) {
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, std::string(LAPILLI_TEST_DATA) + "/models/" + family + "/model"));
    LAPILLI_ASSERT_VALUE(whole_, OfflineRecordings::create(model_, std::move(config)));
  }
  void open_moonshine() {
    SoundConfig config;
    config.kind = SoundKind::samples;
    open("moonshine", config);
  }
  void open_speech_to_text() {
    LAPILLI_ASSERT_VALUE(auto config,
                         read_sound_config(std::string(LAPILLI_TEST_DATA) + "/features/speech_to_text/files"));
    open("speech_to_text", std::move(config));
  }
  // Each is one recording's; an error of its own is the result's.
  Result<std::vector<Transcript>> follow(OfflineRequest request) {
    LAPILLI_TRY(const auto job, OfflineTask::start(model_, whole_, std::move(request)));
    while (!job->pump()) {
      if (job->is_hungry()) return fail(ErrorCode::invalid_argument, "hungry");
      job->wait();
    }
    LAPILLI_CHECK(Status(job->status()));
    return job->take().transcripts;
  }
  Result<Transcript> transcribed(std::span<const float> samples, GenerationConfig options = {}, uint64_t claimed = 0) {
    OfflineRequest request;
    request.recordings = {{std::make_shared<audio::SamplesInMemory>(samples), claimed ? claimed : samples.size()}};
    request.options = std::move(options);
    LAPILLI_TRY(auto all, follow(std::move(request)));
    LAPILLI_CHECK(Status(all[0].status));
    return std::move(all[0]);
  }
  std::string refused(std::span<const float> samples, uint64_t claimed = 0) {
    const auto transcript = transcribed(samples, {}, claimed);
    return transcript ? "" : transcript.error().message;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<OfflineRecordings> whole_;
};

TEST_F(DeviceOffline, SamplesGiveTheRecordedText) {
  open_moonshine();
  const auto samples = tensor("/models/moonshine", "single.input_values");
  GenerationConfig options;
  options.max_new_tokens = 20;
  LAPILLI_ASSERT_VALUE(const auto transcript, transcribed(samples, options));
  EXPECT_EQ(transcript.segments[0].ids,
            (std::vector<int32_t>{10, 187, 200, 124, 133, 124, 168, 133}));  // greedy_single
  EXPECT_EQ(transcript.segments[0].token_scores.size(), transcript.segments[0].ids.size());
  EXPECT_EQ(transcript.segments[0].begin, 0);
  EXPECT_DOUBLE_EQ(transcript.segments[0].end, 7000 / 16000.0);
  EXPECT_FALSE(transcript.cut);
  options.max_new_tokens = 3;
  LAPILLI_ASSERT_VALUE(const auto less, transcribed(samples, options));
  EXPECT_EQ(less.segments[0].ids, (std::vector<int32_t>{10, 187, 200}));
  EXPECT_TRUE(less.cut);
}

TEST_F(DeviceOffline, FilterBanksAreTheRecordedOnes) {
  open_speech_to_text();
  const auto samples = tensor("/features/speech_to_text", "chirp.waveform");
  const auto expected = tensor("/features/speech_to_text", "chirp.input_features");
  audio::SamplesInMemory source(samples);
  LAPILLI_ASSERT_VALUE(const auto f, whole_->source({&source, samples.size()}));
  ASSERT_EQ(f->values.size(), expected.size());
  EXPECT_EQ(f->width, 24u);
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(f->values[i], expected[i], 2e-3) << i;
  LAPILLI_ASSERT_VALUE(const auto transcript, transcribed(samples));
  EXPECT_FALSE(transcript.segments[0].ids.empty());
}

TEST_F(DeviceOffline, SaysHowLongARecordingMayBe) {
  open_speech_to_text();
  const std::vector<float> silence(16000, 0.0f);
  EXPECT_THAT(refused(silence, 16000 * 10), HasSubstr("10.0 s of sound, and models of the family speech_to_text take a "
                                                      "recording as a whole: this one at most 2.0 s"));
  EXPECT_THAT(refused(silence, 300), HasSubstr("too few for the model's convolutions"));
  open_moonshine();
  EXPECT_THAT(refused(silence, uint64_t{1} << 40), HasSubstr("this one at most 1048.6 s"));
  EXPECT_THAT(refused(silence, 126), HasSubstr("0.008 s of sound are too few"));
}

TEST_F(DeviceOffline, WhatIsNoSound) {
  open_moonshine();
  std::vector<float> samples(4000, 0.25f);
  for (const float bad : {NAN, INFINITY, 1e30f}) {
    samples[1234] = bad;
    EXPECT_THAT(refused(samples), HasSubstr("sample 1234 is")) << bad;
  }
  // One that ends before it should is silent behind its end.
  samples[1234] = 0;
  EXPECT_EQ(refused(std::span(samples).first(3000), 4000), "");
}

TEST_F(DeviceOffline, EndsWhereItIsTold) {
  open_moonshine();
  const std::vector<float> samples(4000, 0.25f);
  OfflineRequest request;
  request.recordings = {{std::make_shared<audio::SamplesInMemory>(samples), samples.size()}};
  LAPILLI_ASSERT_VALUE(const auto job, OfflineTask::start(model_, whole_, std::move(request)));
  EXPECT_FALSE(job->pump(1));
  job->cancel();
  EXPECT_TRUE(job->pump());
  LAPILLI_EXPECT_OK(job->status());
  EXPECT_EQ(job->progress().done, 0u);
  EXPECT_TRUE(job->take().cancelled);
}

// More than are searched at a time, of all lengths: each is as if it were alone. One goes on for a while.
TEST_F(DeviceOffline, SeveralRecordings) {
  open_moonshine();
  auto samples = tensor("/models/moonshine", "single.input_values");
  OfflineRequest request;
  request.options.max_new_tokens = 6;
  std::vector<std::vector<int32_t>> want;
  for (size_t i = 0; i < 11; ++i) {
    const auto part = std::span(samples).first(2000 + i * 450);
    LAPILLI_ASSERT_VALUE(const auto alone, transcribed(part, request.options));
    want.push_back(alone.segments[0].ids);
    request.recordings.push_back({std::make_shared<audio::SamplesInMemory>(part), part.size()});
  }
  const auto length = std::exchange(request.recordings[4].samples, std::nullopt);
  std::vector<size_t> ended;
  request.on_end = [&](size_t recording, const Status& status) {
    EXPECT_TRUE(status.ok());
    ended.push_back(recording);
  };
  LAPILLI_ASSERT_VALUE(const auto job, OfflineTask::start(model_, whole_, std::move(request)));
  while (!job->pump() && !job->is_hungry()) job->wait();
  EXPECT_EQ(job->progress().done, 10u);
  job->end_recording(4, *length);
  while (!job->pump()) job->wait();
  LAPILLI_ASSERT_OK(job->status());
  EXPECT_THAT(ended, testing::ElementsAre(0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 4));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(job->output().transcripts[i].segments[0].ids, want[i]) << i;
}

// Filled up as in a batch, a recording says something else than alone: the norm goes over the filling.
TEST_F(DeviceOffline, FillingIsAskedFor) {
  open_moonshine();
  auto samples = tensor("/models/moonshine", "single.input_values");
  auto filled = std::make_shared<model::Features>(model::Features{9000, 1, samples, 7000});
  filled->values.resize(9000, 0.0f);
  GenerateRequest r;
  r.features = {filled};
  r.keep_encoded = true;
  r.options.max_new_tokens = 20;
  LAPILLI_ASSERT_VALUE(const auto first, generate(model_, r));
  // The encoded source that was kept has the length that counts.
  GenerateRequest again;
  again.features = {nullptr};
  again.encoded = first.encoded;
  again.options = r.options;
  LAPILLI_ASSERT_VALUE(const auto second, generate(model_, again));
  EXPECT_EQ(first.hypotheses[0][0].ids, second.hypotheses[0][0].ids);
  EXPECT_FLOAT_EQ(first.hypotheses[0][0].score, second.hypotheses[0][0].score);
  filled = std::make_shared<model::Features>(*filled);
  filled->counted = 9001;
  r.features = {filled};
  const auto refused_count = generate(model_, r);
  ASSERT_FALSE(refused_count);
  EXPECT_THAT(refused_count.error().message, HasSubstr("9001 of 9000 rows"));
}

TEST_F(DeviceOffline, ModelsOfWindowsAreRefused) {
  LAPILLI_ASSERT_VALUE(device_, shared_device());
  LAPILLI_ASSERT_VALUE(model_, Model::load(device_, std::string(LAPILLI_TEST_DATA) + "/models/whisper/model"));
  EXPECT_FALSE(takes_offline_recordings(*model_));
  const auto made = OfflineRecordings::create(model_, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("do not take recordings as a whole"));
}

}  // namespace
}  // namespace lapilli::speech
