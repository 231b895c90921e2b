// Recordings that are transcribed step by step: samples that come while it runs, ends, errors of one recording alone,
// and nobody who waits.
#include "speech/transcription_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "speech/sound_frames.hpp"
#include "speech/sounds_of_record.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"

namespace lapilli::speech {
namespace {

using namespace testing_support;
using testing::HasSubstr;

using test::samples_of;
const std::string& kWhisper = test::kWhisperLong;

class DeviceTranscriptionTask : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    options.max_submit_us = 1'000'000'000;  // what is counted does not depend on how busy the machine is
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, kWhisper + "/model"));
    features_ = make_features();
    long_ = samples_of("long.wav");
    second_ = samples_of("second.wav");
  }

  std::shared_ptr<SoundFeatures> make_features() {
    auto config = read_sound_config(kWhisper + "/model");
    EXPECT_TRUE(config.ok()) << message_of(config);
    auto made = SoundFeatures::create(device_, *config);
    EXPECT_TRUE(made.ok()) << message_of(made);
    return std::move(made).value();
  }

  Recording whole(const std::vector<float>& samples) {
    sources_.push_back(std::make_shared<audio::SamplesInMemory>(samples));
    return {std::make_shared<SoundFrames>(features_, sources_.back(), samples.size()), {}};
  }

  TranscribeRequest request(std::vector<Recording> recordings) {
    TranscribeRequest r;
    r.recordings = std::move(recordings);
    r.languages = {"en"};
    r.options.max_new_tokens = 24;
    return r;
  }

  // Pushes `samples` in pieces of these sizes, taking turns, whenever the job has nothing else to do.
  Result<TranscribeOutput> stream(const std::vector<float>& samples, std::span<const size_t> sizes, size_t* held,
                                  const std::string& language = "en") {
    const auto stream = std::make_shared<SampleStream>(features_);
    TranscribeRequest r = request({{stream, {}}});
    r.languages = {language};
    if (language.empty()) r.languages.clear();
    LAPILLI_TRY(const auto job, TranscriptionTask::start(model_, std::move(r)));
    size_t pushed = 0, piece = 0;
    while (!job->pump()) {
      if (!job->is_hungry()) {
        job->wait();
        continue;
      }
      const size_t n = std::min(sizes[piece++ % sizes.size()], samples.size() - pushed);
      LAPILLI_CHECK(n > 0 ? stream->push(std::span(samples).subspan(pushed, n)) : stream->finish());
      pushed += n;
      *held = std::max(*held, stream->samples_held());
    }
    LAPILLI_CHECK(Status(job->status()));
    return job->take();
  }

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  std::shared_ptr<SoundFeatures> features_;
  std::vector<std::shared_ptr<audio::SampleSource>> sources_;
  std::vector<float> long_, second_;
};

std::string segments_of(const Transcript& transcript) {
  std::string text;
  for (const Segment& s : transcript.segments) {
    text += format("%.2f-%.2f:", s.begin, s.end);
    for (const int32_t id : s.ids) text += format(" %d", id);
    text += "\n";
  }
  return text;
}

TEST_P(DeviceTranscriptionTask, NobodyWaits) {
  for (const bool times : {false, true}) {
    features_ = make_features();
    TranscribeRequest r = request({whole(long_), whole(second_)});
    r.languages.clear();
    r.word_times = times;
    r.temperatures = {0.0};
    r.logprob_threshold = -1.1;
    const auto before = counting::calls();
    LAPILLI_ASSERT_VALUE(const auto job, TranscriptionTask::start(model_, std::move(r)));
    while (!job->pump()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    const auto calls = counting::since(before);
    EXPECT_EQ(counting::waits(calls), 0u) << times << " " << counting::to_string(calls);
    LAPILLI_ASSERT_OK(job->status());
    EXPECT_GT(job->output().transcripts[0].segments.size(), 3u);
    EXPECT_EQ(job->output().transcripts[1].segments.front().times.empty(), !times);
  }
}

// The results depend on the samples alone; no more of them is held than two windows and a piece.
TEST_P(DeviceTranscriptionTask, CutsOfAStreamDoNotMatter) {
  constexpr size_t kWindow = 16000;  // of this model
  size_t held = 0, held_of_all = 0;
  LAPILLI_ASSERT_VALUE(const auto all, stream(long_, std::array{long_.size()}, &held_of_all));
  LAPILLI_ASSERT_VALUE(const auto pieces, stream(long_, std::array<size_t, 4>{1, 7003, 160, 399}, &held));
  EXPECT_EQ(segments_of(all.transcripts[0]), segments_of(pieces.transcripts[0]));
  EXPECT_EQ(all.windows.size(), pieces.windows.size());
  EXPECT_GT(all.transcripts[0].segments.size(), 3u);
  EXPECT_LE(held, 2 * kWindow + 7003 + 1000);
  EXPECT_EQ(held_of_all, long_.size());
}

// Within one window a stream knows as much as there is to know.
TEST_P(DeviceTranscriptionTask, AShortStreamIsWhole) {
  const std::vector<float> part(long_.begin(), long_.begin() + 9001);
  size_t held = 0;
  LAPILLI_ASSERT_VALUE(const auto streamed, stream(part, std::array<size_t, 1>{1234}, &held));
  LAPILLI_ASSERT_VALUE(const auto told, transcribe(model_, request({whole(part)})));
  EXPECT_EQ(segments_of(streamed.transcripts[0]), segments_of(told.transcripts[0]));
  EXPECT_FALSE(told.transcripts[0].segments.empty());
  LAPILLI_ASSERT_VALUE(const auto empty, stream({}, std::array<size_t, 1>{1}, &held));
  EXPECT_TRUE(empty.transcripts[0].segments.empty());
}

// How many ids have to be put in, taken out or exchanged to make one list of the other.
size_t changed_ids(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t k = 1; k <= b.size(); ++k)
      diagonal =
          std::exchange(row[k], std::min({row[k] + 1, row[k - 1] + 1, diagonal + (a[i - 1] == b[k - 1] ? 0 : 1)}));
  }
  return row.back();
}

std::vector<int32_t> ids_of(const Transcript& transcript) {
  std::vector<int32_t> ids;
  for (const Segment& s : transcript.segments) ids.insert(ids.end(), s.ids.begin(), s.ids.end());
  return ids;
}

// A pipe's floor goes by the loudest so far, a file's by the loudest of all. docs/use/speech.md has these numbers: of
// the record's recordings, and of the same with a beginning that is 60 dB quieter than what follows.
TEST_P(DeviceTranscriptionTask, IdsThatAStreamChanges) {
  for (const bool quiet : {false, true}) {
    size_t changed = 0, all = 0;
    for (std::vector<float> samples : {long_, second_}) {
      for (size_t i = 0; quiet && i < 24000; ++i) samples[i] *= 1e-3f;
      size_t held = 0;
      LAPILLI_ASSERT_VALUE(const auto streamed, stream(samples, std::array<size_t, 1>{4000}, &held));
      LAPILLI_ASSERT_VALUE(const auto told, transcribe(model_, request({whole(samples)})));
      const auto file = ids_of(told.transcripts[0]);
      changed += changed_ids(file, ids_of(streamed.transcripts[0]));
      all += file.size();
    }
    std::printf("%s: %zu of %zu ids are others\n", quiet ? "quiet at first" : "as recorded", changed, all);
    EXPECT_EQ(changed > 0, quiet);
    EXPECT_GT(all, 100u);
  }
}

// Interim results come while a window fills, and do not change the final ones.
TEST_P(DeviceTranscriptionTask, InterimResultsAreReplacedByWhatIsSettled) {
  const auto open = std::make_shared<SampleStream>(features_);
  TranscribeRequest r = request({{open, {}}});
  r.languages.clear();  // detected by the window, not by its interim result
  r.interim_frames = 25;
  std::vector<std::string> interim;
  size_t final_segments = 0;
  r.on_interim = [&](size_t recording, std::span<const Segment> segments) -> Status {
    EXPECT_EQ(recording, 0u);
    Transcript t;
    t.segments.assign(segments.begin(), segments.end());
    interim.push_back(segments_of(t));
    return {};
  };
  r.on_segment = [&](const Segment&) -> Status {
    ++final_segments;
    return {};
  };
  LAPILLI_ASSERT_VALUE(const auto job, TranscriptionTask::start(model_, std::move(r)));
  size_t pushed = 0;
  while (!job->pump()) {
    job->wait();
    if (!job->is_hungry()) continue;
    if (pushed == 12000) {
      EXPECT_EQ(final_segments, 0u);
      EXPECT_GE(interim.size(), 2u);  // of a quarter, of a half
    }
    const size_t n = std::min<size_t>(4000, long_.size() - pushed);
    LAPILLI_ASSERT_OK(n > 0 ? open->push(std::span(long_).subspan(pushed, n)) : open->finish());
    pushed += n;
  }
  LAPILLI_ASSERT_OK(job->status());
  EXPECT_GT(std::set<std::string>(interim.begin(), interim.end()).size(), 2u);
  size_t held = 0;
  LAPILLI_ASSERT_VALUE(const auto plain, stream(long_, std::array<size_t, 1>{4000}, &held, ""));
  EXPECT_EQ(segments_of(job->output().transcripts[0]), segments_of(plain.transcripts[0]));
  EXPECT_EQ(job->output().transcripts[0].language, plain.transcripts[0].language);
  EXPECT_EQ(job->output().windows.size(), plain.windows.size());
}

// A recording that is going on holds no other up.
TEST_P(DeviceTranscriptionTask, OthersGoOnMeanwhile) {
  const auto open = std::make_shared<SampleStream>(features_);
  LAPILLI_ASSERT_VALUE(const auto job, TranscriptionTask::start(model_, request({{open, {}}, whole(second_)})));
  while (!job->pump() && !job->is_hungry()) job->wait();
  ASSERT_TRUE(job->is_hungry());
  LAPILLI_ASSERT_VALUE(const auto alone, transcribe(model_, request({whole(second_)})));
  EXPECT_EQ(segments_of(job->output().transcripts[1]), segments_of(alone.transcripts[0]));
  EXPECT_EQ(job->progress().done, second_.size() / 160);
  LAPILLI_ASSERT_OK(open->push(std::span(long_).first(20000)));
  EXPECT_EQ(job->progress().total, second_.size() / 160 + (20000 - 200) / 160 + 1);
  LAPILLI_ASSERT_OK(open->finish());
  while (!job->pump()) job->wait();
  EXPECT_FALSE(job->output().transcripts[0].segments.empty());
  EXPECT_EQ(job->progress().done, job->progress().total);
}

TEST_P(DeviceTranscriptionTask, ACancelledJobKeepsWhatItHas) {
  TranscribeRequest r = request({whole(long_)});
  TranscriptionTask* running = nullptr;
  r.on_segment = [&](const Segment&) -> Status {
    running->cancel();
    return {};
  };
  LAPILLI_ASSERT_VALUE(const auto job, TranscriptionTask::start(model_, std::move(r)));
  running = job.get();
  while (!job->pump()) job->wait();
  LAPILLI_EXPECT_OK(job->status());
  const auto out = job->take();
  EXPECT_TRUE(out.cancelled);
  EXPECT_FALSE(out.transcripts[0].segments.empty());
  EXPECT_LT(job->progress().done, job->progress().total);
}

TEST_P(DeviceTranscriptionTask, AnErrorIsARecordingsOwn) {
  std::vector<float> damaged = long_;
  damaged[30000] = NAN;
  LAPILLI_ASSERT_VALUE(const auto job, TranscriptionTask::start(model_, request({whole(damaged), whole(second_)})));
  while (!job->pump()) job->wait();
  LAPILLI_EXPECT_OK(job->status());
  const auto& both = job->output().transcripts;
  EXPECT_THAT(message_of(both[0].status), HasSubstr("sample 30000 is nan"));
  LAPILLI_EXPECT_OK(both[1].status);
  EXPECT_FALSE(both[1].segments.empty());

  SampleStream stream(features_);
  EXPECT_THAT(message_of(stream.push(std::array{0.5f, 1e30f})), HasSubstr("sample 1 is 1e+30"));
  LAPILLI_EXPECT_OK(stream.push(std::array{0.5f}));
  LAPILLI_EXPECT_OK(stream.finish());
  EXPECT_THAT(message_of(stream.push(std::array{0.5f})), HasSubstr("behind the end"));
  EXPECT_THAT(message_of(stream.finish()), HasSubstr("ended already"));
}

// Without timestamps nobody knows where the next window begins.
TEST_P(DeviceTranscriptionTask, AStreamOfSeveralWindowsNeedsTimestamps) {
  const auto open = std::make_shared<SampleStream>(features_);
  TranscribeRequest r = request({{open, {}}});
  r.timestamps = false;
  LAPILLI_ASSERT_VALUE(const auto job, TranscriptionTask::start(model_, std::move(r)));
  LAPILLI_ASSERT_OK(open->push(std::span(long_).first(20000)));
  while (!job->pump()) job->wait();
  EXPECT_THAT(message_of(job->output().transcripts[0].status), HasSubstr("ask for timestamps"));
}

// On a device whose memory is mapped, and on one whose is not.
INSTANTIATE_TEST_SUITE_P(Masks, DeviceTranscriptionTask, testing::Values("full", "staging"),
                         [](const auto& i) { return i.param; });

}  // namespace
}  // namespace lapilli::speech
