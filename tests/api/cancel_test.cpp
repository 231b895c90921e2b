// Cancel tokens: what is given one ends with it, what is not goes on. Device tests use the bundled model.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace {

const std::string kModel = LAPILLI_SOURCE_DIR "/models/en-fr";
const char* const kCoffee = "I would like a cup of coffee, please.";
const char* const kStation = "Where is the station?";
constexpr size_t kMany = 300;  // seconds of work, two at a time

TEST(ApiCancelToken, NullPointers) {
  EXPECT_EQ(lapilli_cancel_token_create(nullptr), LAPILLI_INVALID_ARGUMENT);
  lapilli_cancel_token_cancel(nullptr);
  EXPECT_EQ(lapilli_cancel_token_cancelled(nullptr), 0);
  lapilli_cancel_token_free(nullptr);
}

TEST(ApiCancelToken, CopiesAreOne) {
  const lapilli::CancelToken token, other;
  const lapilli::CancelToken copy = token;
  EXPECT_FALSE(copy.cancelled());
  token.cancel();
  EXPECT_TRUE(copy.cancelled());
  EXPECT_FALSE(other.cancelled());
}

void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; i < 60000 && !flag; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(flag);
}

// Both calls are at work when the token is cancelled.
TEST(ApiDeviceCancelToken, EndsItsCallsAlone) {
  auto model = lapilli::Model::load(kModel).value();
  std::atomic<bool> first_runs{false}, second_runs{false}, first_ended{false};
  lapilli::Options first;
  first.batch = 2;
  first.cancel_token = lapilli::CancelToken();
  first.progress = [&](uint64_t done, uint64_t) {
    if (done >= 2) first_runs = true;
    return true;
  };
  std::thread canceller([&, token = *first.cancel_token] {
    wait_for(first_runs);
    wait_for(second_runs);
    token.cancel();
  });
  std::thread second([&] {
    wait_for(first_runs);
    lapilli::Options options;
    options.batch = 1;
    options.cancel_token = lapilli::CancelToken();  // its own
    options.progress = [&](uint64_t done, uint64_t total) {
      second_runs = true;
      if (done + 1 == total) wait_for(first_ended);  // so that it is not done before
      return true;
    };
    auto results = model.translate(std::vector<std::string>(4, kStation), options);
    second_runs = true;  // also after an error before any progress
    ASSERT_TRUE(results.ok()) << results.error().what();
    EXPECT_FALSE(results->cancelled());
    for (const auto& output : *results) EXPECT_EQ(output.text(), "Où est la gare ?");
  });
  auto results = model.translate(std::vector<std::string>(kMany, kCoffee), first);
  first_ended = true;
  first_runs = true;
  canceller.join();
  second.join();
  ASSERT_TRUE(results.ok()) << results.error().what();
  EXPECT_TRUE(results->cancelled());
  EXPECT_EQ((*results)[kMany - 1].error->status(), lapilli::Status::cancelled);
  EXPECT_TRUE((*results)[0].ok());  // what was finished is there
}

TEST(ApiDeviceCancelToken, StaysCancelled) {
  auto model = lapilli::Model::load(kModel).value();
  lapilli::Options options;
  options.cancel_token = lapilli::CancelToken();
  options.cancel_token->cancel();
  bool streamed = false;
  options.stream = [&](size_t, std::string_view, const lapilli::Ids&) { return streamed = true; };
  auto results = model.translate({kStation, kCoffee}, options).value();
  EXPECT_TRUE(results.cancelled());
  EXPECT_FALSE(streamed);
  for (const auto& output : results) EXPECT_EQ(output.error->status(), lapilli::Status::cancelled);
  options.cancel_token.reset();
  EXPECT_EQ(model.translate({kStation}, options).value()[0].text(), "Où est la gare ?");
}

TEST(ApiDeviceCancelToken, TheModelsCancelIsNoTokens) {
  auto model = lapilli::Model::load(kModel).value();
  lapilli::Options options;
  options.cancel_token = lapilli::CancelToken();
  options.progress = [&](uint64_t, uint64_t) {
    model.cancel();
    return true;
  };
  EXPECT_TRUE(model.translate({kStation}, options).value().cancelled());
  EXPECT_FALSE(options.cancel_token->cancelled());
  options.progress = {};
  EXPECT_EQ(model.translate({kStation}, options).value()[0].text(), "Où est la gare ?");
}

// In C, where the handle's freeing is the program's.
TEST(ApiDeviceCancelToken, FreedWhileItsCallRuns) {
  auto model = lapilli::Model::load(kModel).value();
  lapilli_cancel_token* token = nullptr;
  ASSERT_EQ(lapilli_cancel_token_create(&token), LAPILLI_OK);
  lapilli_options options = lapilli_default_options();
  options.cancel_token = token;
  options.progress_user = &token;
  options.progress = [](void* user, uint64_t, uint64_t) -> int32_t {
    auto** freed = static_cast<lapilli_cancel_token**>(user);
    lapilli_cancel_token_free(*freed);
    *freed = nullptr;
    return 0;
  };
  const lapilli_input input = lapilli_text(kStation);
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_generate(model.handle(), &input, 1, &options, &result), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(token, nullptr);
  lapilli_result_free(result);
}

}  // namespace
