// Recordings and pictures in C++: what the C interface gives arrives, and samples go into a job that runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/recording_events.hpp"
#include "lapilli/lapilli.hpp"
#include "support/temp_directory.hpp"

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
  const auto results =
      model.transcribe({lapilli::samples(samples, model.info().value().sample_rate)}, options_of()).value();
  ASSERT_GT(results[0].segments.size(), 1u);
  EXPECT_EQ(lines_of(results[0].segments), segments_of(results.handle(), 0));
  EXPECT_EQ(results[0].segments[0].language, "en");
  EXPECT_TRUE(results[0].segments[0].words.empty());
  EXPECT_TRUE(results[0].classes.empty());
  // Options arrive.
  auto options = options_of();
  options.speech.temperatures = {0, 0.5f};
  options.speech.logprob_threshold = -100.0f;
  options.speech.no_speech_threshold = 0.5f;
  const auto measured = model.transcribe({lapilli::samples(samples, 16000)}, options).value();
  EXPECT_GT(measured[0].segments.at(0).no_speech_probability, 0);
  options.speech.temperatures = {-1};
  EXPECT_EQ(model.transcribe({lapilli::samples(samples, 16000)}, options).error().status(),
            lapilli::Status::invalid_argument);
  EXPECT_EQ(model.translate({"Hello."}).error().status(), lapilli::Status::unsupported);
  const uint8_t rgb[3] = {};
  EXPECT_EQ(model.describe({lapilli::pixels(rgb, 1, 1)}).error().status(), lapilli::Status::unsupported);
}

TEST(ApiDeviceMediaCpp, SamplesGoIntoAJobThatRuns) {
  const auto model = lapilli::Model::load(kWhisper + "/model").value();
  const auto samples = samples_of("second.wav");
  auto job = model.start_inputs({lapilli::sample_stream(16000)}, options_of()).value();
  std::vector<lapilli::Segment> told;
  const auto read = [&] {
    while (auto event = job.next_event().value()) {
      if (event->kind != lapilli::EventKind::segment) continue;
      EXPECT_EQ(event->segment_number, told.size());
      told.push_back(event->segment);
    }
  };
  EXPECT_EQ(job.append_samples(1, samples.data(), 5).error().status(), lapilli::Status::invalid_argument);
  for (size_t at = 0; !job.wait().value(); at += 8000) {
    const size_t n = at < samples.size() ? std::min<size_t>(8000, samples.size() - at) : 0;
    const auto done = n > 0 ? job.append_samples(0, samples.data() + at, n) : job.end_samples(0);
    ASSERT_TRUE(done) << done.error().what();
    read();
  }
  read();
  const auto results = job.take().value();
  EXPECT_GT(told.size(), 1u);
  EXPECT_EQ(lines_of(told), lines_of(results[0].segments));
  EXPECT_FALSE(job.end_samples(0)) << "the job has ended";
}

// Interim results and drawings come with events.
TEST(ApiDeviceMediaCpp, InterimResultsAndAttentionOfAStream) {
  const auto model = lapilli::Model::load(kWhisper + "/model").value();
  const auto samples = samples_of("second.wav");
  auto options = options_of();
  options.speech.interim_samples = 4000;
  options.keep_attention = options.speech.word_times = true;
  auto job = model.start_inputs({lapilli::sample_stream(16000)}, options).value();
  EXPECT_FALSE(job.wait().value());
  EXPECT_TRUE(job.wants_samples().value());
  ASSERT_TRUE(job.append_samples(0, samples.data(), 14000));
  EXPECT_FALSE(job.wait().value());
  size_t words = 0, drawn = 0;
  while (auto event = job.next_event().value())
    for (const lapilli::Segment& s : event->interim) words += s.words.size();
  EXPECT_GT(words, 0u);
  ASSERT_TRUE(job.append_samples(0, samples.data() + 14000, samples.size() - 14000));
  ASSERT_TRUE(job.end_samples(0));
  EXPECT_TRUE(job.wait().value());
  EXPECT_FALSE(job.wants_samples().value());
  lapilli::AttentionDrawing png;
  png.format = lapilli::DrawingFormat::png;
  while (auto event = job.next_event().value()) {
    EXPECT_TRUE(event->interim.empty());
    if (event->kind != lapilli::EventKind::segment || event->segment.words.empty()) continue;
    EXPECT_EQ(job.draw_attention().value().substr(0, 4), "<svg");
    EXPECT_EQ(job.draw_attention(png).value().substr(0, 4), "\x89PNG");
    ++drawn;
  }
  EXPECT_GT(drawn, 0u);
  png.layer = 1;
  EXPECT_EQ(job.draw_attention(png).error().status(), lapilli::Status::invalid_argument);
}

TEST(ApiDeviceMediaCpp, FilesOfPicturesAreDrawnOver) {
  const lapilli::TempDirectory folder;
  std::filesystem::copy(kModels + "trocr/model", folder.path() + "/trocr");
  std::ofstream(folder.path() + "/trocr/preprocessor_config.json")
      << R"({"image_processor_type": "ViTImageProcessor", "size": 32})";
  std::ofstream(folder.path() + "/trocr/tokenizer_config.json") << R"({"tokenizer_class": "ByT5Tokenizer"})";
  const auto model = lapilli::Model::load(folder.path() + "/trocr").value();
  const std::string path = LAPILLI_SOURCE_DIR "/tests/data/pictures/plain.png";
  lapilli::Options options;
  options.max_length = 8;
  options.keep_attention = true;
  const auto seen =
      model.describe({lapilli::picture_file(path), lapilli::picture_file("nowhere.png")}, options).value();
  EXPECT_FALSE(seen[0].text().empty());
  EXPECT_EQ(seen[1].error->status(), lapilli::Status::not_found);
  lapilli::AttentionDrawing how;
  how.head = 0;
  EXPECT_NE(lapilli::draw_attention(model, seen, 0, how).value().find("mean of all layers, head 0"), std::string::npos);
  EXPECT_EQ(lapilli::draw_attention(model, seen, 1).error().status(), lapilli::Status::not_found);
}

}  // namespace
