// Recordings cut where they are quiet: where that is, that chunks are alone in company, and what is other than window
// by window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "speech/sound_frames.hpp"
#include "speech/sounds_of_record.hpp"
#include "speech/transcribe_chunks.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"

namespace lapilli::speech {
namespace {

using namespace testing_support;
using testing::HasSubstr;

std::string text_of(const std::vector<Chunk>& chunks) {
  std::string text;
  for (const Chunk& p : chunks)
    text += format("%llu+%llu ", static_cast<unsigned long long>(p.first), static_cast<unsigned long long>(p.count));
  return text;
}

TEST(Silence, IsWhereRecordingsAreCut) {
  std::vector<float> energies(250, 1.0f);
  EXPECT_EQ(text_of(cut_at_silence(energies, 100)), "0+100 100+100 200+50 ");
  std::fill_n(energies.begin() + 60, 20, 0.01f);    // in the second half of the first chunk
  std::fill_n(energies.begin() + 120, 100, 0.01f);  // a place later is as good
  EXPECT_EQ(text_of(cut_at_silence(energies, 100)), "0+70 70+100 170+80 ");
  EXPECT_EQ(text_of(cut_at_silence(energies, 250)), "0+250 ");
  EXPECT_EQ(text_of(cut_at_silence({}, 100)), "");
  std::vector<float> click(250, 0.0f);
  click[90] = 5;  // what is quiet for less than a fifth of a second is no silence
  EXPECT_EQ(text_of(cut_at_silence(click, 100)), "0+80 80+100 180+70 ");
  EXPECT_EQ(text_of(cut_at_silence(std::vector<float>(3, 1.0f), 1)), "0+1 1+1 2+1 ");
}

TEST(Silence, IsMeasuredByFrames) {
  std::vector<float> samples(1000, 0.5f);
  std::fill_n(samples.begin() + 160, 160, 0.0f);
  audio::SamplesInMemory source{samples};
  LAPILLI_ASSERT_VALUE(const auto energies, frame_energies(source, 1100, 160));
  ASSERT_EQ(energies.size(), 7u);
  EXPECT_FLOAT_EQ(energies[0], 0.25f);
  EXPECT_FLOAT_EQ(energies[1], 0.0f);
  EXPECT_FLOAT_EQ(energies[5], 0.25f);
  EXPECT_FLOAT_EQ(energies[6], 0.25f * 40 / 140);  // silence behind the source's end
  const auto ended = frame_energies(source, 1100, 160, [] { return false; });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::cancelled);
}

class DeviceChunks : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, test::kWhisperLong + "/model"));
    LAPILLI_ASSERT_VALUE(auto config, read_sound_config(test::kWhisperLong + "/model"));
    LAPILLI_ASSERT_VALUE(features_, SoundFeatures::create(device_, std::move(config)));
    samples_ = test::samples_of("long.wav");
    source_ = std::make_shared<audio::SamplesInMemory>(samples_);
    LAPILLI_ASSERT_VALUE(const auto energies, frame_energies(*source_, samples_.size(), 160));
    chunks_ = cut_at_silence(std::span(energies).first(samples_.size() / 160), model_->info().feature_rows);
  }

  TranscribeRequest request() {
    TranscribeRequest r;
    r.recordings = {{std::make_shared<SoundFrames>(features_, source_, samples_.size()), {}}};
    r.languages = {"en"};
    r.options.max_new_tokens = 24;
    return r;
  }

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<SoundFeatures> features_;
  std::vector<float> samples_;
  std::shared_ptr<audio::SampleSource> source_;
  std::vector<Chunk> chunks_;
};

std::string text_of(const std::vector<Segment>& segments) {
  std::string text;
  for (const Segment& s : segments) {
    text += format("%.2f-%.2f:", s.begin, s.end);
    for (const int32_t id : s.ids) text += format(" %d", id);
    for (const Word& w : s.words) text += format(" %.2f", w.begin);
    text += "\n";
  }
  return text;
}

TEST_F(DeviceChunks, AreAloneInCompany) {
  TranscribeRequest r = request();
  r.words = true;
  ASSERT_GT(chunks_.size(), 5u) << text_of(chunks_);
  std::vector<std::string> all;
  for (const uint32_t at_a_time : {1u, 4u, 64u}) {
    std::vector<Segment> segments;
    r.on_segment = [&](const Segment& s) -> Status {
      segments.push_back(s);
      return {};
    };
    LAPILLI_ASSERT_VALUE(const auto out, transcribe_chunks(model_, r, chunks_, at_a_time));
    EXPECT_EQ(text_of(segments), text_of(out.transcripts[0].segments));
    EXPECT_GE(out.windows.size(), chunks_.size());
    all.push_back(text_of(segments));
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

// A chunk says what its frames alone would say, at its place.
TEST_F(DeviceChunks, SayWhatTheirFramesSay) {
  LAPILLI_ASSERT_VALUE(const auto out, transcribe_chunks(model_, request(), chunks_, 3));
  LAPILLI_ASSERT_VALUE(const auto frames, features_->make_all({source_.get(), samples_.size()}));
  const uint32_t width = model_->info().feature_width;
  std::string expected;
  for (const Chunk& p : chunks_) {
    auto f = std::make_shared<model::Features>();
    f->rows = static_cast<uint32_t>(p.count);
    f->width = width;
    const auto begin = frames.begin() + static_cast<ptrdiff_t>(p.first * width);
    f->values.assign(begin, begin + static_cast<ptrdiff_t>(p.count * width));
    TranscribeRequest r = request();
    r.recordings = {recording_of(std::move(f))};
    LAPILLI_ASSERT_VALUE(auto alone, transcribe(model_, r));
    for (Segment& s : alone.transcripts[0].segments) {
      s.begin += static_cast<double>(p.first) / 100;
      s.end += static_cast<double>(p.first) / 100;
    }
    expected += text_of(alone.transcripts[0].segments);
  }
  EXPECT_EQ(text_of(out.transcripts[0].segments), expected);
}

TEST_F(DeviceChunks, HaveTheLanguageOfTheFirstWindow) {
  TranscribeRequest r = request();
  r.languages.clear();
  LAPILLI_ASSERT_VALUE(const auto windows, transcribe(model_, r));
  LAPILLI_ASSERT_VALUE(const auto chunks, transcribe_chunks(model_, r, chunks_, 8));
  EXPECT_NE(windows.transcripts[0].language, "");
  EXPECT_EQ(chunks.transcripts[0].language, windows.transcripts[0].language);
}

TEST_F(DeviceChunks, EndWhereTheyAreTold) {
  TranscribeRequest r = request();
  size_t segments = 0;
  r.on_segment = [&](const Segment&) -> Status { return ++segments, Status(); };
  r.progress = [&](uint64_t done, uint64_t all) {
    EXPECT_EQ(all, samples_.size() / 160);
    return done < 200;
  };
  const auto cancelled = transcribe_chunks(model_, r, chunks_, 2);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
  EXPECT_GT(segments, 0u);
  r.condition_on_previous = true;
  EXPECT_THAT(message_of(transcribe_chunks(model_, r, chunks_, 2)), HasSubstr("go on"));
  r.recordings.push_back(r.recordings[0]);
  EXPECT_THAT(message_of(transcribe_chunks(model_, r, chunks_, 2)), HasSubstr("2 recordings"));
}

// The figures that docs/use/speech.md tells of the record's recordings.
TEST_F(DeviceChunks, OtherWindowsThanOneAfterTheOther) {
  LAPILLI_ASSERT_VALUE(const auto windows, transcribe(model_, request()));
  LAPILLI_ASSERT_VALUE(const auto chunks, transcribe_chunks(model_, request(), chunks_, 8));
  const auto print = [](const char* what, const TranscribeOutput& out) {
    std::printf("%s: %zu segments, windows (frames)", what, out.transcripts[0].segments.size());
    for (const Window& w : out.windows) std::printf(" %llu+%u", static_cast<unsigned long long>(w.seek), w.frames);
    std::printf("\n%s", text_of(out.transcripts[0].segments).c_str());
  };
  print("one after the other", windows);
  print("pieces", chunks);
  EXPECT_NE(text_of(windows.transcripts[0].segments), text_of(chunks.transcripts[0].segments));
}

}  // namespace
}  // namespace lapilli::speech
