// A signal cancels what was given its token; without one nothing is cancelled.
#include "cli/run/interruption.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli/system.hpp"

namespace lapilli::cli {
namespace {

using std::chrono::milliseconds;

bool cancelled_within(const CancelToken& token, milliseconds most) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!token.cancelled() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  return token.cancelled();
}

// In a process of its own, which is left without cleaning up: what a signal did to it stays there.
[[noreturn]] void be_interrupted(int number) {
  std::signal(number, SIG_DFL);  // shells have what they start in the background ignore some
  catch_interrupts();
  const Interruption interruption;
  if (cancelled_within(interruption.token(), milliseconds(100))) std::_Exit(1);
  std::raise(number);
  if (!cancelled_within(interruption.token(), milliseconds(10000))) std::_Exit(2);
  const Interruption later;
  std::_Exit(cancelled_within(later.token(), milliseconds(10000)) ? 0 : 3);
}

TEST(CliInterruption, ASignalCancels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int number : {SIGINT, SIGTERM}) EXPECT_EXIT(be_interrupted(number), testing::ExitedWithCode(0), "");
}

TEST(CliInterruption, EndsWithoutOne) {
  CancelToken token;
  {
    const Interruption interruption;
    token = interruption.token();
  }
  EXPECT_FALSE(token.cancelled());
}

}  // namespace
}  // namespace lapilli::cli
