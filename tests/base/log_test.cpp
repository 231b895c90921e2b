// The log's hook belongs to the embedding program: it may do anything.
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace lapilli {
namespace {

class Log : public testing::Test {
 protected:
  ~Log() override { set_log_hook({}); }
};

TEST_F(Log, AHookMayLog) {
  std::vector<std::string> seen;
  set_log_hook([&](LogLevel, const std::string& text) {
    seen.push_back(text);
    log(LogLevel::error, "again");
  });
  testing::internal::CaptureStderr();
  log(LogLevel::error, "first");
  log(LogLevel::error, "second");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lapilli: again\nlapilli: again\n");
  EXPECT_EQ(seen, (std::vector<std::string>{"first", "second"}));
}

TEST_F(Log, AHookMayReplaceItself) {
  std::vector<std::string> seen;
  const std::string name = "a text that is too long to be kept within its string object";
  set_log_hook([&seen, name](LogLevel, const std::string& text) {
    set_log_hook([&seen](LogLevel, const std::string& later) { seen.push_back("2 " + later); });
    seen.push_back(name + text);  // what it captured is still there
  });
  log(LogLevel::error, "a");
  log(LogLevel::error, "b");
  EXPECT_EQ(seen, (std::vector<std::string>{name + "a", "2 b"}));
}

TEST_F(Log, WhatAHookThrowsIsDropped) {
  int calls = 0;
  set_log_hook([&](LogLevel, const std::string&) {
    ++calls;
    throw std::runtime_error("no");
  });
  testing::internal::CaptureStderr();
  log(LogLevel::error, "one");
  log(LogLevel::error, "two");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lapilli: one\nlapilli: two\n");
  EXPECT_EQ(calls, 2);
}

TEST_F(Log, OneCallAtATime) {
  int running = 0, most = 0, calls = 0;  // plain: the log's lock is what guards them
  set_log_hook([&](LogLevel, const std::string&) {
    most = std::max(most, ++running);
    ++calls;
    --running;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 1000; ++j) log(LogLevel::error, "x");
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(calls, 4000);
  EXPECT_EQ(most, 1);
}

TEST_F(Log, MessagesAboveTheLevelAreDropped) {
  int calls = 0;
  set_log_hook([&](LogLevel, const std::string&) { ++calls; });
  log(LogLevel::verbose, "x");
  EXPECT_EQ(calls, 0);
  set_log_level(LogLevel::verbose);
  log(LogLevel::verbose, "x");
  set_log_level(LogLevel::note);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace lapilli
