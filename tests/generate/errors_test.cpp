// Bad requests, scarce memory, lost and hung devices give an error that says what is wrong, and leave nothing behind.
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>

#include "generate/generate.hpp"
#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::AllOf;
using testing::HasSubstr;

class DeviceRequests : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, counted_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, marian()));
  }
  // Refused both as a search and by generate(), before anything is submitted.
  void refused(const GenerateRequest& request, const testing::Matcher<std::string>& message,
               ErrorCode code = ErrorCode::invalid_argument) {
    const uint64_t before = device_->counters().submissions;
    const auto search = Search::start(model_, request);
    ASSERT_FALSE(search.ok());
    EXPECT_EQ(search.error().code, code) << search.error().message;
    EXPECT_THAT(search.error().message, message);
    if (!request.sources.empty()) {
      const auto all = generate(model_, request);
      ASSERT_FALSE(all.ok());
      EXPECT_EQ(all.error().code, code) << all.error().message;
      EXPECT_THAT(all.error().message, message);
    }
    EXPECT_EQ(device_->counters().submissions, before);
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};

TEST_F(DeviceRequests, SourcesThatMakeNoSense) {
  GenerateRequest r = request_of({4, 4}, 1, 5);
  r.sources[1][2] = 257;
  refused(r, AllOf(HasSubstr("source 1"), HasSubstr("257"), HasSubstr("vocabulary")));
  r.sources[1][2] = -1;
  refused(r, AllOf(HasSubstr("source 1"), HasSubstr("-1")));
  r.sources[1] = {};
  refused(r, HasSubstr("no ids"));
  r.sources[1].assign(65, 1);
  refused(r, AllOf(HasSubstr("65"), HasSubstr("64")));
  r.sources = {};
  refused(r, HasSubstr("no sources"));
}

// More than there are rows, in one search: as many run at a time as there is room for.
TEST_F(DeviceRequests, AnyNumberOfSources) {
  GenerateRequest r;
  r.sources.assign(state::MAX_ROWS + 1, {1, 2});
  r.sources.back() = {3, 1, 4};
  r.options.max_new_tokens = 2;
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, r));
  ASSERT_EQ(out.hypotheses.size(), state::MAX_ROWS + 1);
  GenerateRequest two = r;
  two.sources = {r.sources.front(), r.sources.back()};
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model_, two));
  for (uint32_t i = 0; i < state::MAX_ROWS; ++i) ASSERT_EQ(out.hypotheses[i][0].ids, want.hypotheses[0][0].ids) << i;
  EXPECT_EQ(out.hypotheses.back()[0].ids, want.hypotheses[1][0].ids);
}

TEST_F(DeviceRequests, OptionsOutOfRange) {
  const GenerateRequest good = request_of({4}, 2, 0);
  const auto with = [&](const std::function<void(GenerationConfig&)>& change) {
    GenerateRequest r = good;
    change(r.options);
    return r;
  };
  refused(with([](auto& o) { o.num_beams = 0; }), AllOf(HasSubstr("num_beams"), HasSubstr("32")));
  refused(with([](auto& o) { o.num_beams = 33; }), AllOf(HasSubstr("num_beams"), HasSubstr("33")));
  refused(with([](auto& o) { o.num_return_sequences = 3; }), AllOf(HasSubstr("num_return_sequences"), HasSubstr("2")));
  refused(with([](auto& o) { o.num_return_sequences = 0; }), HasSubstr("num_return_sequences"));
  refused(with([](auto& o) { o.max_length = 66; }), AllOf(HasSubstr("max_length"), HasSubstr("64")));
  refused(with([](auto& o) { o.max_length = 1; }), HasSubstr("max_length"));
  refused(with([](auto& o) { o.max_new_tokens = 4000000000u; }), HasSubstr("max_length"));
  refused(with([](auto& o) { o.repetition_penalty = 0.0; }), HasSubstr("repetition_penalty"));
  refused(with([](auto& o) { o.modes = {"penalty_alpha"}; }), HasSubstr("penalty_alpha"), ErrorCode::unsupported);
  refused(with([](auto& o) { o.do_sample = true, o.temperature = 0; }), HasSubstr("temperature"));
  refused(with([](auto& o) { o.eos_token_id = std::vector<int32_t>(9, 1); }), HasSubstr("eos_token_id"),
          ErrorCode::unsupported);
  refused(with([](auto& o) { o.eos_token_id = std::vector<int32_t>{300}; }), HasSubstr("eos_token_id"));
  refused(with([](auto& o) { o.bad_words_ids = {{1, 500}}; }), AllOf(HasSubstr("bad_words_ids"), HasSubstr("500")));
  refused(with([](auto& o) { o.suppress_tokens = std::vector<int32_t>{-4}; }), HasSubstr("suppress_tokens"));
  refused(with([](auto& o) { o.forced_bos_token_id = 257; }), HasSubstr("forced_bos_token_id"));
  refused(with([](auto& o) { o.decoder_start_token_id = 400; }), HasSubstr("decoder_start_token_id"));
}

TEST_F(DeviceRequests, DecoderIdsThatDoNotFit) {
  GenerateRequest r = request_of({4, 4}, 1, 0);
  r.decoder_ids = {{256, 3}};
  refused(r, HasSubstr("1 of 2"));
  r.decoder_ids = {{256, 3}, {}};
  refused(r, AllOf(HasSubstr("source 1"), HasSubstr("empty")));
  r.decoder_ids = {{256, 3}, {256, 257}};
  refused(r, HasSubstr("257"));
  // Too many for one of them.
  r.decoder_ids = {{256, 3}, std::vector<int32_t>(64, 3)};
  refused(r, HasSubstr("max_length"));
}

TEST_F(DeviceRequests, TheLongestThatFits) {
  GenerateRequest r = request_of({64}, 2, 0);
  r.options.max_length = r.options.min_length = 65;  // the last position that is fed back is 63
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model_, r));
  EXPECT_EQ(out.hypotheses[0][0].ids.size(), 65u);
}

TEST_F(DeviceRequests, ForwardChecksItsIds) {
  ForwardRequest r;
  r.sources = {{1, 2, 3}};
  r.targets = {{256, 400}};
  auto out = forward(model_, r);
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.error().message, AllOf(HasSubstr("400"), HasSubstr("vocabulary")));
  r.targets = {};
  EXPECT_FALSE(forward(model_, r).ok());
  r.targets = {std::vector<int32_t>(65, 1)};
  out = forward(model_, r);
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(out.error().message, HasSubstr("64"));
}

TEST(DeviceModels, DirectoriesThatAreNone) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device());
  const auto before = counting::living();
  for (const char* directory : {"/no/such/model", LAPILLI_TEST_DATA, ""}) {
    const auto model = Model::load(device, directory);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().code, ErrorCode::not_found) << model.error().message;
    EXPECT_THAT(model.error().message, HasSubstr(directory));
  }
  for (const char* shape : {"", "huge", "tiny,d=0", "tiny,heads=5", "tiny,d=x", "tiny,layers=99999999999"}) {
    const auto model = Model::random(device, shape);
    ASSERT_FALSE(model.ok()) << shape;
    EXPECT_EQ(model.error().code, ErrorCode::invalid_argument) << model.error().message;
  }
  EXPECT_EQ(counting::living(), before);
}

// ---- the driver fails --------------------------------------------------------------------------------------------

// Loads a model and translates; what came of it.
Status attempt(const std::shared_ptr<vulkan::Device>& device, const GenerateRequest& request, std::string& bits) {
  LAPILLI_TRY(const auto model, Model::load(device, marian()));
  LAPILLI_TRY(const auto out, run_search(model, request));
  bits = bits_of(out);
  return {};
}

class DeviceFaultsOfJobs : public testing::Test {
 protected:
  // It stays open, and with it the driver loaded, which each of the sweeps' devices would load anew.
  static void SetUpTestSuite() { LAPILLI_ASSERT_OK(shared_device()); }
  void SetUp() override {
    request_ = request_of({7, 12, 3}, 4, 8);
    LAPILLI_ASSERT_VALUE(const auto device, counted_device());
    LAPILLI_ASSERT_OK(attempt(device, request_, want_));
  }
  void TearDown() override {
    counting::fail("", VK_SUCCESS, 0);
    counting::freeze_progress(false);
    counting::hide_progress(false);
    counting::lose_silently(false);
    counting::limit_memory(0);
  }
  GenerateRequest request_;
  std::string want_;
};

// The nth call of `name` and all after it fail: an error of this kind, nothing left, and the device serves on.
struct Sweep {
  const char* name;
  VkResult result;
  uint64_t stride = 1;  // from one failing call to the next
  const char* mask = "";
};
void sweep(const Sweep& how, const GenerateRequest& request, const std::string& want) {
  const auto& [name, result, stride, mask] = how;
  const bool memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
  uint32_t failures = 0;
  for (uint64_t nth = 1;; nth += stride) {
    ASSERT_LT(nth, 5000u);
    LAPILLI_ASSERT_VALUE(auto device, counted_device(mask));
    std::string bits;
    counting::fail(name, result, nth, 0);
    const Status s = attempt(device, request, bits);
    const bool failed = counting::failed();
    counting::fail("", VK_SUCCESS, 0);
    if (!failed) {
      LAPILLI_EXPECT_OK(s);
      EXPECT_EQ(bits, want);
      break;
    }
    if (s.ok() && memory) {  // there was room elsewhere, or the batch was split
      EXPECT_EQ(bits, want) << name << " " << nth;
      continue;
    }
    ASSERT_FALSE(s.ok()) << name << " " << nth;
    EXPECT_EQ(s.error().code, memory ? ErrorCode::out_of_memory : ErrorCode::device_lost) << s.error().message;
    EXPECT_FALSE(s.error().message.empty());
    ++failures;
    if (memory) {
      LAPILLI_ASSERT_OK(attempt(device, request, bits));
      EXPECT_EQ(bits, want) << name << " " << nth;
    } else {
      const Status lost = attempt(device, request, bits);
      ASSERT_FALSE(lost.ok());
      EXPECT_EQ(lost.error().code, ErrorCode::device_lost) << lost.error().message;
    }
    device.reset();
    EXPECT_THAT(counting::living(), testing::IsEmpty()) << name << " " << nth;
  }
  EXPECT_GT(failures, 0u) << name;
  std::printf("%s: failed at %u places\n", name, failures);
}

// All places, which takes minutes; the others have some of them.
using DeviceFaultsEverywhere = DeviceFaultsOfJobs;

TEST_F(DeviceFaultsOfJobs, OutOfMemoryAtAllocations) {
  sweep({"vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, 2}, request_, want_);
  sweep({"vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, 3, "staging"}, request_, want_);
}
TEST_F(DeviceFaultsEverywhere, OutOfMemoryAtAnyAllocation) {
  sweep({"vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, 1}, request_, want_);
  sweep({"vkAllocateMemory", VK_ERROR_OUT_OF_DEVICE_MEMORY, 1, "staging"}, request_, want_);
}
TEST_F(DeviceFaultsOfJobs, OutOfMemoryAtBuffers) {
  sweep({"vkCreateBuffer", VK_ERROR_OUT_OF_HOST_MEMORY, 11}, request_, want_);
}
TEST_F(DeviceFaultsOfJobs, OutOfMemoryAtPipelines) {
  sweep({"vkCreateComputePipelines", VK_ERROR_OUT_OF_HOST_MEMORY, 3}, request_, want_);
}
TEST_F(DeviceFaultsEverywhere, OutOfMemoryAtAnyPipeline) {
  sweep({"vkCreateComputePipelines", VK_ERROR_OUT_OF_HOST_MEMORY, 1}, request_, want_);
}
TEST_F(DeviceFaultsOfJobs, OutOfMemoryAtDescriptors) {
  sweep({"vkAllocateDescriptorSets", VK_ERROR_OUT_OF_HOST_MEMORY, 41}, request_, want_);
}
TEST_F(DeviceFaultsOfJobs, OutOfMemoryAtCommandBuffers) {
  sweep({"vkAllocateCommandBuffers", VK_ERROR_OUT_OF_HOST_MEMORY, 3}, request_, want_);
}
TEST_F(DeviceFaultsEverywhere, OutOfMemoryAtAnyCommandBuffer) {
  sweep({"vkAllocateCommandBuffers", VK_ERROR_OUT_OF_HOST_MEMORY, 1}, request_, want_);
}
TEST_F(DeviceFaultsOfJobs, DeviceLostAtSubmissions) {
  sweep({"vkQueueSubmit", VK_ERROR_DEVICE_LOST, 2}, request_, want_);
}
TEST_F(DeviceFaultsEverywhere, DeviceLostAtAnySubmission) {
  sweep({"vkQueueSubmit", VK_ERROR_DEVICE_LOST, 1}, request_, want_);
}
const char* name_of_wait() {
  const auto device = counted_device();
  return device.ok() && (*device)->caps().timeline_semaphore ? "vkWaitSemaphores" : "vkWaitForFences";
}
TEST_F(DeviceFaultsOfJobs, DeviceLostAtWaits) { sweep({name_of_wait(), VK_ERROR_DEVICE_LOST, 2}, request_, want_); }
TEST_F(DeviceFaultsEverywhere, DeviceLostAtAnyWait) {
  sweep({name_of_wait(), VK_ERROR_DEVICE_LOST, 1}, request_, want_);
}

// Too little memory for the whole batch, but enough for parts of it.
TEST_F(DeviceFaultsOfJobs, ABatchTooLargeForTheMemoryIsSplit) {
  const char* const shape = "tiny,vocabulary=8000";
  const GenerateRequest all = request_of(std::vector<uint32_t>(128, 20), 4, 4);
  LAPILLI_ASSERT_VALUE(const auto device, counted_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device, shape));
  LAPILLI_ASSERT_VALUE(const auto want, generate(model, all));
  const uint64_t session = want.stats.session_bytes;
  ASSERT_GT(session, uint64_t{20} << 20);  // more than what is left of a block
  LAPILLI_ASSERT_VALUE(const auto poor_device, counted_device());
  LAPILLI_ASSERT_VALUE(const auto poor_model, Model::random(poor_device, shape));
  counting::limit_memory(poor_device->counters().device_bytes + device->counters().device_bytes + session / 3);
  LAPILLI_ASSERT_VALUE(const auto out, generate(poor_model, all));
  EXPECT_EQ(bits_of(out), bits_of(want));
  EXPECT_LT(out.stats.session_bytes, session);
}

// The memory of free sessions comes back only when what is in flight is done, of whichever search: that is waited for.
TEST_F(DeviceFaultsOfJobs, FreeSessionsMakeRoomWhileAnotherJobRuns) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device, "tiny,vocabulary=8000"));
  const GenerateRequest large = request_of(std::vector<uint32_t>(128, 20), 4, 4);
  const GenerateRequest next = request_of(std::vector<uint32_t>(128, 12), 4, 4);
  const GenerateRequest small = request_of({3}, 4, 16);
  LAPILLI_ASSERT_VALUE(const auto want, run_search(model, next));  // the plans are there afterwards
  LAPILLI_ASSERT_OK(run_search(model, small));
  model->engines().drop_free();
  LAPILLI_ASSERT_OK(run_search(model, large));  // its session is kept
  LAPILLI_ASSERT_VALUE(const auto running, Search::start(model, small));
  EXPECT_FALSE(running->pump());
  counting::hide_progress(true);
  // Nothing else is free.
  counting::limit_memory(1);
  std::vector<vulkan::Buffer> fillers;
  for (uint64_t bytes = 8 << 20; bytes >= 1 << 14;) {
    auto filler = device->make_buffer(bytes, vulkan::MemoryUse::device, "filler");
    if (filler)
      fillers.push_back(std::move(*filler));
    else
      bytes /= 2;
  }
  auto search = Search::start(model, next);
  counting::hide_progress(false);
  LAPILLI_ASSERT_OK(search);
  LAPILLI_ASSERT_OK((*search)->run_to_end());
  LAPILLI_ASSERT_VALUE(const auto out, (*search)->take());
  EXPECT_EQ(bits_of(out), bits_of(want));
  LAPILLI_ASSERT_OK(running->run_to_end());
}

// Starting a search waits for nothing that other searches have in flight.
TEST_F(DeviceFaultsOfJobs, AJobStartsWhileAnotherOneRuns) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device("", 2));
  if (!device->caps().unified_memory) return;  // transfers are in the queue's order
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, marian()));
  {
    LAPILLI_ASSERT_VALUE(const auto a, Search::start(model, request_));
    LAPILLI_ASSERT_VALUE(const auto b, Search::start(model, request_));
    LAPILLI_ASSERT_OK(a->run_to_end());
    LAPILLI_ASSERT_OK(b->run_to_end());
  }
  LAPILLI_ASSERT_VALUE(const auto running, Search::start(model, request_));
  EXPECT_FALSE(running->pump());
  counting::freeze_progress(true);
  LAPILLI_ASSERT_VALUE(const auto search, Search::start(model, request_));
  counting::freeze_progress(false);
  for (Search* j : {running.get(), search.get()}) {
    LAPILLI_ASSERT_OK(j->run_to_end());
    LAPILLI_ASSERT_VALUE(const auto out, j->take());
    EXPECT_EQ(bits_of(out), want_);
  }
}

// A driver that refuses a shader does not make the batch too large.
TEST_F(DeviceFaultsOfJobs, ARefusedShaderIsNotTriedWithFewerRows) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, marian()));
  counting::fail("vkCreateComputePipelines", VK_ERROR_UNKNOWN, 1, 0);
  const auto out = generate(model, request_);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, ErrorCode::no_device) << out.error().message;
  EXPECT_THAT(out.error().message, HasSubstr("refuses this shader"));
  const uint64_t calls = counting::calls("vkCreateComputePipelines");
  EXPECT_FALSE(generate(model, request_).ok());
  EXPECT_EQ(counting::calls("vkCreateComputePipelines"), calls);
}

// The device is lost without a word: what it has not computed is never given out.
TEST_F(DeviceFaultsOfJobs, ASilentLossIsAnError) {
  for (const uint32_t at : {0u, 2u}) {
    LAPILLI_ASSERT_VALUE(auto device, counted_device());
    {
      LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, marian()));
      LAPILLI_ASSERT_OK(run_search(model, request_));  // its log is still there
      LAPILLI_ASSERT_VALUE(const auto search, Search::start(model, request_));
      if (at == 0) counting::lose_silently(true);
      const Status s = search->run_to_end([&] {
        if (search->steps_done() >= at) counting::lose_silently(true);
        return true;
      });
      ASSERT_FALSE(s.ok());
      EXPECT_EQ(s.error().code, ErrorCode::device_lost) << s.error().message;
    }
    counting::lose_silently(false);
    device.reset();
    EXPECT_THAT(counting::living(), testing::IsEmpty());
  }
}

// A device that hangs: the wait gives up, the search ends, and destroying everything does not hang either.
TEST_F(DeviceFaultsOfJobs, ATimeoutEndsTheJob) {
  LAPILLI_ASSERT_VALUE(const auto device, counted_device("", 2));  // for the honest work as well
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, marian()));
  for (const uint32_t at : {0u, 2u}) {
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model, request_));
    if (at == 0) counting::freeze_progress(true);
    const Status s = search->run_to_end([&] {
      if (search->steps_done() >= at) counting::freeze_progress(true);
      return true;
    });
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.error().code, ErrorCode::timeout) << s.error().message;
    EXPECT_FALSE(search->take().ok());
    counting::freeze_progress(false);
  }
  // The device came back: the next search works.
  LAPILLI_ASSERT_VALUE(const auto out, run_search(model, request_));
  EXPECT_EQ(bits_of(out), want_);
}

// One that never comes back is waited for once, by the search, and a last second by the device.
TEST_F(DeviceFaultsOfJobs, AHungDeviceIsWaitedForOnce) {
  constexpr double kTimeout = 4;
  const auto seconds = [](const auto& act) {
    const auto start = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  {
    LAPILLI_ASSERT_VALUE(auto device, counted_device("", kTimeout));
    LAPILLI_ASSERT_VALUE(auto model, Model::load(device, marian()));
    LAPILLI_ASSERT_VALUE(auto search, Search::start(model, request_));
    counting::freeze_progress(true);
    const double waited = seconds([&] { EXPECT_EQ(search->run_to_end().error().code, ErrorCode::timeout); });
    EXPECT_GE(waited, kTimeout * 0.99);
    EXPECT_LT(seconds([&] { search.reset(); }), kTimeout / 2);
    EXPECT_LT(seconds([&] { model.reset(), device.reset(); }), kTimeout * 0.9);
  }
  EXPECT_EQ(counting::living()["Device"], 1);  // kept on purpose
  counting::reset();
}

}  // namespace
}  // namespace lapilli
