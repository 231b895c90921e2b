// Recordings through the C interface, held against the records of the reference's: as a whole, as streams, with events,
// words and times, and with everything that may be wrong.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/recording_events.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;

// The segments of a case of the record.
std::string recorded(const std::string& name, size_t recording = 0) {
  std::ifstream in(kWhisper + "/expected.json");
  const auto record = nlohmann::json::parse(in);
  for (const auto& c : record.at("cases")) {
    if (c.at("name") != name) continue;
    std::string lines;
    for (const auto& s : c.at("segments").at(recording)) {
      const std::vector<int32_t> ids = s.at("tokens");
      lines += line_of(s.at("start"), s.at("end"), {ids.data(), ids.size()});
    }
    return lines;
  }
  return "there is no " + name;
}

class ApiDeviceRecordings : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    device_.reset(device);
    whisper_ = load(device_, kWhisper + "/model");
    long_ = samples_of("long.wav");
    second_ = samples_of("second.wav");
  }
  static void TearDownTestSuite() {
    whisper_.reset();
    device_.reset();
  }

  static ResultHandle generate(const std::vector<lapilli_input>& inputs, const lapilli_options& options,
                               lapilli_model* model = whisper_.get()) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model, inputs.data(), inputs.size(), &options, &result), LAPILLI_OK)
        << lapilli_last_error();
    return ResultHandle(result);
  }
  static std::string streamed(const lapilli_options& options) {
    const ResultHandle result = generate({input_of(long_)}, options);
    return result ? segments_of(result.get(), 0) : lapilli_last_error();
  }
  static JobHandle start(const std::vector<lapilli_input>& inputs, const lapilli_options& options,
                         lapilli_model* model = whisper_.get()) {
    lapilli_job* job = nullptr;
    EXPECT_EQ(lapilli_job_start(model, inputs.data(), inputs.size(), &options, &job), LAPILLI_OK)
        << lapilli_last_error();
    return JobHandle(job);
  }
  static ResultHandle take(const JobHandle& job, lapilli_status want = LAPILLI_OK) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_job_take(job.get(), &result), want) << lapilli_last_error();
    return ResultHandle(result);
  }
  // Waits until the job has ended (true) or wants samples.
  static bool wait(const JobHandle& job) {
    int32_t finished = 0;
    EXPECT_EQ(lapilli_job_wait(job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
    return finished != 0;
  }
  // Why these inputs, and options, are refused.
  static std::string refused(const std::vector<lapilli_input>& inputs, lapilli_status status,
                             const lapilli_options& options = speech_options(), lapilli_model* model = whisper_.get()) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model, inputs.data(), inputs.size(), &options, &result), status) << lapilli_last_error();
    EXPECT_EQ(result, nullptr);
    lapilli_result_free(result);
    return lapilli_last_error();
  }

  static DeviceHandle device_;
  static ModelHandle whisper_;
  static std::vector<float> long_, second_;
};
DeviceHandle ApiDeviceRecordings::device_;
ModelHandle ApiDeviceRecordings::whisper_;
std::vector<float> ApiDeviceRecordings::long_, ApiDeviceRecordings::second_;

TEST_F(ApiDeviceRecordings, SegmentsAreTheRecordedOnes) {
  EXPECT_EQ(streamed(speech_options()), recorded("long_greedy"));
  EXPECT_EQ(streamed(speech_options(nullptr)), recorded("long_detected"));
  AllOptions options = speech_options("fr");
  options.task = "translate";
  options.target_language = "en";
  EXPECT_EQ(streamed(options), recorded("long_translate"));
  options = speech_options();
  options.num_beams = 3;
  EXPECT_EQ(streamed(options), recorded("long_beam3"));
  options = speech_options();
  options.of_speech.condition_on_previous = 1;
  EXPECT_EQ(streamed(options), recorded("long_condition"));
}

TEST_F(ApiDeviceRecordings, ModelsSayWhatTheyTake) {
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(whisper_.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.sample_rate, 16000u);
  EXPECT_EQ(info.window_samples, 16000u);
  EXPECT_EQ(info.reads_pictures, 0);
  EXPECT_EQ(info.classes, 0u);
  // A directory that does not say how sound is prepared.
  const ModelHandle bare = load(device_, kModels + "whisper/model");
  ASSERT_EQ(lapilli_model_get_info(bare.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.sample_rate, 0u);
  EXPECT_THAT(refused({input_of(long_)}, LAPILLI_NOT_FOUND, speech_options(), bare.get()),
              HasSubstr("preprocessor_config.json"));
}

TEST_F(ApiDeviceRecordings, AJobTellsSegmentsAsTheySettle) {
  JobHandle job;
  {
    const std::vector<float> copy = long_, other = second_;  // gone when the job runs
    job = start({input_of(copy), input_of(other)}, speech_options());
  }
  Events events(2);
  size_t lines_before_end = 0;
  for (int32_t finished = 0; !finished; events.read(job.get())) {
    lines_before_end = events.segments[0].size();
    ASSERT_EQ(lapilli_job_pump(job.get(), 1000, &finished), LAPILLI_OK) << lapilli_last_error();
  }
  EXPECT_GT(lines_before_end, 20u);
  EXPECT_EQ(events.ends, 1);
  EXPECT_EQ(events.done, events.total);
  EXPECT_EQ(events.total, long_.size() / 160 + second_.size() / 160);
  const ResultHandle result = take(job);
  ASSERT_TRUE(result);
  for (const size_t i : {0, 1}) events.expect_is(result.get(), i);
  EXPECT_EQ(events.segments[0], recorded("long_batch", 0));
  EXPECT_EQ(events.segments[1], recorded("long_batch", 1));
  lapilli_stats stats{};
  stats.struct_size = sizeof stats;
  ASSERT_EQ(lapilli_result_get_stats(result.get(), &stats), LAPILLI_OK);
  EXPECT_EQ(stats.generated_tokens, events.ids[0].size() + events.ids[1].size());
  EXPECT_GT(stats.decoder_steps, 20u);
  EXPECT_GT(stats.batches, 3u);
}

// A segment says more than its ids.
TEST_F(ApiDeviceRecordings, SegmentsHaveALanguageAndProbabilities) {
  AllOptions options = speech_options(nullptr);
  const float temperatures[] = {0};
  options.of_speech.temperatures = temperatures;
  options.of_speech.temperature_count = 1;
  options.of_speech.logprob_threshold = -100;
  options.of_speech.no_speech_threshold = 0.9f;
  const ResultHandle result = generate({input_of(long_)}, options);
  ASSERT_TRUE(result);
  const lapilli_segment s = segment_of(result.get(), 0, 0);
  ASSERT_NE(s.language, nullptr);
  EXPECT_EQ(std::string(s.language).size(), 2u);
  EXPECT_LT(s.log_probability, 0);
  EXPECT_GT(s.no_speech_probability, 0);
  EXPECT_LT(s.no_speech_probability, 1);
  EXPECT_EQ(s.words, 0u);
  EXPECT_STREQ(s.text, "");  // the model has no tokenizer
  EXPECT_EQ(s.doubtful, 0);
  options.of_speech.logprob_threshold = -1e-6f;
  const ResultHandle strict = generate({input_of(long_)}, options);
  ASSERT_TRUE(strict);
  EXPECT_NE(segment_of(strict.get(), 0, 0).doubtful, 0);
  EXPECT_EQ(segment_of(strict.get(), 0, 0).window_begin, 0);
  const lapilli_segment later = segment_of(strict.get(), 0, 3);
  EXPECT_GT(later.window_begin, 0);
  EXPECT_LE(later.window_begin, later.begin);
  const ResultHandle plain = generate({input_of(long_)}, speech_options());
  EXPECT_TRUE(std::isnan(segment_of(plain.get(), 0, 0).no_speech_probability));
}

// ---- streams -------------------------------------------------------------------------------------------------------

TEST_F(ApiDeviceRecordings, AStreamIsHeardWhileItComes) {
  const auto stream = [&](size_t piece) {
    const JobHandle job = start({lapilli_sample_stream(16000)}, speech_options());
    Events events(1);
    size_t at = 0, early = 0;
    while (!wait(job)) {
      events.read(job.get());
      if (at < long_.size()) early = events.segments[0].size();
      const size_t n = std::min(piece, long_.size() - at);
      EXPECT_EQ(n > 0 ? lapilli_job_append_samples(job.get(), 0, long_.data() + at, n)
                      : lapilli_job_end_samples(job.get(), 0),
                LAPILLI_OK)
          << lapilli_last_error();
      at += n;
    }
    events.read(job.get());
    EXPECT_TRUE(piece >= long_.size() || early > 20) << "nothing was told before the end";
    const ResultHandle result = take(job);
    if (result) events.expect_is(result.get(), 0);
    EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, long_.data(), 1), LAPILLI_INVALID_ARGUMENT);
    EXPECT_THAT(lapilli_last_error(), HasSubstr("the job has ended"));
    return events.segments[0];
  };
  const std::string whole = stream(long_.size());
  EXPECT_EQ(stream(7003), whole);
  EXPECT_EQ(stream(1600), whole);
}

TEST_F(ApiDeviceRecordings, AWaitReturnsWhereSamplesAreWanted) {
  lapilli_input begun = lapilli_samples(second_.data(), 20000, 16000);
  begun.more_samples = 1;
  const JobHandle job = start({begun, input_of(second_)}, speech_options());
  Events events(2);
  EXPECT_FALSE(wait(job));
  events.read(job.get());
  EXPECT_EQ(events.inputs[0], -1);
  EXPECT_EQ(events.inputs[1], LAPILLI_OK) << "a recording that goes on held the other up";
  int32_t finished = 0;
  EXPECT_EQ(lapilli_job_wait(job.get(), 10'000'000, &finished), LAPILLI_OK);  // at once
  EXPECT_EQ(finished, 0);
  EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, second_.data() + 20000, second_.size() - 20000), LAPILLI_OK);
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_OK);
  EXPECT_TRUE(wait(job));
  events.read(job.get());
  EXPECT_FALSE(events.segments[0].empty());
  const ResultHandle result = take(job);
  for (const size_t i : {0, 1}) events.expect_is(result.get(), i);
}

TEST_F(ApiDeviceRecordings, AStreamOfNothingSaysNothing) {
  const JobHandle job = start({lapilli_sample_stream(16000)}, speech_options());
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_OK);
  EXPECT_TRUE(wait(job));
  const ResultHandle result = take(job);
  ASSERT_TRUE(result);
  EXPECT_EQ(segments_of(result.get(), 0), "");
}

TEST_F(ApiDeviceRecordings, SamplesThatAStreamDoesNotTake) {
  const JobHandle job = start({lapilli_sample_stream(16000), input_of(second_)}, speech_options());
  const auto append = [&](size_t input, std::vector<float> samples) {
    const auto status = lapilli_job_append_samples(job.get(), input, samples.data(), samples.size());
    return std::string(lapilli_status_name(status)) + ": " + lapilli_last_error();
  };
  EXPECT_THAT(append(0, {0.5f, NAN}), HasSubstr("invalid data: lapilli_job_append_samples: sample 1 is nan"));
  EXPECT_THAT(append(0, {INFINITY}), HasSubstr("sample 0 is inf"));
  EXPECT_THAT(append(1, {0.5f}),
              HasSubstr("invalid argument: lapilli_job_append_samples: input 1 is no recording that"));
  EXPECT_THAT(append(2, {0.5f}), HasSubstr("input 2 is no recording that continues"));
  EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, nullptr, 5), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("5 samples at a null pointer"));
  EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, long_.data(), size_t{4'000'000'000}), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("4000000000 samples are more than are taken at a time"));
  EXPECT_EQ(lapilli_job_append_samples(nullptr, 0, nullptr, 0), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_end_samples(nullptr, 0), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 1), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, long_.data(), 20000), LAPILLI_OK);
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_OK);
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(append(0, {0.5f}), HasSubstr("behind the end"));
  EXPECT_TRUE(wait(job));
}

TEST_F(ApiDeviceRecordings, ACancelledStreamKeepsWhatWasHeard) {
  const JobHandle job = start({lapilli_sample_stream(16000)}, speech_options());
  ASSERT_EQ(lapilli_job_append_samples(job.get(), 0, long_.data(), 40000), LAPILLI_OK);
  EXPECT_FALSE(wait(job));
  lapilli_job_cancel(job.get());
  EXPECT_TRUE(wait(job));
  const ResultHandle result = take(job, LAPILLI_CANCELLED);
  ASSERT_TRUE(result);
  EXPECT_NE(segments_of(result.get(), 0), "");
  lapilli_sequence best{};
  best.struct_size = sizeof best;
  EXPECT_EQ(lapilli_result_get(result.get(), 0, 0, &best), LAPILLI_CANCELLED);
}

// ---- what every job promises
// -----------------------------------------------------------------------------------------

TEST_F(ApiDeviceRecordings, CallbacksAreToldAndMayCancel) {
  struct Streamed {
    std::vector<int32_t> ids;
    uint64_t done = 0, total = 0;
    bool stop = false;
  } seen;
  AllOptions options = speech_options();
  options.stream = [](void* user, const lapilli_stream_event* event) {
    auto* streamed = static_cast<Streamed*>(user);
    streamed->ids.insert(streamed->ids.end(), event->ids.ids, event->ids.ids + event->ids.count);
    return streamed->stop ? 1 : 0;
  };
  options.progress = [](void* user, uint64_t done, uint64_t total) {
    static_cast<Streamed*>(user)->done = done;
    static_cast<Streamed*>(user)->total = total;
    return 0;
  };
  options.stream_user = options.progress_user = &seen;
  const ResultHandle result = generate({input_of(long_)}, options);
  ASSERT_TRUE(result);
  lapilli_sequence best{};
  best.struct_size = sizeof best;
  ASSERT_EQ(lapilli_result_get(result.get(), 0, 0, &best), LAPILLI_OK);
  EXPECT_EQ(seen.ids, std::vector<int32_t>(best.ids.ids, best.ids.ids + best.ids.count));
  EXPECT_EQ(seen.done, seen.total);
  seen.stop = true;
  lapilli_result* stopped = nullptr;
  const lapilli_input input = input_of(long_);
  EXPECT_EQ(lapilli_generate(whisper_.get(), &input, 1, &options, &stopped), LAPILLI_CANCELLED);
  ASSERT_NE(stopped, nullptr);
  EXPECT_NE(segments_of(stopped, 0), "");
  lapilli_result_free(stopped);
  // By a token, before it begins.
  lapilli_cancel_token* token = nullptr;
  ASSERT_EQ(lapilli_cancel_token_create(&token), LAPILLI_OK);
  lapilli_cancel_token_cancel(token);
  options = speech_options();
  options.cancel_token = token;
  EXPECT_EQ(lapilli_generate(whisper_.get(), &input, 1, &options, &stopped), LAPILLI_CANCELLED);
  lapilli_result_free(stopped);
  lapilli_cancel_token_free(token);
}

TEST_F(ApiDeviceRecordings, StandsStillWhilePaused) {
  const JobHandle job = start({input_of(long_)}, speech_options());
  int32_t finished = 0;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(lapilli_job_pump(job.get(), 1000, &finished), LAPILLI_OK);
  ASSERT_EQ(lapilli_device_pause(device_.get()), LAPILLI_OK);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(lapilli_job_pump(job.get(), 1000, &finished), LAPILLI_OK);
  EXPECT_EQ(finished, 0);
  lapilli_job* other = nullptr;
  const lapilli_input input = input_of(long_);
  EXPECT_EQ(lapilli_job_start(whisper_.get(), &input, 1, nullptr, &other), LAPILLI_INVALID_ARGUMENT);
  ASSERT_EQ(lapilli_device_resume(device_.get()), LAPILLI_OK);
  EXPECT_TRUE(wait(job));
  const ResultHandle result = take(job);
  EXPECT_EQ(segments_of(result.get(), 0), recorded("long_greedy"));
}

// Freed at any time, and then the device holds what it held before.
TEST_F(ApiDeviceRecordings, GivesItsMemoryBack) {
  const auto held = [&] {
    EXPECT_EQ(lapilli_device_trim(device_.get()), LAPILLI_OK);
    lapilli_device_usage usage{};
    usage.struct_size = sizeof usage;
    EXPECT_EQ(lapilli_device_get_usage(device_.get(), &usage), LAPILLI_OK);
    return usage.weight_bytes + usage.session_bytes;
  };
  const uint64_t before = held();
  for (const int pumps : {0, 1, 3, 20, 200}) {
    JobHandle job = start({input_of(long_), lapilli_sample_stream(16000)}, speech_options());
    for (int i = 0; i < pumps; ++i) ASSERT_EQ(lapilli_job_pump(job.get(), 100, nullptr), LAPILLI_OK);
    job.reset();
    EXPECT_EQ(held(), before) << pumps;
  }
}

// ---- what is refused -----------------------------------------------------------------------------------------------

TEST_F(ApiDeviceRecordings, InputsThatAreWrong) {
  lapilli_input input = input_of(long_);
  input.sample_rate = 44100;
  EXPECT_THAT(refused({input}, LAPILLI_INVALID_ARGUMENT),
              HasSubstr("input 0 has 44100 samples a second, and the model takes 16000"));
  EXPECT_THAT(lapilli_last_error(), HasSubstr("resample it first"));
  input.sample_rate = 0;
  EXPECT_THAT(refused({input}, LAPILLI_INVALID_ARGUMENT),
              HasSubstr("input 0 has 0 samples a second, and the model takes 16000"));
  input = lapilli_samples(long_.data(), 0, 16000);
  EXPECT_THAT(refused({input_of(second_), input}, LAPILLI_INVALID_ARGUMENT), HasSubstr("input 1 has no samples"));
  input = lapilli_samples(nullptr, 5, 16000);
  EXPECT_THAT(refused({input}, LAPILLI_INVALID_ARGUMENT), HasSubstr("samples of input 0 are at a null pointer"));
  input = lapilli_samples(long_.data(), size_t{4'000'000'000}, 16000);
  EXPECT_THAT(refused({input}, LAPILLI_INVALID_ARGUMENT), HasSubstr("append them piece by piece"));
  EXPECT_THAT(refused({lapilli_sample_stream(16000)}, LAPILLI_INVALID_ARGUMENT), HasSubstr("lapilli_job_start"));
}

TEST_F(ApiDeviceRecordings, InputsOfAnotherKind) {
  const int32_t ids[] = {1, 2, 3};
  const uint8_t pixels[12] = {};
  EXPECT_THAT(refused({lapilli_text("Hello.")}, LAPILLI_UNSUPPORTED),
              HasSubstr("input 0 is text, and whisper models read sound: lapilli_samples(), "));
  EXPECT_THAT(lapilli_last_error(), HasSubstr("lapilli transcribe"));
  EXPECT_THAT(refused({input_of(long_), lapilli_tokens(ids, 3)}, LAPILLI_UNSUPPORTED), HasSubstr("input 1 is ids"));
  EXPECT_THAT(refused({lapilli_pixels(pixels, 2, 2)}, LAPILLI_UNSUPPORTED), HasSubstr("input 0 is pixels"));
  const ModelHandle marian = load(device_, kModels + "marian/model");
  EXPECT_THAT(refused({input_of(long_)}, LAPILLI_UNSUPPORTED, lapilli_default_options(), marian.get()),
              HasSubstr("input 0 is samples, and marian models read text: lapilli_text() and lapilli_tokens()"));
  lapilli_shape shape = lapilli_default_shape();
  EXPECT_EQ(lapilli_model_prepare(whisper_.get(), &shape), LAPILLI_UNSUPPORTED);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("run a job with a second of silence"));
}

// A recording that cannot be transcribed does not change the results of the others.
TEST_F(ApiDeviceRecordings, ADamagedRecordingIsAloneInIt) {
  std::vector<float> damaged = long_;
  damaged[30000] = NAN;
  lapilli_input begun = input_of(damaged);
  begun.more_samples = 1;
  const JobHandle job = start({input_of(damaged), input_of(second_), begun}, speech_options());
  EXPECT_TRUE(wait(job));
  Events events(3);
  events.read(job.get());
  EXPECT_EQ(events.inputs, (std::vector<lapilli_status>{LAPILLI_INVALID_DATA, LAPILLI_OK, LAPILLI_INVALID_DATA}));
  const ResultHandle result = take(job);
  events.expect_is(result.get(), 1);
  lapilli_sequence best{};
  best.struct_size = sizeof best;
  for (const size_t i : {0, 2}) {
    EXPECT_EQ(lapilli_result_get(result.get(), i, 0, &best), LAPILLI_INVALID_DATA);
    EXPECT_THAT(lapilli_last_error(), HasSubstr("sample 30000 is nan"));
  }
}

TEST_F(ApiDeviceRecordings, OptionsThatAreWrong) {
  const auto with = [&](auto set, lapilli_model* model = whisper_.get()) {
    AllOptions options = speech_options();
    set(options);
    return refused({input_of(long_)}, LAPILLI_INVALID_ARGUMENT, options, model);
  };
  const float bad[] = {0, -1};
  const int32_t id = 5;
  EXPECT_THAT(with([](auto& o) { o.task = "summarize"; }), HasSubstr("they transcribe and translate"));
  EXPECT_THAT(with([](auto& o) { o.source_language = "Klingon"; }), HasSubstr("Klingon"));
  EXPECT_THAT(with([](auto& o) { o.target_language = "fr"; }), HasSubstr("target_language is \"fr\""));
  EXPECT_THAT(with([](auto& o) { o.of_speech.temperature_count = 2; }),
              HasSubstr("temperatures: 2 of them at a null pointer"));
  EXPECT_THAT(with([&](auto& o) { o.of_speech.temperatures = bad, o.of_speech.temperature_count = 2; }),
              HasSubstr("number 1 is -1"));
  EXPECT_THAT(with([&](auto& o) { o.of_speech.temperatures = bad, o.of_speech.temperature_count = 65; }),
              HasSubstr("65 are too many"));
  EXPECT_THAT(with([](auto& o) { o.of_speech.no_speech_threshold = 0.5f; }),
              HasSubstr("together with logprob_threshold"));
  EXPECT_THAT(with([&](auto& o) {
                o.decoder_prompt = {&id, 1};
              }),
              HasSubstr("decoder_prompt is not for models of sound"));
  EXPECT_THAT(with([](auto& o) { o.num_return_sequences = 2, o.num_beams = 2; }), HasSubstr("num_return_sequences"));
  EXPECT_THAT(with([](auto& o) { o.of_picture.classes = 2; }), HasSubstr("classes"));
  EXPECT_THAT(with([](auto& o) { o.num_beams = 0; }), HasSubstr("num_beams"));
  EXPECT_THAT(with([](auto& o) { o.json = R"({"frobnicate": 1})"; }), HasSubstr("frobnicate"));
  // Options of models of sound or pictures.
  const ModelHandle marian = load(device_, kModels + "marian/model");
  const int32_t ids[] = {5, 0};
  AllOptions options = lapilli_default_options();
  const auto of_text = [&] {
    return refused({lapilli_tokens(ids, 2)}, LAPILLI_INVALID_ARGUMENT, options, marian.get());
  };
  options.prompt = "Once";
  EXPECT_THAT(of_text(), HasSubstr("lapilli_options.prompt is for models of another kind, and this one writes text"));
  options.prompt = nullptr;
  options.of_speech.word_times = 1;
  EXPECT_THAT(of_text(), HasSubstr("word_times"));
}

TEST_F(ApiDeviceRecordings, ResultsThatAreNotThere) {
  const ResultHandle result = generate({input_of(second_)}, speech_options());
  ASSERT_TRUE(result);
  size_t count = 7;
  EXPECT_EQ(lapilli_result_segments(result.get(), 1, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(lapilli_result_segments(nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_segments(result.get(), 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  lapilli_segment segment{};
  EXPECT_EQ(lapilli_result_get_segment(result.get(), 0, 0, &segment), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("struct_size"));
  segment.struct_size = sizeof segment;
  EXPECT_EQ(lapilli_result_get_segment(result.get(), 0, 99, &segment), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("segment 99 of"));
  EXPECT_EQ(lapilli_result_get_segment(result.get(), 0, 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  lapilli_word word{};
  word.struct_size = sizeof word;
  EXPECT_EQ(lapilli_result_get_word(result.get(), 0, 0, 0, &word), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("word 0 of 0; set lapilli_speech_options.word_times"));
  EXPECT_EQ(lapilli_result_classes(result.get(), 0, &count), LAPILLI_OK);
  EXPECT_EQ(count, 0u);
  lapilli_attention* attention = nullptr;
  EXPECT_EQ(lapilli_attention_run(whisper_.get(), result.get(), 0, 0, 0, &attention), LAPILLI_UNSUPPORTED);
  const JobHandle job = start({input_of(second_)}, speech_options());
  EXPECT_EQ(lapilli_job_get_word(job.get(), 0, &word), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_get_word(nullptr, 0, &word), LAPILLI_INVALID_ARGUMENT);
}

// ---- words and text ------------------------------------------------------------------------------------------------

// A model of the records with the files that it needs to be complete. Its words are bytes.
std::string with_words(const TempDirectory& folder, const std::string& name, const char* preprocessor = nullptr) {
  namespace fs = std::filesystem;
  const fs::path to = fs::path(folder.path()) / name;
  fs::copy(kModels + name + "/model", to);
  if (preprocessor) std::ofstream(to / "preprocessor_config.json") << preprocessor;
  std::ofstream(to / "tokenizer_config.json") << R"({"tokenizer_class": "ByT5Tokenizer"})";
  return to.string();
}
const char* const kSamples = R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16000})";

TEST_F(ApiDeviceRecordings, WordsAreTheSegmentsText) {
  const TempDirectory folder;
  const ModelHandle model = load(device_, with_words(folder, "whisper-long"));
  ASSERT_TRUE(model);
  AllOptions options = speech_options();
  options.of_speech.word_times = 1;
  const ResultHandle result = generate({input_of(long_)}, options, model.get());
  ASSERT_TRUE(result);
  const JobHandle job = start({input_of(long_)}, options, model.get());
  EXPECT_TRUE(wait(job));
  size_t words = 0, segments = 0;
  lapilli_event event{};
  event.struct_size = sizeof event;
  for (int32_t has = 1; lapilli_job_next_event(job.get(), &event, &has) == LAPILLI_OK && has;) {
    if (event.kind != LAPILLI_EVENT_SEGMENT) continue;
    const lapilli_segment s = segment_of(result.get(), 0, segments);
    ASSERT_EQ(event.of.segment.segment, segments++);
    ASSERT_EQ(event.of.segment.words, s.words);
    std::string joined;
    double at = 0;
    for (size_t w = 0; w < s.words; ++w, ++words) {
      lapilli_word word{}, events{};
      word.struct_size = events.struct_size = sizeof word;
      ASSERT_EQ(lapilli_result_get_word(result.get(), 0, segments - 1, w, &word), LAPILLI_OK) << lapilli_last_error();
      ASSERT_EQ(lapilli_job_get_word(job.get(), w, &events), LAPILLI_OK) << lapilli_last_error();
      EXPECT_STREQ(word.text, events.text);
      EXPECT_EQ(word.begin, events.begin);
      EXPECT_LE(word.begin, word.end);
      EXPECT_GE(word.begin, at);
      at = word.begin;
      EXPECT_GT(word.probability, 0);
      EXPECT_GT(word.ids.count, 0u);
      EXPECT_EQ(word.ids.count, events.ids.count);
      joined += word.text;
    }
    EXPECT_EQ(joined, s.text);
    lapilli_word beyond{};
    beyond.struct_size = sizeof beyond;
    EXPECT_EQ(lapilli_job_get_word(job.get(), s.words, &beyond), LAPILLI_INVALID_ARGUMENT);
  }
  EXPECT_GT(words, 3u);
}

TEST_F(ApiDeviceRecordings, PromptsStandBeforeARecording) {
  const TempDirectory folder;
  const ModelHandle model = load(device_, with_words(folder, "whisper-long"));
  AllOptions options = speech_options();
  const ResultHandle without = generate({input_of(second_)}, options, model.get());
  options.prompt = "  ab cd ";
  const ResultHandle with = generate({input_of(second_)}, options, model.get());
  ASSERT_TRUE(without && with);
  EXPECT_NE(segments_of(without.get(), 0), segments_of(with.get(), 0));
  // The end of a long one is read.
  const auto of_words = [&](size_t words) {
    std::string many;
    for (size_t i = 0; i < words; ++i) many += "ab ";
    options.prompt = many.c_str();
    const ResultHandle result = generate({input_of(second_)}, options, model.get());
    options.prompt = nullptr;
    return result ? segments_of(result.get(), 0) : std::string();
  };
  EXPECT_FALSE(of_words(100).empty());
  EXPECT_EQ(of_words(100), of_words(1000));
  // Bytes of other scripts are ids that this model has for its marks.
  options.prompt = "\xf0\x9f\x98\x80";
  EXPECT_THAT(refused({input_of(second_)}, LAPILLI_INVALID_ARGUMENT, options, model.get()),
              HasSubstr("one of the model's own marks"));
  options.prompt = "\xff";
  EXPECT_THAT(refused({input_of(second_)}, LAPILLI_INVALID_ARGUMENT, options, model.get()), HasSubstr("prompt"));
}

// ---- recordings as a whole -----------------------------------------------------------------------------------------

TEST_F(ApiDeviceRecordings, MoonshineHearsAsAWhole) {
  const TempDirectory folder;
  const ModelHandle model = load(device_, with_words(folder, "moonshine", kSamples));
  ASSERT_TRUE(model);
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(model.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.sample_rate, 16000u);
  EXPECT_EQ(info.window_samples, 0u);
  AllOptions options = lapilli_default_options();
  options.max_new_tokens = 20;
  const std::vector<float> part(second_.begin(), second_.begin() + 9000);
  const ResultHandle want = generate({input_of(part), input_of(second_)}, options, model.get());
  ASSERT_TRUE(want);
  const lapilli_segment only = segment_of(want.get(), 0, 0);
  EXPECT_EQ(only.begin, 0);
  EXPECT_DOUBLE_EQ(only.end, 9000 / 16000.0);
  EXPECT_EQ(only.language, nullptr);
  EXPECT_LT(only.log_probability, 0);

  const JobHandle job = start({lapilli_sample_stream(16000), input_of(second_)}, options, model.get());
  EXPECT_FALSE(wait(job));
  for (size_t at = 0; at < part.size(); at += 3000)
    EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, part.data() + at, 3000), LAPILLI_OK) << lapilli_last_error();
  const float noise[] = {0.1f, NAN};
  EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, noise, 2), LAPILLI_INVALID_DATA);
  const std::vector<float> hours(size_t{1} << 24, 0.0f);
  EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, hours.data(), hours.size()), LAPILLI_INVALID_DATA);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("take a recording as a whole: this one at most"));
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_OK);
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(wait(job));
  Events events(2);
  events.read(job.get());
  const ResultHandle result = take(job);
  ASSERT_TRUE(result);
  for (const size_t i : {0, 1}) {
    events.expect_is(result.get(), i);
    EXPECT_EQ(segments_of(result.get(), i), segments_of(want.get(), i));
  }
  // One that is too short for it is alone in that.
  const JobHandle both = start({lapilli_samples(second_.data(), 100, 16000), input_of(part)}, options, model.get());
  EXPECT_TRUE(wait(both));
  Events short_one(2);
  short_one.read(both.get());
  EXPECT_EQ(short_one.inputs, (std::vector<lapilli_status>{LAPILLI_INVALID_DATA, LAPILLI_OK}));
  options.of_speech.word_times = 1;
  EXPECT_THAT(refused({input_of(part)}, LAPILLI_INVALID_ARGUMENT, options, model.get()),
              HasSubstr("word_times is for models that transcribe recordings window by window"));
}

}  // namespace
}  // namespace lapilli::test
