// A trace on a full disk, for which some systems have a device.
#include <gmock/gmock.h>

#include <fstream>

#include "base/log.hpp"
#include "base/timeline.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

TEST(Timeline, AFullDiskIsSaidOnce) {
  if (!std::ifstream("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  std::vector<std::string> logged;
  set_log_hook([&](LogLevel, const std::string& message) { logged.push_back(message); });
  auto asked = Timeline::into_file("/dev/full"), silent = Timeline::into_file("/dev/full");
  ASSERT_TRUE(asked.ok() && silent.ok());
  const Status written = (*asked)->write();
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("cannot write the trace to /dev/full: "));
  asked->reset();
  EXPECT_TRUE(logged.empty());
  silent->reset();  // nobody asked: the log has it
  set_log_hook({});
  EXPECT_THAT(logged, testing::ElementsAre(HasSubstr("/dev/full")));
}

}  // namespace
}  // namespace lapilli
