// Devices that are lost, through the C interface: one of our own is made anew and the same text comes out, whatever was
// submitted last; one of the host's is asked for, and a job goes on there. Through the counting table, which also shows
// that nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/handles.hpp"
#include "api/handles_that_free.hpp"
#include "support/counting_vulkan.hpp"
#include "support/host_device.hpp"
#include "support/temp_directory.hpp"

namespace {

using namespace lapilli;
using test::DeviceHandle, test::Freed, test::JobHandle, test::ModelHandle, test::ResultHandle;
using testing::HasSubstr;

const char* const kMarianTwin = LAPILLI_SOURCE_DIR "/tests/data/models/marian/model";
const char* const kBundledModel = LAPILLI_SOURCE_DIR "/models/en-fr";

enum class Whose { own, host };

vulkan::DeviceOptions device_options(const char* mask = "") {
  vulkan::DeviceOptions options;
  options.mask = mask;
  options.max_submit_us = 1'000'000'000;  // what is counted does not depend on how busy the machine is
  options.get_instance_proc_addr = counting::get_instance_proc_addr();
  return options;
}

// As lapilli_device_open makes one, but through the counting table.
Result<DeviceHandle> open_device(const char* mask = "") {
  LAPILLI_TRY(auto made, vulkan::Device::create(device_options(mask)));
  DeviceHandle handle(new lapilli_device);
  handle->place = std::make_shared<api::ReplaceableDevice>(std::move(made), device_options(mask));
  return handle;
}

// A host with its device, and that as lapilli_device_adopt takes it over.
struct Adopted {
  std::unique_ptr<counting::HostDevice> host;
  DeviceHandle device;
};
Adopted adopt_device() {
  Adopted a;
  counting::HostOptions options;
  options.get_instance_proc_addr = counting::get_instance_proc_addr();
  a.host = counting::HostDevice::create(options);
  if (!a.host) return a;
  auto made = vulkan::Device::adopt(a.host->handles(), device_options());
  EXPECT_TRUE(made.ok()) << made.error().message;
  if (!made) return a;
  a.device.reset(new lapilli_device);
  a.device->place = std::make_shared<api::ReplaceableDevice>(std::move(*made), std::nullopt);
  return a;
}

lapilli_options options_of(int32_t beams) {
  lapilli_options options = lapilli_default_options();
  options.num_beams = beams;
  options.max_new_tokens = options.min_new_tokens = 12;
  options.deterministic = 1;
  options.steps_in_flight = 2;
  return options;
}

const std::vector<std::vector<int32_t>> kSources = {
    {5, 9, 33, 77, 12, 0}, {8, 200, 31, 0}, {90, 91, 92, 93, 94, 95, 0}};

std::vector<lapilli_input> inputs_of(const std::vector<std::vector<int32_t>>& sources) {
  std::vector<lapilli_input> inputs;
  for (const auto& source : sources) inputs.push_back(lapilli_tokens(source.data(), source.size()));
  return inputs;
}

// Ids and scores of all inputs.
std::string said(const lapilli_result* result, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    lapilli_sequence best{};
    best.struct_size = sizeof best;
    if (lapilli_result_get(result, i, 0, &best) != LAPILLI_OK) return lapilli_last_error();
    for (size_t k = 0; k < best.ids.count; ++k) all += std::to_string(best.ids.ids[k]) + " ";
    all += format("| %.17g\n", static_cast<double>(best.score));
  }
  return all;
}

// Collects what the events of a job say.
struct SaidEvents {
  std::map<uint64_t, std::vector<int32_t>> ids;
  std::map<uint64_t, std::string> texts;
  std::map<uint64_t, int> inputs;
  int errors = 0, ends = 0;
  std::string message;

  void read(lapilli_job* job) {
    lapilli_event event{};
    event.struct_size = sizeof event;
    int32_t has = 1;
    while (lapilli_job_next_event(job, &event, &has) == LAPILLI_OK && has) add(event);
  }
  void add(const lapilli_event& event) {
    if (event.kind == LAPILLI_EVENT_TEXT) {
      const lapilli_ids& from = event.of.text.ids;
      ids[event.of.text.input].insert(ids[event.of.text.input].end(), from.ids, from.ids + from.count);
      texts[event.of.text.input].append(event.of.text.text, event.of.text.text_bytes);
    } else if (event.kind == LAPILLI_EVENT_INPUT) {
      ++inputs[event.of.input.input];
    } else if (event.kind == LAPILLI_EVENT_ERROR) {
      ++errors;
      message = event.of.error.message;
    } else if (event.kind == LAPILLI_EVENT_END) {
      ++ends;
    }
  }
  // That each input's events are its result, and that it ended once.
  void expect_is(const lapilli_result* result, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      lapilli_sequence best{};
      best.struct_size = sizeof best;
      ASSERT_EQ(lapilli_result_get(result, i, 0, &best), LAPILLI_OK) << lapilli_last_error();
      EXPECT_EQ(ids.at(i), std::vector<int32_t>(best.ids.ids, best.ids.ids + best.ids.count));
      EXPECT_EQ(texts.at(i), std::string(best.text, best.text_bytes));
      EXPECT_EQ(inputs.at(i), 1);
    }
  }
};

// The end of one attempt.
struct Outcome {
  lapilli_status status = LAPILLI_OK;
  std::string message, said;
};

Outcome failed(lapilli_status status) { return {status, lapilli_last_error(), ""}; }

// From opening the device to its end, with events.
Outcome attempt(int32_t beams, const char* mask = "") {
  auto device = open_device(mask);
  if (!device) return {static_cast<lapilli_status>(device.error().code), device.error().message, ""};
  lapilli_model* loaded = nullptr;
  if (const auto s = lapilli_model_load(device->get(), kMarianTwin, &loaded); s != LAPILLI_OK) return failed(s);
  const ModelHandle model(loaded);
  const lapilli_options options = options_of(beams);
  lapilli_shape shape = lapilli_default_shape();
  shape.options = &options;
  shape.inputs = 2;
  shape.source_tokens = shape.target_tokens = 8;
  if (const auto s = lapilli_model_prepare(loaded, &shape); s != LAPILLI_OK) return failed(s);
  const auto inputs = inputs_of(kSources);
  lapilli_job* started = nullptr;
  if (const auto s = lapilli_job_start(loaded, inputs.data(), inputs.size(), &options, &started); s != LAPILLI_OK)
    return failed(s);
  const JobHandle job(started);
  SaidEvents events;
  for (int32_t finished = 0; !finished;) {
    if (const auto s = lapilli_job_wait(started, LAPILLI_UNLIMITED, &finished); s != LAPILLI_OK) return failed(s);
    events.read(started);
  }
  lapilli_result* taken = nullptr;
  const auto status = lapilli_job_take(started, &taken);
  const ResultHandle result(taken);
  EXPECT_EQ(events.ends, 1);
  EXPECT_EQ(events.errors, status == LAPILLI_OK ? 0 : 1);
  if (status != LAPILLI_OK) return failed(status);
  events.expect_is(taken, inputs.size());
  return {status, "", said(taken, inputs.size())};
}

std::string alive() {
  std::string s;
  for (const auto& [kind, n] : counting::living()) s += kind + " " + std::to_string(n) + " ";
  return s;
}

class ApiLossDevice : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    ASSERT_NE(counting::get_instance_proc_addr(), nullptr) << "no Vulkan loader";
    lapilli_set_log(LAPILLI_LOG_ERROR, nullptr, nullptr);  // each loss is a warning
  }
  void TearDown() override {
    lapilli_set_log(LAPILLI_LOG_NOTE, nullptr, nullptr);
    counting::reset();
  }
};

// Lost at each submission in turn, over load, preparation, encoding, decoding and end.
void lose_at_each(int32_t beams, uint64_t stride) {
  const Outcome want = attempt(beams);
  ASSERT_EQ(want.status, LAPILLI_OK) << want.message;
  std::map<std::string, int> outcomes;
  for (uint64_t nth = 1;; nth += stride) {
    ASSERT_LT(nth, 5000u);
    counting::reset();
    counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST, nth);
    const Outcome got = attempt(beams);
    ASSERT_EQ(alive(), "") << "after submission " << nth;
    ASSERT_EQ(got.status, LAPILLI_OK) << "submission " << nth << ": " << got.message;
    ASSERT_EQ(got.said, want.said) << "submission " << nth;
    if (!counting::failed()) break;
    ++outcomes["lost, and the same text"];
  }
  EXPECT_GT(outcomes["lost, and the same text"], 5);
  for (const auto& [what, times] : outcomes) std::printf("%d beams: %s: %d\n", beams, what.c_str(), times);
}

TEST_F(ApiLossDevice, TheSameTextAfterALossAtAnySubmission) { lose_at_each(1, 1); }
TEST_F(ApiLossDevice, TheSameTextWithBeamsAfterALossAtAnySubmission) { lose_at_each(3, 3); }

// Every stride-th call of a kind fails once, with each of the results: the same text, or an error of that kind, and
// nothing is left.
struct Kind {
  const char* name;
  uint64_t stride;
  std::vector<VkResult> results;
  const char* mask = "";
};

class ApiLossDeviceAnyCall : public ApiLossDevice, public testing::WithParamInterface<Kind> {};

TEST_P(ApiLossDeviceAnyCall, FailsOnce) {
  const Outcome want = attempt(1, GetParam().mask);
  ASSERT_EQ(want.status, LAPILLI_OK) << want.message;
  std::map<std::string, int> outcomes;
  for (const VkResult result : GetParam().results) {
    for (uint64_t nth = 1;; nth += GetParam().stride) {
      ASSERT_LT(nth, 5000u);
      counting::reset();
      counting::fail(GetParam().name, result, nth);
      const Outcome got = attempt(1, GetParam().mask);
      ASSERT_EQ(alive(), "") << GetParam().name << " " << nth;
      if (!counting::failed()) break;
      ++outcomes[std::string(vulkan::result_name(result)) + ": " + lapilli_status_name(got.status)];
      if (got.status == LAPILLI_OK) {
        ASSERT_EQ(got.said, want.said) << GetParam().name << " " << nth;
        continue;
      }
      ASSERT_NE(got.message, "");
      ASSERT_EQ(got.status, static_cast<lapilli_status>(vulkan::error_code(result))) << got.message;
    }
  }
  EXPECT_FALSE(outcomes.empty());
  for (const auto& [what, times] : outcomes) std::printf("%s, %s: %d\n", GetParam().name, what.c_str(), times);
}

INSTANTIATE_TEST_SUITE_P(
    Calls, ApiLossDeviceAnyCall,
    testing::Values(Kind{"vkAllocateMemory", 1, {VK_ERROR_OUT_OF_DEVICE_MEMORY}},
                    Kind{"vkMapMemory", 1, {VK_ERROR_OUT_OF_HOST_MEMORY}},
                    Kind{"vkCreateBuffer", 9, {VK_ERROR_OUT_OF_HOST_MEMORY}},
                    Kind{"vkQueueSubmit", 3, {VK_ERROR_OUT_OF_HOST_MEMORY}},
                    Kind{"vkWaitSemaphores", 3, {VK_ERROR_DEVICE_LOST}},
                    Kind{"vkCreateFence", 5, {VK_ERROR_OUT_OF_HOST_MEMORY}, "no-timeline"},
                    Kind{"vkGetFenceStatus", 9, {VK_ERROR_DEVICE_LOST}, "no-timeline"},
                    Kind{"vkWaitForFences", 5, {VK_ERROR_DEVICE_LOST}, "no-timeline"},
                    Kind{"vkGetSemaphoreCounterValue", 7, {VK_ERROR_DEVICE_LOST}},
                    Kind{"vkCreateComputePipelines", 1, {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST}}),
    [](const auto& tested) { return std::string(tested.param.name); });

// The nearest vectors on a device of its own: their indices and scores.
Outcome nearest_attempt() {
  auto device = open_device("");
  if (!device) return {static_cast<lapilli_status>(device.error().code), device.error().message, ""};
  std::vector<float> values(700 * 20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 101) - 50;
  const lapilli_vectors vectors = lapilli_vectors_of(values.data(), 700, 20);
  const lapilli_vectors queries = lapilli_vectors_of(values.data() + 20, 2, 20);
  size_t indices[20];
  double scores[20];
  if (const auto s = lapilli_nearest(device->get(), &vectors, &queries, nullptr, indices, scores); s != LAPILLI_OK)
    return failed(s);
  std::string all;
  for (size_t i = 0; i < 20; ++i) all += format("%u %.17g\n", indices[i], scores[i]);
  return {LAPILLI_OK, "", all};
}

TEST_F(ApiLossDevice, TheSameNeighboursAfterEachCallThatFails) {
  const Outcome want = nearest_attempt();
  ASSERT_EQ(want.status, LAPILLI_OK) << want.message;
  const std::pair<const char*, VkResult> kinds[] = {{"vkQueueSubmit", VK_ERROR_DEVICE_LOST},
                                                    {"vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY},
                                                    {"vkMapMemory", VK_ERROR_OUT_OF_HOST_MEMORY},
                                                    {"vkCreateBuffer", VK_ERROR_OUT_OF_HOST_MEMORY}};
  for (const auto& [name, result] : kinds) {
    int times = 0;
    for (uint64_t nth = 1;; nth += 1 + nth / 8) {
      ASSERT_LT(nth, 5000u);
      counting::reset();
      counting::fail(name, result, nth);
      const Outcome got = nearest_attempt();
      ASSERT_EQ(alive(), "") << name << " " << nth;
      if (!counting::failed()) break;
      ++times;
      if (got.status == LAPILLI_OK) {
        ASSERT_EQ(got.said, want.said) << name << " " << nth;
      } else {
        ASSERT_NE(result, VK_ERROR_DEVICE_LOST) << name << " " << nth << got.message;
        ASSERT_EQ(got.status, static_cast<lapilli_status>(vulkan::error_code(result))) << got.message;
      }
    }
    EXPECT_GT(times, 0) << name;
  }
}

// ---- one loss in the middle ---------------------------------------------------------------------------------------

// A device with a model, and a job that has told something of its first input and is not done.
struct Begun {
  std::unique_ptr<counting::HostDevice> host;  // or null
  DeviceHandle device;
  ModelHandle model;
  JobHandle job;
  SaidEvents events;
};

ModelHandle model_of(const DeviceHandle& device, const std::string& directory = kMarianTwin) {
  lapilli_model* loaded = nullptr;
  EXPECT_EQ(lapilli_model_load(device.get(), directory.c_str(), &loaded), LAPILLI_OK) << lapilli_last_error();
  return ModelHandle(loaded);
}

JobHandle start(const ModelHandle& model, int32_t beams) {
  const auto inputs = inputs_of(kSources);
  const lapilli_options options = options_of(beams);
  lapilli_job* job = nullptr;
  EXPECT_EQ(lapilli_job_start(model.get(), inputs.data(), inputs.size(), &options, &job), LAPILLI_OK)
      << lapilli_last_error();
  return JobHandle(job);
}

// A pump goes no further than the steps that are in flight, whatever the machine does meanwhile.
void go_on_until_told(Begun& b, size_t ids) {
  int32_t finished = 0;
  while (!finished && b.events.ids[0].size() < ids) {
    ASSERT_EQ(lapilli_job_pump(b.job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
    b.events.read(b.job.get());
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  ASSERT_FALSE(finished);
}

Begun begin(Whose whose, int32_t beams = 1) {
  Begun b;
  if (whose == Whose::host) {
    auto adopted = adopt_device();
    b.host = std::move(adopted.host);
    b.device = std::move(adopted.device);
  } else if (auto device = open_device()) {
    b.device = std::move(*device);
  }
  EXPECT_TRUE(b.device);
  if (!b.device) return b;
  b.model = model_of(b.device);
  b.job = start(b.model, beams);
  if (b.job) go_on_until_told(b, 2);
  return b;
}

void end(Begun& b) {
  int32_t finished = 0;
  ASSERT_EQ(lapilli_job_wait(b.job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
  b.events.read(b.job.get());
}

void lose_now() { counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST); }

ResultHandle take(const JobHandle& job) {
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_job_take(job.get(), &result), LAPILLI_OK) << lapilli_last_error();
  return ResultHandle(result);
}

TEST_F(ApiLossDevice, TheHostIsAskedForADeviceAndTheJobGoesOnThere) {
  for (const int32_t beams : {1, 3}) {
    const Outcome want = attempt(beams);
    Begun b = begin(Whose::host, beams);
    lose_now();
    end(b);
    ASSERT_TRUE(counting::failed());
    EXPECT_EQ(b.events.errors, 1);
    EXPECT_EQ(b.events.ends, 1);
    EXPECT_THAT(b.events.message, HasSubstr("adopt the new device"));
    lapilli_result* nothing = nullptr;
    EXPECT_EQ(lapilli_job_take(b.job.get(), &nothing), LAPILLI_DEVICE_LOST);
    b.model.reset();
    b.device.reset();
    b.host.reset();
    EXPECT_EQ(alive(), "") << "the job holds what the host must destroy";

    const Adopted other = adopt_device();
    ASSERT_TRUE(other.device);
    const ModelHandle model = model_of(other.device);
    ASSERT_EQ(lapilli_job_resume(b.job.get(), model.get()), LAPILLI_OK) << lapilli_last_error();
    end(b);
    EXPECT_EQ(b.events.ends, 2);
    const ResultHandle result = take(b.job);
    ASSERT_TRUE(result);
    b.events.expect_is(result.get(), kSources.size());
    EXPECT_EQ(said(result.get(), kSources.size()), want.said);
    b.job.reset();  // before the host's device, which it used
  }
}

// The tiny model with other numbers: bits of the fraction are flipped, so that all stay numbers of that size.
void write_other_model(const TempDirectory& directory) {
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors"}) {
    std::ifstream from(std::string(kMarianTwin) + "/" + name, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(from)), {});
    ASSERT_FALSE(bytes.empty()) << name;
    if (std::string(name) == "model.safetensors")
      for (size_t at = bytes.size() / 2 / 4 * 4; at + 2 < bytes.size(); at += 4)
        bytes[at + 2] = static_cast<char>(bytes[at + 2] ^ 0x7f);
    (void)directory.write(name, bytes);
  }
}

// Another device may compute otherwise: here it does, as it has other weights.
TEST_F(ApiLossDevice, WhatWasToldIsNotContradicted) {
  const TempDirectory other;
  write_other_model(other);
  for (const int32_t beams : {1, 3}) {
    const Outcome want = attempt(beams);
    Begun b = begin(Whose::host, beams);
    const auto before = b.events.ids[0];
    lose_now();
    end(b);
    auto device = open_device();
    ASSERT_TRUE(device.ok()) << device.error().message;
    const ModelHandle model = model_of(*device, other.path());
    ASSERT_EQ(lapilli_job_resume(b.job.get(), model.get()), LAPILLI_OK) << lapilli_last_error();
    end(b);
    const ResultHandle result = take(b.job);
    ASSERT_TRUE(result);
    b.events.expect_is(result.get(), kSources.size());
    EXPECT_NE(said(result.get(), kSources.size()), want.said) << "the other model says the same: this shows nothing";
    ASSERT_GE(before.size(), 2u);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), b.events.ids[0].begin()));
    EXPECT_EQ(b.events.ids[0].size(), 12u) << "lengths count what was told";
  }
}

TEST_F(ApiLossDevice, AJobThatLosesTwoDevicesSaysSo) {
  Begun b = begin(Whose::own);
  counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST, 1, 0);
  end(b);
  counting::fail("", VK_SUCCESS, 0);
  EXPECT_EQ(b.events.errors, 1);
  EXPECT_THAT(b.events.message, HasSubstr("lost again"));
  // The device that was opened anew never did anything: it is not opened another time.
  const auto inputs = inputs_of(kSources);
  const lapilli_options options = options_of(1);
  lapilli_result* nothing = nullptr;
  EXPECT_EQ(lapilli_generate(b.model.get(), inputs.data(), inputs.size(), &options, &nothing), LAPILLI_DEVICE_LOST);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("before it had done anything"));
  b = {};
  EXPECT_EQ(alive(), "");
}

TEST_F(ApiLossDevice, EveryModelOfTheDeviceGoesOn) {
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.error().message;
  const ModelHandle one = model_of(*device), other = model_of(*device);
  const auto inputs = inputs_of(kSources);
  const lapilli_options options = options_of(1);
  const auto ask = [&](const ModelHandle& model) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model.get(), inputs.data(), inputs.size(), &options, &result), LAPILLI_OK)
        << lapilli_last_error();
    const ResultHandle freed(result);
    return result ? said(result, inputs.size()) : "";
  };
  const std::string want = ask(one);
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(one.get(), &info), LAPILLI_OK);
  lose_now();
  EXPECT_EQ(ask(one), want);
  lapilli_shape shape = lapilli_default_shape();
  shape.options = &options;
  EXPECT_EQ(lapilli_model_prepare(other.get(), &shape), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(ask(other), want);
  EXPECT_STREQ(info.directory, kMarianTwin) << "pointers that were given out live on";
  EXPECT_EQ(one->model()->device(), other->model()->device());
  EXPECT_EQ(one->model()->device(), (*device)->device());
}

TEST_F(ApiLossDevice, OneDeviceForTheJobsOfTwoThreads) {
  const Outcome want = attempt(1);
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.error().message;
  const ModelHandle model = model_of(*device);
  const auto inputs = inputs_of(kSources);
  const lapilli_options options = options_of(1);
  counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST, 5);
  const auto work = [&](std::string& got) {
    for (int i = 0; i < 3; ++i) {
      lapilli_result* result = nullptr;
      const auto status = lapilli_generate(model.get(), inputs.data(), inputs.size(), &options, &result);
      const ResultHandle freed(result);
      got += status == LAPILLI_OK ? said(result, inputs.size()) : lapilli_last_error();
    }
  };
  std::string one, other;
  std::thread second([&] { work(other); });
  work(one);
  second.join();
  EXPECT_TRUE(counting::failed());
  EXPECT_EQ(one, want.said + want.said + want.said);
  EXPECT_EQ(other, one);
  EXPECT_EQ(model->place->held().generation, 1u) << "opened anew once for both";
}

TEST_F(ApiLossDevice, APauseHoldsOnTheNewDevice) {
  Begun b = begin(Whose::own);
  lose_now();
  int32_t finished = 0;
  while (!counting::failed()) ASSERT_EQ(lapilli_job_pump(b.job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  (void)lapilli_device_pause(b.device.get());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(lapilli_job_pump(b.job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  EXPECT_FALSE(finished);
  ASSERT_EQ(lapilli_device_resume(b.device.get()), LAPILLI_OK) << lapilli_last_error();
  end(b);
  EXPECT_TRUE(take(b.job));
}

TEST_F(ApiLossDevice, CancelledWhileTheDeviceIsMadeAnew) {
  Begun b = begin(Whose::own);
  lose_now();
  int32_t finished = 0;
  while (!counting::failed()) ASSERT_EQ(lapilli_job_pump(b.job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  lapilli_job_cancel(b.job.get());
  end(b);
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_job_take(b.job.get(), &result), LAPILLI_CANCELLED);
  EXPECT_TRUE(result);
  lapilli_result_free(result);
  b = {};
  EXPECT_EQ(alive(), "");
}

// Texts with a tokenizer, which outlives the model that was lost, and inputs of several sentences.
TEST_F(ApiLossDevice, TextsGoOnInTheMiddle) {
  const lapilli_input inputs[] = {lapilli_text("Good morning. What time is it? Where is the station?"),
                                  lapilli_text("12"), lapilli_text("I would like a cup of coffee, please.")};
  lapilli_options options = lapilli_default_options();
  options.task = "translate";
  options.deterministic = 1;
  options.num_beams = 1;
  options.batch = options.steps_in_flight = 1;
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.error().message;
  const ModelHandle model = model_of(*device, kBundledModel);
  std::string want;
  for (const bool lost : {false, true}) {
    lapilli_job* started = nullptr;
    ASSERT_EQ(lapilli_job_start(model.get(), inputs, 3, &options, &started), LAPILLI_OK) << lapilli_last_error();
    Begun b;
    b.job.reset(started);
    go_on_until_told(b, 6);
    EXPECT_FALSE(b.events.texts[0].empty());
    if (lost) lose_now();
    end(b);
    EXPECT_EQ(counting::failed(), lost);
    const ResultHandle result = take(b.job);
    ASSERT_TRUE(result);
    b.events.expect_is(result.get(), 3);
    if (lost) {
      EXPECT_EQ(said(result.get(), 3), want);
    }
    want = said(result.get(), 3);
  }
}

// The driver is gone for good, as it seems; another device takes the job.
TEST_F(ApiLossDevice, ThatCannotBeOpenedAnewSaysSo) {
  const Outcome want = attempt(1);
  Begun b = begin(Whose::own);
  lose_now();
  int32_t finished = 0;
  while (!counting::failed()) ASSERT_EQ(lapilli_job_pump(b.job.get(), LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  counting::fail("vkCreateDevice", VK_ERROR_INITIALIZATION_FAILED);
  end(b);
  EXPECT_THAT(b.events.message, AllOf(HasSubstr("could not be opened anew"), HasSubstr("open another device")));
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.error().message;
  const ModelHandle model = model_of(*device);
  ASSERT_EQ(lapilli_job_resume(b.job.get(), model.get()), LAPILLI_OK) << lapilli_last_error();
  end(b);
  const ResultHandle result = take(b.job);
  ASSERT_TRUE(result);
  EXPECT_EQ(said(result.get(), kSources.size()), want.said);
}

// Lost for good at each call in turn; then the driver is there again.
TEST_F(ApiLossDevice, ALoadThatEndedWithoutADeviceIsOver) {
  for (uint64_t nth = 1, lost = 0;; nth += 3) {
    ASSERT_LT(nth, 5000u);
    counting::reset();
    auto device = open_device();
    ASSERT_TRUE(device.ok()) << device.error().message;
    lapilli_load* loading = nullptr;
    ASSERT_EQ(lapilli_load_start(device->get(), kMarianTwin, nullptr, &loading), LAPILLI_OK) << lapilli_last_error();
    const std::unique_ptr<lapilli_load, Freed<lapilli_load, lapilli_load_free>> owned(loading);
    counting::fail("", VK_ERROR_DEVICE_LOST, nth, 0);
    int32_t finished = 0;
    EXPECT_EQ(lapilli_load_wait(loading, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
    EXPECT_EQ(finished, 1) << nth;
    if (!counting::failed()) {
      EXPECT_GT(lost, 5u);
      break;
    }
    ++lost;
    counting::fail("", VK_SUCCESS, 0);
    EXPECT_EQ(lapilli_load_wait(loading, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
    EXPECT_EQ(finished, 1) << nth;
    lapilli_model* model = nullptr;
    EXPECT_NE(lapilli_load_take(loading, &model), LAPILLI_OK) << nth;
    EXPECT_EQ(model, nullptr);
  }
}

TEST_F(ApiLossDevice, AModelWhoseFilesAreGoneSaysSo) {
  const TempDirectory directory;
  directory.copy_from(kMarianTwin);
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.error().message;
  Begun b;
  b.model = model_of(*device, directory.path());
  b.job = start(b.model, 1);
  go_on_until_told(b, 2);
  directory.remove("config.json");
  lose_now();
  end(b);
  EXPECT_THAT(b.events.message, AllOf(HasSubstr("loading the model again"), HasSubstr("config.json")));
  const ModelHandle same = model_of(*device);
  ASSERT_EQ(lapilli_job_resume(b.job.get(), same.get()), LAPILLI_OK) << lapilli_last_error();
  end(b);
  EXPECT_TRUE(take(b.job));
}

// ---- files of the host --------------------------------------------------------------------------------------------

class ApiLossDeviceFiles : public ApiLossDevice {
 protected:
  // From memory, that stays or may not.
  void run(int32_t stays, lapilli_status expected) {
    std::vector<std::string> bytes;
    for (const char* name : kNames) {
      std::ifstream from(std::string(kMarianTwin) + "/" + name, std::ios::binary);
      bytes.emplace_back((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
    }
    std::vector<lapilli_file_part> parts;
    for (size_t i = 0; i < 3; ++i) parts.push_back(lapilli_file_in_memory(kNames[i], bytes[i].data(), bytes[i].size()));
    lapilli_model_options options = lapilli_default_model_options();
    options.parts = parts.data();
    options.part_count = parts.size();
    options.files_stay = stays;
    Begun b;
    auto device = open_device();
    ASSERT_TRUE(device.ok()) << device.error().message;
    lapilli_model* loaded = nullptr;
    ASSERT_EQ(lapilli_model_load_with(device->get(), nullptr, &options, &loaded), LAPILLI_OK) << lapilli_last_error();
    b.model.reset(loaded);
    b.job = start(b.model, 1);
    go_on_until_told(b, 2);
    lose_now();
    end(b);
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_job_take(b.job.get(), &result), expected);
    const ResultHandle freed(result);
    if (expected == LAPILLI_OK)
      b.events.expect_is(result, kSources.size());
    else
      EXPECT_THAT(lapilli_last_error(), HasSubstr("files_stay"));
  }
  static constexpr const char* kNames[] = {"config.json", "generation_config.json", "model.safetensors"};
};

TEST_F(ApiLossDeviceFiles, ThatStayAreReadAgain) { run(1, LAPILLI_OK); }
TEST_F(ApiLossDeviceFiles, ThatMayBeGoneAreNotTouched) { run(0, LAPILLI_DEVICE_LOST); }

// Functions of a host whose nth call of a file goes wrong, counted from when it is told so.
struct FailingFiles {
  enum class Wrong { fails, is_short, lies };
  Wrong wrong = Wrong::fails;
  uint64_t calls = 0, wrong_at = 0, opened = 0, closed = 0;
  std::map<std::string, std::string> files;

  bool goes_wrong() { return ++calls == wrong_at; }
  lapilli_status open(const char* name, lapilli_file* file) {
    const auto found = files.find(name);
    const bool bad = goes_wrong();
    if (bad && wrong == Wrong::fails) return LAPILLI_TIMEOUT;
    if (found == files.end()) return LAPILLI_NOT_FOUND;
    file->handle = &found->second;
    file->size = found->second.size();
    if (bad) file->size = wrong == Wrong::is_short ? file->size / 2 : uint64_t{1} << 62;
    ++opened;
    return LAPILLI_OK;
  }
  lapilli_status read(void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done) {
    const std::string& content = *static_cast<std::string*>(handle);
    const uint64_t there = offset < content.size() ? std::min<uint64_t>(bytes, content.size() - offset) : 0;
    std::copy_n(content.data() + (there ? offset : 0), there, static_cast<char*>(to));
    *done = there;
    if (!goes_wrong()) return LAPILLI_OK;
    if (wrong == Wrong::fails) return LAPILLI_TIMEOUT;
    *done = wrong == Wrong::is_short ? bytes / 2 : ~uint64_t{0};
    return LAPILLI_OK;
  }
  lapilli_files functions() {
    lapilli_files f{};
    f.struct_size = sizeof f;
    f.user = this;
    f.open = [](void* user, const char* name, lapilli_file* file) {
      return static_cast<FailingFiles*>(user)->open(name, file);
    };
    f.read = [](void* user, void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done) {
      return static_cast<FailingFiles*>(user)->read(handle, offset, to, bytes, done);
    };
    f.close = [](void* user, void*) { ++static_cast<FailingFiles*>(user)->closed; };
    return f;
  }
};

void read_files(FailingFiles& host) {
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors"}) {
    std::ifstream from(std::string(kMarianTwin) + "/" + name, std::ios::binary);
    host.files[name].assign(std::istreambuf_iterator<char>(from), std::istreambuf_iterator<char>());
  }
}

// A job of a model from these files, whose device is lost behind its second id; the nth call of the load that follows
// goes wrong. The job ends with it, and says so; what it told is gone on with by another model. `want`: undisturbed.
enum class Ended { well, in_an_error };
void lose_and_load(FailingFiles& host, uint64_t nth, const std::string& want, Ended& ended) {
  const lapilli_files functions = host.functions();
  lapilli_model_options options = lapilli_default_model_options();
  options.files = &functions;
  options.files_stay = 1;
  host.wrong_at = 0;
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.error().message;
  lapilli_model* loaded = nullptr;
  ASSERT_EQ(lapilli_model_load_with(device->get(), nullptr, &options, &loaded), LAPILLI_OK) << lapilli_last_error();
  Begun b;
  b.model.reset(loaded);
  b.job = start(b.model, 1);
  go_on_until_told(b, 2);
  host.calls = 0;
  host.wrong_at = nth;
  lose_now();
  end(b);
  lapilli_result* result = nullptr;
  ended = lapilli_job_take(b.job.get(), &result) == LAPILLI_OK ? Ended::well : Ended::in_an_error;
  const ResultHandle taken(result);
  if (ended == Ended::well) {
    EXPECT_EQ(said(result, kSources.size()), want);
    return;
  }
  EXPECT_THAT(lapilli_last_error(), HasSubstr("loading the model again"));
  const ModelHandle same = model_of(*device);
  ASSERT_EQ(lapilli_job_resume(b.job.get(), same.get()), LAPILLI_OK) << lapilli_last_error();
  end(b);
  const ResultHandle resumed = take(b.job);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(said(resumed.get(), kSources.size()), want);
}

// Until no call is left to go wrong.
void fail_each_file_call(FailingFiles::Wrong wrong) {
  FailingFiles host;
  host.wrong = wrong;
  read_files(host);
  const Outcome want = attempt(1);
  ASSERT_EQ(want.status, LAPILLI_OK) << want.message;
  uint64_t failed = 0;
  for (uint64_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 500u);
    SCOPED_TRACE(nth);
    counting::reset();
    Ended ended{};
    ASSERT_NO_FATAL_FAILURE(lose_and_load(host, nth, want.said, ended));
    EXPECT_EQ(host.opened, host.closed);
    ASSERT_EQ(alive(), "");
    if (host.calls < nth) {
      EXPECT_EQ(ended, Ended::well) << "and no call went wrong";
      break;
    }
    // Files that the model can do without, or that are read in part, do not matter.
    failed += ended == Ended::in_an_error;
  }
  EXPECT_GT(failed, 3u);
}

TEST_F(ApiLossDeviceFiles, EachCallOfTheSecondLoadFails) { fail_each_file_call(FailingFiles::Wrong::fails); }
TEST_F(ApiLossDeviceFiles, EachCallOfTheSecondLoadIsShort) { fail_each_file_call(FailingFiles::Wrong::is_short); }
TEST_F(ApiLossDeviceFiles, EachCallOfTheSecondLoadLies) { fail_each_file_call(FailingFiles::Wrong::lies); }

TEST(ApiLoss, ArgumentsOfResume) {
  EXPECT_EQ(lapilli_job_resume(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("lapilli_job_resume: job is null"));
}

TEST_F(ApiLossDevice, OnlyALostJobIsResumed) {
  Begun b = begin(Whose::own);
  EXPECT_EQ(lapilli_job_resume(b.job.get(), nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("model is null"));
  EXPECT_EQ(lapilli_job_resume(b.job.get(), b.model.get()), LAPILLI_INVALID_ARGUMENT) << "it has not ended";
  end(b);
  EXPECT_EQ(lapilli_job_resume(b.job.get(), b.model.get()), LAPILLI_INVALID_ARGUMENT) << "it has ended well";
}

TEST_F(ApiLossDevice, AnotherModelIsRefused) {
  Begun b = begin(Whose::host);
  lose_now();
  end(b);
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.error().message;
  const ModelHandle other = model_of(*device, kBundledModel), same = model_of(*device);
  EXPECT_EQ(lapilli_job_resume(b.job.get(), other.get()), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("load the same files"));
  EXPECT_EQ(lapilli_job_resume(b.job.get(), same.get()), LAPILLI_OK) << "nothing has changed: " << lapilli_last_error();
  end(b);
  EXPECT_TRUE(take(b.job));
}

}  // namespace
