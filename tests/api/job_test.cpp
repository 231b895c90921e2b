// Jobs and loading in steps through the C interface: events, cancelling and freeing at any time, several at once, and
// arguments that are wrong. Device tests use the bundled model.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/handles_that_free.hpp"
#include "api/last_error.hpp"
#include "lapilli/lapilli.h"

namespace {

using lapilli::test::JobHandle, lapilli::test::ResultHandle, lapilli::test::says;

constexpr const char* kModelPath = LAPILLI_SOURCE_DIR "/models/en-fr";
constexpr const char* kTexts[] = {"Where is the station?", "\xff", "Good morning. What time is it? Thank you.",
                                  "I would like a cup of coffee, please."};
constexpr size_t kCount = 4;

std::vector<lapilli_input> inputs_of(const std::vector<std::string>& texts) {
  std::vector<lapilli_input> inputs;
  for (const auto& text : texts) inputs.push_back(lapilli_text_of(text.data(), text.size()));
  return inputs;
}

const std::vector<std::string> kAll(kTexts, kTexts + kCount);

lapilli_options options_of() {
  lapilli_options options = lapilli_default_options();
  options.task = "translate";
  options.deterministic = 1;
  return options;
}

std::string text_of(const lapilli_result* result, size_t input) {
  lapilli_sequence best{};
  best.struct_size = sizeof best;
  const lapilli_status status = lapilli_result_get(result, input, 0, &best);
  return status == LAPILLI_OK ? std::string(best.text, best.text_bytes) : lapilli_status_name(status);
}

std::vector<int32_t> ids_of(const lapilli_result* result, size_t input) {
  lapilli_sequence best{};
  best.struct_size = sizeof best;
  if (lapilli_result_get(result, input, 0, &best) != LAPILLI_OK) return {};
  return {best.ids.ids, best.ids.ids + best.ids.count};
}

// Collects what the events of a job say.
struct Events {
  std::vector<std::string> texts = std::vector<std::string>(kCount);
  std::vector<std::vector<int32_t>> ids = std::vector<std::vector<int32_t>>(kCount);
  std::vector<lapilli_status> inputs = std::vector<lapilli_status>(kCount, -1);
  uint64_t done = 0, total = 0, tokens = 0;
  lapilli_status error = LAPILLI_OK, end = -1;
  int ends = 0, behind_the_end = 0;
};

void read_event(const lapilli_event& event, Events& events) {
  if (events.ends > 0) ++events.behind_the_end;
  switch (event.kind) {
    case LAPILLI_EVENT_TEXT: {
      const lapilli_event_text& text = event.of.text;
      EXPECT_EQ(text.text[text.text_bytes], '\0');
      EXPECT_EQ(events.inputs.at(text.input), -1) << "its end was told before";
      events.texts.at(text.input).append(text.text, text.text_bytes);
      events.ids.at(text.input).insert(events.ids.at(text.input).end(), text.ids.ids, text.ids.ids + text.ids.count);
      break;
    }
    case LAPILLI_EVENT_PROGRESS:
      EXPECT_LE(event.of.progress.done, event.of.progress.total);
      events.done = event.of.progress.done;
      events.total = event.of.progress.total;
      events.tokens = event.of.progress.tokens;
      break;
    case LAPILLI_EVENT_INPUT:
      EXPECT_EQ(events.inputs.at(event.of.input.input), -1) << "told twice";
      EXPECT_EQ(event.of.input.status == LAPILLI_OK, event.of.input.message[0] == '\0');
      events.inputs.at(event.of.input.input) = event.of.input.status;
      break;
    case LAPILLI_EVENT_ERROR: events.error = event.of.error.status; break;
    case LAPILLI_EVENT_END:
      ++events.ends;
      events.end = event.of.end.status;
      break;
    default: ADD_FAILURE() << event.kind;
  }
}

void read_events(lapilli_job* job, Events& events) {
  lapilli_event event{};
  event.struct_size = sizeof event;
  int32_t has = 0;
  while (lapilli_job_next_event(job, &event, &has) == LAPILLI_OK && has) read_event(event, events);
}

class ApiDeviceJobs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(lapilli_device_open(nullptr, &device_), LAPILLI_OK) << lapilli_last_error();
    ASSERT_EQ(lapilli_model_load(device_, kModelPath, &model_), LAPILLI_OK) << lapilli_last_error();
    const auto inputs = inputs_of(kAll);
    const lapilli_options options = options_of();
    lapilli_result* made = nullptr;
    ASSERT_EQ(lapilli_generate(model_, inputs.data(), kCount, &options, &made), LAPILLI_OK) << lapilli_last_error();
    want_.reset(made);
  }
  static void TearDownTestSuite() {
    want_.reset();
    lapilli_model_free(model_);
    lapilli_device_close(device_);
    model_ = nullptr;
  }
  // The texts' memory is gone when it returns.
  static JobHandle start(const std::vector<std::string>& texts = kAll) {
    auto copies = std::make_unique<std::vector<std::string>>(texts);
    std::string task = "translate";
    lapilli_options options = options_of();
    options.task = task.c_str();
    const auto inputs = inputs_of(*copies);
    lapilli_job* job = nullptr;
    EXPECT_EQ(lapilli_job_start(model_, inputs.data(), inputs.size(), &options, &job), LAPILLI_OK)
        << lapilli_last_error();
    for (auto& text : *copies) text.assign(text.size(), '#');
    task.assign(task.size(), '#');
    return JobHandle(job);
  }
  static ResultHandle take(const JobHandle& job, lapilli_status want = LAPILLI_OK) {
    lapilli_result* made = nullptr;
    EXPECT_EQ(lapilli_job_take(job.get(), &made), want) << lapilli_last_error();
    return ResultHandle(made);
  }
  static void expect_wanted(const lapilli_result* result) {
    for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(text_of(result, i), text_of(want_.get(), i)) << i;
  }
  static void pump(const JobHandle& job) {
    for (int32_t finished = 0; !finished;) {
      ASSERT_EQ(lapilli_job_pump(job.get(), 100, &finished), LAPILLI_OK) << lapilli_last_error();
    }
  }

  static lapilli_device* device_;
  static lapilli_model* model_;
  static ResultHandle want_;
};
lapilli_device* ApiDeviceJobs::device_ = nullptr;
lapilli_model* ApiDeviceJobs::model_ = nullptr;
ResultHandle ApiDeviceJobs::want_;

TEST_F(ApiDeviceJobs, EventsJoinedAreTheResult) {
  const JobHandle job = start();
  Events events;
  for (int32_t finished = 0; !finished; read_events(job.get(), events)) {
    ASSERT_EQ(lapilli_job_pump(job.get(), 1000, &finished), LAPILLI_OK);
  }
  EXPECT_EQ(events.ends, 1);
  EXPECT_EQ(events.behind_the_end, 0);
  EXPECT_EQ(events.end, LAPILLI_OK);
  EXPECT_EQ(events.done, events.total);
  EXPECT_EQ(events.total, 6u);  // the third is three sentences
  const ResultHandle result = take(job);
  expect_wanted(result.get());
  size_t tokens = 0;
  for (size_t i = 0; i < kCount; ++i) {
    const bool wrong = i == 1;  // no UTF-8
    EXPECT_EQ(events.inputs[i], wrong ? LAPILLI_INVALID_ARGUMENT : LAPILLI_OK);
    EXPECT_EQ(events.texts[i], wrong ? "" : text_of(result.get(), i));
    EXPECT_EQ(events.ids[i], ids_of(result.get(), i));
    tokens += events.ids[i].size();
  }
  EXPECT_EQ(events.tokens, tokens);
  lapilli_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(lapilli_result_get_stats(result.get(), &stats), LAPILLI_OK);
  EXPECT_EQ(stats.generated_tokens, tokens);
  lapilli_result* twice = nullptr;
  EXPECT_EQ(lapilli_job_take(job.get(), &twice), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("already")) << lapilli_last_error();
}

// Nobody asks for events before the end: they are few, and nothing is lost.
TEST_F(ApiDeviceJobs, EventsWaitForWhoAsksLate) {
  const JobHandle job = start();
  int32_t finished = 0;
  ASSERT_EQ(lapilli_job_wait(job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  EXPECT_EQ(finished, 1);
  const ResultHandle result = take(job);
  Events events;
  read_events(job.get(), events);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(events.ids[i], ids_of(result.get(), i));
  EXPECT_EQ(events.ends, 1);
}

TEST_F(ApiDeviceJobs, WaitsEndByTime) {
  const JobHandle job = start();
  int32_t finished = 1;
  ASSERT_EQ(lapilli_job_wait(job.get(), 0, &finished), LAPILLI_OK);
  EXPECT_EQ(finished, 0) << "one call cannot do all";
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_job_take(job.get(), &result), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(result, nullptr);
  while (!finished) ASSERT_EQ(lapilli_job_wait(job.get(), 2000, &finished), LAPILLI_OK);
  expect_wanted(take(job).get());
}

TEST_F(ApiDeviceJobs, CancelledOrFreedAtAnyTime) {
  for (const int pumps : {0, 1, 2, 3, 4, 6, 9, 14}) {
    JobHandle job = start();
    int32_t finished = 0;
    for (int i = 0; i < pumps; ++i) ASSERT_EQ(lapilli_job_pump(job.get(), 1, &finished), LAPILLI_OK);
    if (pumps % 2 == 0) continue;  // freed
    lapilli_job_cancel(job.get());
    const bool had_ended = finished != 0;
    pump(job);
    const ResultHandle result = take(job, had_ended ? LAPILLI_OK : LAPILLI_CANCELLED);
    ASSERT_NE(result, nullptr);
    Events events;
    read_events(job.get(), events);
    EXPECT_EQ(events.end, had_ended ? LAPILLI_OK : LAPILLI_CANCELLED);
    EXPECT_EQ(events.error, events.end);
    for (size_t i = 0; i < kCount; ++i) {
      EXPECT_NE(events.inputs[i], -1) << i;
      if (events.inputs[i] != LAPILLI_OK) continue;
      EXPECT_EQ(text_of(result.get(), i), text_of(want_.get(), i));
    }
  }
  const JobHandle job = start();
  pump(job);
  expect_wanted(take(job).get());
}

TEST_F(ApiDeviceJobs, EndedByTokensAndByTheModel) {
  lapilli_cancel_token* token = nullptr;
  ASSERT_EQ(lapilli_cancel_token_create(&token), LAPILLI_OK);
  lapilli_options options = options_of();
  options.cancel_token = token;
  const auto inputs = inputs_of(kAll);
  lapilli_job *by_token = nullptr, *by_model = nullptr;
  ASSERT_EQ(lapilli_job_start(model_, inputs.data(), kCount, &options, &by_token), LAPILLI_OK);
  options.cancel_token = nullptr;
  ASSERT_EQ(lapilli_job_start(model_, inputs.data(), kCount, &options, &by_model), LAPILLI_OK);
  lapilli_cancel_token_cancel(token);
  const JobHandle first(by_token), second(by_model);
  pump(first);
  take(first, LAPILLI_CANCELLED);
  lapilli_cancel(model_);
  pump(second);
  take(second, LAPILLI_CANCELLED);
  lapilli_cancel_token_free(token);
}

TEST_F(ApiDeviceJobs, TwoInTurnAreEachAsAlone) {
  const JobHandle a = start(), b = start();
  for (int32_t first = 0, second = 0; !first || !second;) {
    ASSERT_EQ(lapilli_job_pump(a.get(), 500, &first), LAPILLI_OK);
    ASSERT_EQ(lapilli_job_pump(b.get(), 500, &second), LAPILLI_OK);
  }
  expect_wanted(take(a).get());
  expect_wanted(take(b).get());
}

TEST_F(ApiDeviceJobs, ThreeThreadsAndACancelOfAFourth) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([t] {
      const JobHandle job = start();
      int32_t finished = 0;
      while (!finished) ASSERT_EQ(lapilli_job_wait(job.get(), t == 0 ? LAPILLI_UNLIMITED : 700, &finished), LAPILLI_OK);
      expect_wanted(take(job).get());
    });
  const JobHandle cancelled = start(std::vector<std::string>(kCount, kTexts[2]));
  std::thread other([&] { lapilli_job_cancel(cancelled.get()); });
  pump(cancelled);
  other.join();
  lapilli_result* result = nullptr;
  (void)lapilli_job_take(cancelled.get(), &result);  // it may have ended before
  lapilli_result_free(result);
  for (auto& thread : threads) thread.join();
}

TEST_F(ApiDeviceJobs, OutliveTheModelsHandle) {
  lapilli_model* model = nullptr;
  ASSERT_EQ(lapilli_model_load(device_, kModelPath, &model), LAPILLI_OK) << lapilli_last_error();
  const lapilli_input input = lapilli_text(kTexts[0]);
  lapilli_job* made = nullptr;
  ASSERT_EQ(lapilli_job_start(model, &input, 1, nullptr, &made), LAPILLI_OK);
  lapilli_model_free(model);
  const JobHandle job(made);
  pump(job);
  EXPECT_EQ(text_of(take(job).get(), 0), "Où est la gare ?");
}

TEST_F(ApiDeviceJobs, PreparedAsACallAndAsAJob) {
  lapilli_options options = options_of();
  lapilli_shape shape = lapilli_default_shape();
  shape.inputs = 2;
  shape.source_tokens = 32;
  shape.target_tokens = 40;
  shape.options = &options;
  ASSERT_EQ(lapilli_model_prepare(model_, &shape), LAPILLI_OK) << lapilli_last_error();
  ASSERT_EQ(lapilli_model_prepare(model_, nullptr), LAPILLI_OK) << lapilli_last_error();
  lapilli_job* made = nullptr;
  ASSERT_EQ(lapilli_job_prepare(model_, &shape, &made), LAPILLI_OK) << lapilli_last_error();
  const JobHandle preparation(made);
  pump(preparation);
  Events events;
  read_events(preparation.get(), events);
  EXPECT_EQ(events.end, LAPILLI_OK);
  take(preparation);
  const JobHandle job = start();
  pump(job);
  expect_wanted(take(job).get());
}

TEST_F(ApiDeviceJobs, WrongArguments) {
  const lapilli_input input = lapilli_text(kTexts[0]);
  lapilli_job* job = nullptr;
  EXPECT_EQ(lapilli_job_start(nullptr, &input, 1, nullptr, &job), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_start(model_, nullptr, 1, nullptr, &job), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_start(model_, &input, 1, nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  lapilli_options options = lapilli_default_options();
  options.stream = [](void*, const lapilli_stream_event*) -> int32_t { return 0; };
  EXPECT_EQ(lapilli_job_start(model_, &input, 1, &options, &job), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("stream") && says("events")) << lapilli_last_error();
  options = lapilli_default_options();
  options.progress = [](void*, uint64_t, uint64_t) -> int32_t { return 0; };
  EXPECT_EQ(lapilli_job_start(model_, &input, 1, &options, &job), LAPILLI_INVALID_ARGUMENT);
  options.progress = nullptr;
  options.num_beams = 0;
  EXPECT_EQ(lapilli_job_start(model_, &input, 1, &options, &job), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(job, nullptr);
  lapilli_shape shape = lapilli_default_shape();
  shape.struct_size = 2;
  EXPECT_EQ(lapilli_model_prepare(model_, &shape), LAPILLI_INVALID_ARGUMENT);
  shape = lapilli_default_shape();
  shape.source_tokens = 5000;  // the model has positions for 256
  EXPECT_EQ(lapilli_job_prepare(model_, &shape, &job), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("256")) << lapilli_last_error();
  const JobHandle good = start();
  lapilli_event event{};
  int32_t has = 0;
  EXPECT_EQ(lapilli_job_next_event(good.get(), &event, &has), LAPILLI_INVALID_ARGUMENT) << "no struct_size";
  event.struct_size = sizeof event;
  EXPECT_EQ(lapilli_job_next_event(good.get(), &event, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_next_event(good.get(), nullptr, &has), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_take(good.get(), nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_pump(good.get(), 0, nullptr), LAPILLI_OK);
}

// A job of nothing ends at once.
TEST_F(ApiDeviceJobs, NothingToDo) {
  lapilli_job* made = nullptr;
  ASSERT_EQ(lapilli_job_start(model_, nullptr, 0, nullptr, &made), LAPILLI_OK) << lapilli_last_error();
  const JobHandle job(made);
  pump(job);
  Events events;
  read_events(job.get(), events);
  EXPECT_EQ(events.ends, 1);
  EXPECT_NE(take(job), nullptr);
}

TEST(ApiJobs, NullPointers) {
  lapilli_event event{};
  event.struct_size = sizeof event;
  int32_t number = 1;
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_job_pump(nullptr, 0, &number), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(number, 0);
  EXPECT_EQ(lapilli_job_wait(nullptr, 0, &number), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_next_event(nullptr, &event, &number), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_take(nullptr, &result), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_job_prepare(nullptr, nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_prepare(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  lapilli_job_cancel(nullptr);
  lapilli_job_free(nullptr);
  uint64_t done = 1, all = 1;
  lapilli_load* load = nullptr;
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_load_start(nullptr, nullptr, nullptr, &load), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_load_pump(nullptr, 0, &number), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_load_wait(nullptr, 0, &number), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_load_progress(nullptr, &done, &all), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_load_take(nullptr, &model), LAPILLI_INVALID_ARGUMENT);
  lapilli_load_cancel(nullptr);
  lapilli_load_free(nullptr);
}

// ---- loading ------------------------------------------------------------------------------------------------------

using Load = std::unique_ptr<lapilli_load, void (*)(lapilli_load*)>;

TEST_F(ApiDeviceJobs, ModelsLoadInSteps) {
  lapilli_load* started = nullptr;
  ASSERT_EQ(lapilli_load_start(device_, kModelPath, nullptr, &started), LAPILLI_OK) << lapilli_last_error();
  const Load load(started, &lapilli_load_free);
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_load_take(load.get(), &model), LAPILLI_INVALID_ARGUMENT) << "it has not ended";
  uint64_t done = 0, all = 0, before = 0;
  for (int32_t finished = 0; !finished; before = done) {
    ASSERT_EQ(lapilli_load_pump(load.get(), 200, &finished), LAPILLI_OK);
    ASSERT_EQ(lapilli_load_progress(load.get(), &done, &all), LAPILLI_OK);
    EXPECT_TRUE(before <= done && done <= all);
  }
  EXPECT_GT(all, 1000000u);
  EXPECT_EQ(done, all);
  EXPECT_EQ(lapilli_load_take(load.get(), nullptr), LAPILLI_INVALID_ARGUMENT);
  ASSERT_EQ(lapilli_load_take(load.get(), &model), LAPILLI_OK) << lapilli_last_error();
  lapilli_model* again = nullptr;
  EXPECT_EQ(lapilli_load_take(load.get(), &again), LAPILLI_INVALID_ARGUMENT);
  const lapilli_input input = lapilli_text(kTexts[0]);
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_generate(model, &input, 1, nullptr, &result), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(text_of(result, 0), "Où est la gare ?");
  lapilli_result_free(result);
  lapilli_model_free(model);
}

TEST_F(ApiDeviceJobs, LoadingIsWaitedFor) {
  for (const uint64_t timeout_us : {uint64_t{0}, uint64_t{3000}, LAPILLI_UNLIMITED}) {
    lapilli_load* started = nullptr;
    ASSERT_EQ(lapilli_load_start(device_, kModelPath, nullptr, &started), LAPILLI_OK) << lapilli_last_error();
    const Load load(started, &lapilli_load_free);
    int32_t finished = 0, waits = 0;
    for (; !finished; ++waits) ASSERT_EQ(lapilli_load_wait(load.get(), timeout_us, &finished), LAPILLI_OK);
    if (timeout_us == 0) {
      EXPECT_GT(waits, 1) << "one step cannot load a model";
    } else if (timeout_us == LAPILLI_UNLIMITED) {
      EXPECT_EQ(waits, 1);
    }
    EXPECT_EQ(lapilli_load_wait(load.get(), 0, &finished), LAPILLI_OK);
    EXPECT_EQ(finished, 1) << "it stays so";
    lapilli_model* model = nullptr;
    EXPECT_EQ(lapilli_load_take(load.get(), &model), LAPILLI_OK) << lapilli_last_error();
    lapilli_model_free(model);
  }
}

TEST_F(ApiDeviceJobs, LoadingIsCancelledAndFreedInTheMiddle) {
  for (const int pumps : {0, 3, 40}) {
    lapilli_load *dropped = nullptr, *cancelled = nullptr;
    ASSERT_EQ(lapilli_load_start(device_, kModelPath, nullptr, &dropped), LAPILLI_OK);
    ASSERT_EQ(lapilli_load_start(device_, kModelPath, nullptr, &cancelled), LAPILLI_OK);
    int32_t finished = 0;
    for (int i = 0; i < pumps; ++i) {
      ASSERT_EQ(lapilli_load_pump(dropped, 0, &finished), LAPILLI_OK);
      ASSERT_EQ(lapilli_load_pump(cancelled, 0, &finished), LAPILLI_OK);
      ASSERT_EQ(finished, 0);
    }
    lapilli_load_free(dropped);
    std::thread([&] { lapilli_load_cancel(cancelled); }).join();
    ASSERT_EQ(lapilli_load_pump(cancelled, 0, &finished), LAPILLI_OK);
    EXPECT_EQ(finished, 1);
    lapilli_model* model = nullptr;
    EXPECT_EQ(lapilli_load_take(cancelled, &model), LAPILLI_CANCELLED);
    EXPECT_EQ(model, nullptr);
    lapilli_load_free(cancelled);
  }
  lapilli_load* nowhere = nullptr;
  ASSERT_EQ(lapilli_load_start(device_, "/nonexistent", nullptr, &nowhere), LAPILLI_OK);
  int32_t finished = 0;
  EXPECT_EQ(lapilli_load_pump(nowhere, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  EXPECT_EQ(finished, 1);
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_load_take(nowhere, &model), LAPILLI_NOT_FOUND);
  EXPECT_TRUE(says("/nonexistent")) << lapilli_last_error();
  lapilli_load_free(nowhere);
}

}  // namespace
