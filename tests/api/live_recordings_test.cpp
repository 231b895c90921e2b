// Recordings through the C interface that are not there as a whole, or not gone through from one end to the other:
// interim_results of what is being said, samples that are asked for, chunks, and what words looked at.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "api/recording_events.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;

class ApiDeviceLive : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    device_.reset(device);
    whisper_ = load(device_, kWhisper + "/model");
    long_ = samples_of("long.wav");
    second_ = samples_of("second.wav");
    short_.assign(long_.begin(), long_.begin() + 40000);
  }
  static void TearDownTestSuite() {
    whisper_.reset();
    device_.reset();
  }

  static JobHandle start(const std::vector<lapilli_input>& inputs, const lapilli_options& options,
                         lapilli_model* model = whisper_.get()) {
    lapilli_job* job = nullptr;
    EXPECT_EQ(lapilli_job_start(model, inputs.data(), inputs.size(), &options, &job), LAPILLI_OK)
        << lapilli_last_error();
    return JobHandle(job);
  }
  // Why a job is refused.
  static std::string refused(const std::vector<lapilli_input>& inputs, const lapilli_options& options,
                             lapilli_status want = LAPILLI_INVALID_ARGUMENT) {
    lapilli_job* job = nullptr;
    EXPECT_EQ(lapilli_job_start(whisper_.get(), inputs.data(), inputs.size(), &options, &job), want);
    EXPECT_EQ(job, nullptr);
    return lapilli_last_error();
  }
  static bool wait(const JobHandle& job) {
    int32_t finished = 0;
    EXPECT_EQ(lapilli_job_wait(job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
    return finished != 0;
  }
  static ResultHandle take(const JobHandle& job) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_job_take(job.get(), &result), LAPILLI_OK) << lapilli_last_error();
    return ResultHandle(result);
  }
  static void append(const JobHandle& job, size_t from, size_t to) {
    EXPECT_EQ(lapilli_job_append_samples(job.get(), 0, long_.data() + from, to - from), LAPILLI_OK)
        << lapilli_last_error();
  }
  static lapilli_event next(const JobHandle& job) {
    lapilli_event event{};
    event.struct_size = sizeof event;
    int32_t has = 0;
    EXPECT_EQ(lapilli_job_next_event(job.get(), &event, &has), LAPILLI_OK);
    if (!has) event.kind = 0;
    return event;
  }
  // The next event of this kind; of kind 0 if there is none.
  static lapilli_event next(const JobHandle& job, int32_t kind) {
    lapilli_event event = next(job);
    while (event.kind != 0 && event.kind != kind) event = next(job);
    return event;
  }
  static lapilli_segment interim(const JobHandle& job, size_t segment) {
    lapilli_segment s{};
    s.struct_size = sizeof s;
    EXPECT_EQ(lapilli_job_get_interim(job.get(), segment, &s), LAPILLI_OK) << lapilli_last_error();
    return s;
  }
  static int32_t wants(const JobHandle& job) {
    int32_t wants = -1;
    EXPECT_EQ(lapilli_job_wants_samples(job.get(), &wants), LAPILLI_OK) << lapilli_last_error();
    return wants;
  }
  static std::string transcribed(const std::vector<lapilli_input>& inputs, const lapilli_options& options,
                                 size_t input = 0, lapilli_model* model = whisper_.get()) {
    const JobHandle job = start(inputs, options, model);
    if (!job || !wait(job)) return "it has not ended";
    Events events(inputs.size());
    events.read(job.get());
    const ResultHandle result = take(job);
    if (result) events.expect_is(result.get(), input);
    return events.segments[input];
  }

  static DeviceHandle device_;
  static ModelHandle whisper_;
  static std::vector<float> long_, second_, short_;
};
DeviceHandle ApiDeviceLive::device_;
ModelHandle ApiDeviceLive::whisper_;
std::vector<float> ApiDeviceLive::long_, ApiDeviceLive::second_, ApiDeviceLive::short_;

AllOptions with_interim_results() {
  AllOptions options = speech_options();
  options.of_speech.interim_samples = 4000;  // a quarter of the model's window
  options.of_speech.word_times = 1;
  return options;
}

// ---- interim_results
// --------------------------------------------------------------------------------------------------------

TEST_F(ApiDeviceLive, InterimResultsAreReplacedAndVoid) {
  const JobHandle job = start({lapilli_sample_stream(16000)}, with_interim_results());
  EXPECT_FALSE(wait(job));
  EXPECT_EQ(wants(job), 1);
  append(job, 0, 3000);  // too few
  EXPECT_EQ(wants(job), 1) << "nothing has looked at them yet";
  EXPECT_FALSE(wait(job));
  EXPECT_EQ(next(job, LAPILLI_EVENT_INTERIM).kind, 0);
  append(job, 3000, 10000);
  EXPECT_FALSE(wait(job));
  append(job, 10000, 15000);  // replaces the interim that nobody has read
  EXPECT_FALSE(wait(job));
  const lapilli_event event = next(job, LAPILLI_EVENT_INTERIM);
  ASSERT_EQ(event.kind, LAPILLI_EVENT_INTERIM);
  EXPECT_EQ(event.of.interim.input, 0u);
  ASSERT_GT(event.of.interim.segments, 0u);
  size_t ids = 0, words = 0;
  for (size_t i = 0; i < event.of.interim.segments; ++i) {
    const lapilli_segment s = interim(job, i);
    EXPECT_STREQ(s.language, "en");
    EXPECT_LE(s.end, 1.0);
    ids += s.ids.count;
    for (size_t w = 0; w < s.words; ++w, ++words) {
      lapilli_word word{};
      word.struct_size = sizeof word;
      ASSERT_EQ(lapilli_job_get_interim_word(job.get(), i, w, &word), LAPILLI_OK) << lapilli_last_error();
      EXPECT_GE(word.begin, s.begin - 0.03);
    }
  }
  EXPECT_GT(ids, 2u);
  EXPECT_GT(words, 0u);
  EXPECT_EQ(next(job, LAPILLI_EVENT_INTERIM).kind, 0) << "an older one";
  // One that is void is not told.
  append(job, 15000, 15900);
  append(job, 15900, 40000);
  EXPECT_FALSE(wait(job));
  bool settled = false;
  for (lapilli_event e = next(job); e.kind != 0; e = next(job)) {
    settled = settled || e.kind == LAPILLI_EVENT_SEGMENT;
    EXPECT_TRUE(e.kind != LAPILLI_EVENT_INTERIM || settled) << "before the segment that makes it void";
  }
  EXPECT_TRUE(settled);
  EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_OK);
  EXPECT_TRUE(wait(job));
  EXPECT_EQ(wants(job), 0);
  EXPECT_EQ(next(job, LAPILLI_EVENT_INTERIM).kind, 0) << "behind the end of the recording";
}

// The final text is the text of a run without interim results.
TEST_F(ApiDeviceLive, InterimResultsChangeNothing) {
  std::string all[2];
  for (const uint32_t interim_samples : {0u, 4000u}) {
    AllOptions options = with_interim_results();
    options.of_speech.interim_samples = interim_samples;
    const JobHandle job = start({lapilli_sample_stream(16000)}, options);
    size_t interim_results = 0, at = 0;
    std::string segments;
    const auto read = [&] {
      for (lapilli_event e = next(job); e.kind != 0; e = next(job)) {
        interim_results += e.kind == LAPILLI_EVENT_INTERIM;
        if (e.kind == LAPILLI_EVENT_SEGMENT)
          segments += line_of(e.of.segment.begin, e.of.segment.end, e.of.segment.ids);
      }
    };
    for (; !wait(job); read()) {
      const size_t n = std::min<size_t>(5000, long_.size() - at);
      if (n == 0) {
        EXPECT_EQ(lapilli_job_end_samples(job.get(), 0), LAPILLI_OK);
        continue;
      }
      append(job, at, at + n);
      at += n;
    }
    read();
    EXPECT_EQ(interim_results > 3, interim_samples > 0) << interim_results;
    all[interim_samples > 0] = segments;
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_GT(all[0].size(), 100u);
}

TEST_F(ApiDeviceLive, InterimResultsThatAreNotThere) {
  const JobHandle job = start({lapilli_sample_stream(16000)}, with_interim_results());
  lapilli_segment segment{};
  segment.struct_size = sizeof segment;
  lapilli_word word{};
  word.struct_size = sizeof word;
  EXPECT_EQ(lapilli_job_get_interim(job.get(), 0, &segment), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("lapilli_job_get_interim: segment 0 of 0 of the last interim event"));
  append(job, 0, 15000);
  EXPECT_FALSE(wait(job));
  const lapilli_event event = next(job, LAPILLI_EVENT_INTERIM);
  ASSERT_EQ(event.kind, LAPILLI_EVENT_INTERIM);
  EXPECT_EQ(lapilli_job_get_interim(job.get(), event.of.interim.segments, &segment), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_get_interim(job.get(), 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_get_interim(nullptr, 0, &segment), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_get_interim_word(job.get(), 0, 99, &word), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("word 99 of"));
  EXPECT_EQ(lapilli_job_get_interim_word(nullptr, 0, 0, &word), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_get_word(job.get(), 0, &word), LAPILLI_INVALID_ARGUMENT) << "a interim is no segment";
  EXPECT_EQ(lapilli_job_wants_samples(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_wants_samples(job.get(), nullptr), LAPILLI_INVALID_ARGUMENT);
}

// ---- samples that are asked for
// --------------------------------------------------------------------------------------

struct Pulled {
  const std::vector<float>& samples;
  uint64_t there = UINT64_MAX;  // of them
  lapilli_status fails = LAPILLI_OK;
  uint64_t fails_at = 0;  // the first sample of a read
  uint64_t too_many = 0;  // that it claims
  uint64_t passes = 0, reads = 0;

  static lapilli_status read(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got) {
    auto& own = *static_cast<Pulled*>(user);
    EXPECT_EQ(*got, 0u);
    EXPECT_GT(room, 0u);
    EXPECT_LE(first + room, own.samples.size());
    ++own.reads;
    own.passes += first == 0;
    if (own.fails != LAPILLI_OK && first >= own.fails_at) return own.fails;
    const uint64_t end = std::min<uint64_t>(own.there, own.samples.size());
    const uint64_t n = first < end ? std::min(room, end - first) : 0;
    std::copy_n(own.samples.begin() + static_cast<ptrdiff_t>(first), n, to);
    *got = n + own.too_many;
    return LAPILLI_OK;
  }
  lapilli_sample_source source() {
    lapilli_sample_source s = lapilli_default_sample_source();
    s.user = this;
    s.count = samples.size();
    s.read = &read;
    return s;
  }
};

TEST_F(ApiDeviceLive, PulledSamplesAreTheSame) {
  Pulled pulled{long_};
  const lapilli_sample_source source = pulled.source();
  const std::string want = transcribed({input_of(long_)}, speech_options());
  EXPECT_EQ(transcribed({lapilli_pulled_samples(&source, 16000)}, speech_options()), want);
  EXPECT_GE(pulled.passes, 2u);
  EXPECT_GT(pulled.reads, 8u) << "it is read as a whole";
  // One that has ended before its time is silent from there on.
  Pulled cut{long_};
  cut.there = 50000;
  std::vector<float> silent = long_;
  std::fill(silent.begin() + 50000, silent.end(), 0.0f);
  const lapilli_sample_source less = cut.source();
  EXPECT_EQ(transcribed({lapilli_pulled_samples(&less, 16000)}, speech_options()),
            transcribed({input_of(silent)}, speech_options()));
  // Without a job.
  const lapilli_input input = lapilli_pulled_samples(&source, 16000);
  const AllOptions options = speech_options();
  lapilli_result* result = nullptr;
  ASSERT_EQ(lapilli_generate(whisper_.get(), &input, 1, &options, &result), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(segments_of(result, 0), want);
  lapilli_result_free(result);
}

TEST_F(ApiDeviceLive, PulledSamplesOfModelsWithoutWindows) {
  const TempDirectory folder;
  std::filesystem::copy(kModels + "moonshine/model", folder.path() + "/moonshine");
  std::ofstream(folder.path() + "/moonshine/preprocessor_config.json")
      << R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16000})";
  const ModelHandle model = load(device_, folder.path() + "/moonshine");
  AllOptions options = lapilli_default_options();
  options.max_new_tokens = 20;
  const std::vector<float> part(second_.begin(), second_.begin() + 9000);
  Pulled pulled{part};
  const lapilli_sample_source source = pulled.source();
  EXPECT_EQ(transcribed({lapilli_pulled_samples(&source, 16000)}, options, 0, model.get()),
            transcribed({input_of(part)}, options, 0, model.get()));
  for (const auto set : {+[](AllOptions& o) { o.of_speech.chunks = 1; }, +[](AllOptions& o) { o.keep_attention = 1; },
                         +[](AllOptions& o) { o.of_speech.interim_samples = 1; }}) {
    set(options = lapilli_default_options());
    const lapilli_input input = input_of(part);
    lapilli_job* job = nullptr;
    EXPECT_EQ(lapilli_job_start(model.get(), &input, 1, &options, &job), LAPILLI_INVALID_ARGUMENT);
    EXPECT_THAT(lapilli_last_error(), HasSubstr("is for models that transcribe recordings window by window"));
  }
}

// The answers of a source concern its own recording alone.
TEST_F(ApiDeviceLive, SourcesThatFail) {
  const struct {
    lapilli_status says, want;
    uint64_t at;
  } cases[] = {{LAPILLI_NOT_FOUND, LAPILLI_NOT_FOUND, 0},
               {LAPILLI_INVALID_DATA, LAPILLI_INVALID_DATA, 30000},
               {LAPILLI_DEVICE_LOST, LAPILLI_INVALID_DATA, 0},
               {LAPILLI_CANCELLED, LAPILLI_INVALID_DATA, 30000},
               {-77, LAPILLI_INVALID_DATA, 0}};
  for (const uint32_t chunks : {0u, 4u})
    for (const auto& c : cases) {
      Pulled bad{long_}, good{short_};
      bad.fails = c.says;
      bad.fails_at = c.at;
      const lapilli_sample_source failing = bad.source(), other = good.source();
      AllOptions options = speech_options();
      options.of_speech.chunks = chunks;
      const JobHandle job =
          start({lapilli_pulled_samples(&failing, 16000), lapilli_pulled_samples(&other, 16000)}, options);
      ASSERT_TRUE(wait(job));
      Events events(2);
      events.read(job.get());
      EXPECT_EQ(events.inputs, (std::vector<lapilli_status>{c.want, LAPILLI_OK})) << c.says << ", chunks " << chunks;
      const ResultHandle result = take(job);
      lapilli_sequence best{};
      best.struct_size = sizeof best;
      EXPECT_EQ(lapilli_result_get(result.get(), 0, 0, &best), c.want);
      EXPECT_THAT(lapilli_last_error(), HasSubstr("the program's read failed with status"));
      events.expect_is(result.get(), 1);
    }
  Pulled lying{long_};
  lying.too_many = 1;
  const lapilli_sample_source more = lying.source();
  const JobHandle job = start({lapilli_pulled_samples(&more, 16000)}, speech_options());
  ASSERT_TRUE(wait(job));
  Events events(1);
  events.read(job.get());
  EXPECT_EQ(events.inputs[0], LAPILLI_INVALID_ARGUMENT);
}

TEST_F(ApiDeviceLive, SourcesThatAreWrong) {
  Pulled pulled{long_};
  const auto with = [&](auto set, lapilli_status want = LAPILLI_INVALID_ARGUMENT) {
    lapilli_sample_source source = pulled.source();
    lapilli_input input = lapilli_pulled_samples(&source, 16000);
    set(source, input);
    return refused({input}, speech_options(), want);
  };
  EXPECT_THAT(with([](auto& s, auto&) { s.read = nullptr; }), HasSubstr("the read function of input 0 is null"));
  EXPECT_THAT(with([](auto& s, auto&) { s.count = 0; }), HasSubstr("says that it has 0 samples"));
  EXPECT_THAT(with([](auto& s, auto&) { s.count = UINT64_MAX; }), HasSubstr("samples; there are 1 to"));
  EXPECT_THAT(with([](auto& s, auto&) { s.struct_size = 0; }), HasSubstr("lapilli_sample_source.struct_size is 0"));
  EXPECT_THAT(with([](auto&, auto& i) { i.more_samples = 1; }), HasSubstr("has a source of samples, and samples or"));
  EXPECT_THAT(with([&](auto&, auto& i) { i.samples = long_.data(); }), HasSubstr("has a source of samples, and"));
  EXPECT_THAT(with([](auto&, auto& i) { i.sample_rate = 8000; }), HasSubstr("has 8000 samples a second"));
  EXPECT_EQ(pulled.reads, 0u);
}

// ---- chunks
// ----------------------------------------------------------------------------------------------------------

TEST_F(ApiDeviceLive, ChunksAreTheSameHoweverManyAtATime) {
  Pulled pulled{short_};
  const lapilli_sample_source source = pulled.source();
  const std::vector<lapilli_input> inputs{input_of(long_), lapilli_pulled_samples(&source, 16000)};
  AllOptions options = speech_options();
  const std::string windows = transcribed({inputs[0]}, options);
  options.of_speech.chunks = 1;
  const std::string one = transcribed(inputs, options, 0), other = transcribed(inputs, options, 1);
  options.of_speech.chunks = 8;
  EXPECT_EQ(transcribed(inputs, options, 0), one);
  EXPECT_EQ(transcribed(inputs, options, 1), other);
  EXPECT_EQ(transcribed({inputs[1]}, options), other);
  EXPECT_NE(one, windows);
  EXPECT_GT(std::count(one.begin(), one.end(), '\n'), 8);
  EXPECT_FALSE(other.empty());
  // The language is found once, in the first window.
  options.source_language = nullptr;
  EXPECT_FALSE(transcribed({inputs[1]}, options).empty());
}

TEST_F(ApiDeviceLive, ChunksThatAreRefused) {
  AllOptions options = speech_options();
  options.of_speech.chunks = 4;
  EXPECT_THAT(refused({lapilli_sample_stream(16000)}, options), HasSubstr("input 0 continues"));
  options.of_speech.condition_on_previous = 1;
  EXPECT_THAT(refused({input_of(long_)}, options), HasSubstr("chunks do not go on from what was written before them"));
  options = speech_options("Klingon");
  options.of_speech.chunks = 4;
  EXPECT_THAT(refused({input_of(long_)}, options), HasSubstr("Klingon"));
}

// Cancelled while it is measured, and while it is transcribed.
TEST_F(ApiDeviceLive, ChunksEndAtAnyTime) {
  AllOptions options = speech_options();
  options.of_speech.chunks = 2;
  for (const int pumps : {0, 1, 3, 1000}) {
    const JobHandle job = start({input_of(short_), input_of(second_)}, options);
    int32_t finished = 0;
    Events events(2);
    for (int i = 0; i < pumps && !finished && events.segments[0].empty(); events.read(job.get()), ++i)
      ASSERT_EQ(lapilli_job_wait(job.get(), pumps > 3 ? 10'000 : 0, &finished), LAPILLI_OK);
    EXPECT_EQ(events.segments[0].empty(), pumps <= 3);
    lapilli_job_cancel(job.get());
    EXPECT_TRUE(wait(job));
    events.read(job.get());
    EXPECT_EQ(events.ends, 1);
    EXPECT_LE(events.done, events.total);
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_job_take(job.get(), &result), LAPILLI_CANCELLED);
    lapilli_result_free(result);
  }
}

// ---- what words looked at
// ----------------------------------------------------------------------------------------------

TEST_F(ApiDeviceLive, WhatWordsLookedAtIsDrawnWithTheirSegment) {
  for (const uint32_t chunks : {0u, 4u}) {
    AllOptions options = speech_options();
    options.keep_attention = 1;
    options.of_speech.chunks = chunks;
    const JobHandle job = start({input_of(long_)}, options);
    ASSERT_TRUE(wait(job));
    const uint8_t* file = nullptr;
    size_t bytes = 0, drawn = 0;
    EXPECT_EQ(lapilli_job_draw_attention(job.get(), nullptr, &file, &bytes), LAPILLI_INVALID_ARGUMENT) << "before any";
    for (lapilli_event e = next(job, LAPILLI_EVENT_SEGMENT); e.kind != 0; e = next(job, LAPILLI_EVENT_SEGMENT)) {
      const lapilli_status status = lapilli_job_draw_attention(job.get(), nullptr, &file, &bytes);
      if (e.of.segment.words == 0) {
        EXPECT_EQ(status, LAPILLI_INVALID_DATA);
        continue;
      }
      ASSERT_EQ(status, LAPILLI_OK) << lapilli_last_error();
      const std::string svg(reinterpret_cast<const char*>(file), bytes);
      size_t looks = 0;
      for (size_t at = 0; (at = svg.find("<use ", at)) != svg.npos; ++at) ++looks;
      EXPECT_EQ(looks, e.of.segment.words);
      lapilli_attention_drawing png = lapilli_default_attention_drawing();
      png.format = LAPILLI_DRAWING_PNG;
      ASSERT_EQ(lapilli_job_draw_attention(job.get(), &png, &file, &bytes), LAPILLI_OK);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(file), 4), "\x89PNG");
      ++drawn;
    }
    EXPECT_GT(drawn, 3u);
    EXPECT_EQ(lapilli_job_draw_attention(job.get(), nullptr, &file, &bytes), LAPILLI_INVALID_ARGUMENT);
    EXPECT_THAT(lapilli_last_error(), HasSubstr("is no LAPILLI_EVENT_SEGMENT"));
  }
}

TEST_F(ApiDeviceLive, LooksThatAreNotThere) {
  const JobHandle job = start({input_of(long_)}, speech_options());
  ASSERT_TRUE(wait(job));
  ASSERT_EQ(next(job, LAPILLI_EVENT_SEGMENT).kind, LAPILLI_EVENT_SEGMENT);
  const uint8_t* file = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(lapilli_job_draw_attention(job.get(), nullptr, &file, &bytes), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("set lapilli_options.keep_attention"));
  lapilli_attention_drawing layer = lapilli_default_attention_drawing();
  layer.layer = 0;
  EXPECT_EQ(lapilli_job_draw_attention(job.get(), &layer, &file, &bytes), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("lapilli_attention_drawing.layer and head"));
  EXPECT_EQ(lapilli_job_draw_attention(nullptr, nullptr, &file, &bytes), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_draw_attention(job.get(), nullptr, nullptr, &bytes), LAPILLI_INVALID_ARGUMENT);
  AllOptions options = speech_options();
  options.keep_attention = 1;
  const lapilli_input input = input_of(long_);
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_generate(whisper_.get(), &input, 1, &options, &result), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("only a job draws the attention of recordings"));
}

}  // namespace
}  // namespace lapilli::test
