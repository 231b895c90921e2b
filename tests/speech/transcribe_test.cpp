// Recordings through a small Whisper: what comes when, what does not depend on company, what is refused.
#include "speech/transcribe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "formats/checkpoint.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"

namespace lapilli::speech {
namespace {

using namespace testing_support;
using testing::HasSubstr;

const std::string kLongRecordings = std::string(LAPILLI_TEST_DATA) + "/models/whisper-long";

class DeviceTranscribe : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, kLongRecordings + "/model"));
    LAPILLI_ASSERT_VALUE(const auto tensors, Checkpoint::open_file(kLongRecordings + "/expected.safetensors"));
    const StoredTensor* t = tensors.find("batch.input_features");
    ASSERT_NE(t, nullptr);
    LAPILLI_ASSERT_VALUE(const auto values, read_floats(*t));
    const size_t width = t->shape[1], frames = t->shape[2];
    for (size_t i = 0; i < t->shape[0]; ++i) {
      auto f = std::make_shared<model::Features>();
      f->rows = static_cast<uint32_t>(frames);
      f->width = static_cast<uint32_t>(width);
      for (size_t r = 0; r < frames; ++r)
        for (size_t c = 0; c < width; ++c) f->values.push_back(values[(i * width + c) * frames + r]);
      features_.push_back(std::move(f));
    }
  }

  TranscribeRequest request(std::vector<size_t> which) {
    TranscribeRequest r;
    for (const size_t i : which) r.recordings.push_back(recording_of(features_[i]));
    r.languages = {"en"};
    r.options.max_new_tokens = 24;
    return r;
  }

  std::string refused(const TranscribeRequest& r) {
    const auto out = transcribe(model_, r);
    return out ? "" : out.error().message;
  }

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  std::vector<std::shared_ptr<const model::Features>> features_;
};

std::string timed_text(const std::vector<Segment>& segments) {
  std::string text;
  for (const Segment& s : segments) {
    text += format("%.2f-%.2f:", s.begin, s.end);
    for (size_t i = 0; i < s.ids.size(); ++i) text += format(" %d@%.2f", s.ids[i], s.times.empty() ? 0.0 : s.times[i]);
    text += "\n";
  }
  return text;
}

TEST_F(DeviceTranscribe, RecordingsAreAloneInCompany) {
  TranscribeRequest r = request({0, 1});
  r.condition_on_previous = r.word_times = true;
  r.temperatures = {0.0, 0.6};
  r.options.top_k = 1;
  r.logprob_threshold = -1.1;
  LAPILLI_ASSERT_VALUE(const auto both, transcribe(model_, r));
  ASSERT_EQ(both.transcripts.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto alone_request = request({i});
    r.recordings = alone_request.recordings;
    LAPILLI_ASSERT_VALUE(const auto alone, transcribe(model_, r));
    EXPECT_EQ(timed_text(alone.transcripts[0].segments), timed_text(both.transcripts[i].segments)) << i;
    EXPECT_GT(both.transcripts[i].segments.size(), 3u);
    EXPECT_EQ(both.transcripts[i].language, "<|en|>");
  }
}

TEST_F(DeviceTranscribe, SegmentsComeWhenTheirWindowIsDone) {
  TranscribeRequest r = request({0});
  std::vector<Segment> segments;
  std::vector<uint64_t> done;
  r.on_segment = [&](const Segment& s) -> Status {
    segments.push_back(s);
    return {};
  };
  r.progress = [&](uint64_t frames, uint64_t all) {
    done.push_back(frames);
    EXPECT_EQ(all, features_[0]->rows);
    return true;
  };
  LAPILLI_ASSERT_VALUE(const auto out, transcribe(model_, r));
  EXPECT_EQ(timed_text(segments), timed_text(out.transcripts[0].segments));
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.front(), 0u);
  EXPECT_EQ(done.back(), features_[0]->rows);
  EXPECT_EQ(std::set<uint64_t>(done.begin(), done.end()).size(), out.windows.size() + 1);
}

// Frames of another source, or an error instead.
class WatchedFrames : public FrameSource {
 public:
  explicit WatchedFrames(Recording inner) : inner_(std::move(inner.frames)) {}
  [[nodiscard]] Extent extent() const override { return extent_.value_or(inner_->extent()); }
  Result<bool> read(uint64_t first, std::span<float> rows) override {
    asked.emplace_back(first, rows.size());
    if (!error) return error.error();
    return inner_->read(first, rows);
  }
  void set(Extent extent) { extent_ = extent; }

  Status error;
  std::vector<std::pair<uint64_t, size_t>> asked;  // first frame, numbers

 private:
  std::shared_ptr<FrameSource> inner_;
  std::optional<Extent> extent_;
};

TEST_F(DeviceTranscribe, FramesAreAskedForByWindows) {
  TranscribeRequest r = request({0});
  const auto frames = std::make_shared<WatchedFrames>(r.recordings[0]);
  r.recordings[0].frames = frames;
  const uint64_t window = model_->info().feature_rows, width = model_->info().feature_width;
  LAPILLI_EXPECT_OK(transcribe(model_, r));
  EXPECT_TRUE(std::is_sorted(frames->asked.begin(), frames->asked.end()));
  EXPECT_GT(frames->asked.size(), 3u);
  for (const auto& [first, numbers] : frames->asked) {
    EXPECT_LE(numbers, window * width);
    EXPECT_LE(first + numbers / width, features_[0]->rows);
  }
}

TEST_F(DeviceTranscribe, EndsWhereItIsTold) {
  TranscribeRequest r = request({0, 1});
  r.progress = [](uint64_t done, uint64_t) { return done < 150; };
  const auto cancelled = transcribe(model_, r);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
  r.progress = {};
  r.on_segment = [](const Segment&) -> Status { return fail(ErrorCode::not_found, "nobody listens"); };
  EXPECT_THAT(refused(r), HasSubstr("nobody listens"));
  r.on_segment = {};
  const auto frames = std::make_shared<WatchedFrames>(r.recordings[1]);
  frames->error = fail(ErrorCode::not_found, "the disk is gone");
  r.recordings[1].frames = frames;
  EXPECT_THAT(refused(r), HasSubstr("the disk is gone"));
}

TEST_F(DeviceTranscribe, SaysWhatItDoesNotDo) {
  EXPECT_THAT(refused({}), HasSubstr("no recordings"));
  TranscribeRequest r = request({0});
  r.timestamps = false;
  EXPECT_THAT(refused(r), HasSubstr("ask for timestamps"));
  r = request({0});
  r.languages = {"xx"};
  EXPECT_THAT(refused(r), HasSubstr("<|de|> <|en|> <|fr|>"));
  r.languages = {"en", "fr"};
  EXPECT_THAT(refused(r), HasSubstr("2 languages for 1 recordings"));
  r = request({0});
  r.no_speech_threshold = 0.5;
  EXPECT_THAT(refused(r), HasSubstr("logprob_threshold"));
  r = request({0});
  auto bad = std::make_shared<model::Features>(*features_[0]);
  bad->values[12] = NAN;
  r.recordings = {recording_of(bad)};
  EXPECT_THAT(refused(r), HasSubstr("not a finite number"));
}

TEST_F(DeviceTranscribe, AnEmptyRecordingHasNoSegments) {
  TranscribeRequest r = request({0});
  r.languages.clear();
  r.recordings[0] = recording_of(features_[0], 0);
  LAPILLI_ASSERT_VALUE(const auto out, transcribe(model_, r));
  EXPECT_TRUE(out.transcripts[0].segments.empty());
  EXPECT_TRUE(out.windows.empty());
}

// Further requests to a model of sound.
TEST_F(DeviceTranscribe, IdsAreNoSources) {
  GenerateRequest ids;
  ids.sources = {{1, 2, 3}};
  const auto refused_ids = generate(model_, ids);
  ASSERT_FALSE(refused_ids);
  EXPECT_THAT(refused_ids.error().message, HasSubstr("take features"));
  GenerateRequest short_one;
  short_one.features = {std::make_shared<model::Features>(
      model::Features{1, features_[0]->width, std::vector<float>(features_[0]->width)})};
  const auto refused_rows = generate(model_, short_one);
  ASSERT_FALSE(refused_rows);
  EXPECT_THAT(refused_rows.error().message, HasSubstr("1 rows of features; the model takes 100"));
}

}  // namespace
}  // namespace lapilli::speech
