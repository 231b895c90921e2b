// Recordings and pictures in C++: what the C interface gives arrives, and samples go into a job that runs.
#include <gtest/gtest.h>

#include "api/heard.hpp"
#include "lapilli/lapilli.hpp"

namespace {

using namespace lapilli::test;

std::string lines_of(const std::vector<lapilli::Segment>& segments) {
  std::string lines;
  for (const lapilli::Segment& s : segments) lines += line_of(s.begin, s.end, {s.ids.data(), s.ids.size()});
  return lines;
}

lapilli::Options options_of() {
  lapilli::Options options;
  options.source_language = "en";
  options.max_new_tokens = 24;
  return options;
}

TEST(ApiDeviceMediaCpp, RecordingsGiveSegments) {
  const auto model = lapilli::Model::load(kWhisper + "/model").value();
  const auto samples = samples_of("second.wav");
  const auto results = model.transcribe({lapilli::samples(samples, model.info().sample_rate)}, options_of()).value();
  ASSERT_GT(results[0].segments.size(), 1u);
  EXPECT_EQ(lines_of(results[0].segments), segments_of(results.handle(), 0));
  EXPECT_EQ(results[0].segments[0].language, "en");
  EXPECT_TRUE(results[0].segments[0].words.empty());
  EXPECT_TRUE(results[0].classes.empty());
  // Options arrive.
  auto options = options_of();
  options.temperatures = {0, 0.5f};
  options.logprob_threshold = -100.0f;
  options.no_speech_threshold = 0.5f;
  const auto measured = model.transcribe({lapilli::samples(samples, 16000)}, options).value();
  EXPECT_GT(measured[0].segments.at(0).no_speech_probability, 0);
  options.temperatures = {-1};
  EXPECT_EQ(model.transcribe({lapilli::samples(samples, 16000)}, options).error().status(), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(model.translate({"Hello."}).error().status(), LAPILLI_UNSUPPORTED);
  const uint8_t rgb[3] = {};
  EXPECT_EQ(model.describe({lapilli::pixels(rgb, 1, 1)}).error().status(), LAPILLI_UNSUPPORTED);
}

TEST(ApiDeviceMediaCpp, SamplesGoIntoAJobThatRuns) {
  const auto model = lapilli::Model::load(kWhisper + "/model").value();
  const auto samples = samples_of("second.wav");
  auto job = model.start_inputs({lapilli::sample_stream(16000)}, options_of()).value();
  std::vector<lapilli::Segment> told;
  const auto read = [&] {
    while (auto event = job.next_event()) {
      if (event->kind != LAPILLI_EVENT_SEGMENT) continue;
      EXPECT_EQ(event->segment_number, told.size());
      told.push_back(event->segment);
    }
  };
  EXPECT_EQ(job.append_samples(1, samples.data(), 5)->status(), LAPILLI_INVALID_ARGUMENT);
  for (size_t at = 0; !job.wait(); at += 8000) {
    const size_t n = at < samples.size() ? std::min<size_t>(8000, samples.size() - at) : 0;
    const auto error = n > 0 ? job.append_samples(0, samples.data() + at, n) : job.end_samples(0);
    ASSERT_FALSE(error) << error->what();
    read();
  }
  read();
  const auto results = job.take().value();
  EXPECT_GT(told.size(), 1u);
  EXPECT_EQ(lines_of(told), lines_of(results[0].segments));
  EXPECT_TRUE(job.end_samples(0)) << "the job has ended";
}

}  // namespace
