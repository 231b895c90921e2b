// The trace that a viewer gets.
#include "base/timeline.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<json> slices_named(const json& trace, const std::string& name) {
  std::vector<json> found;
  for (const json& e : trace.at("traceEvents"))
    if (e.at("ph") == "X" && e.at("name") == name) found.push_back(e);
  return found;
}

TEST(Timeline, HostSlicesHaveTheirThreadsAndNumbers) {
  Timeline timeline;
  {
    TimelineScope scope(&timeline, "work \xff");
    scope.number("pieces", 3);
    TimelineScope nothing(&timeline, "nothing");
    nothing.forget();
  }
  { const TimelineScope nobody(nullptr, "nobody"); }
  std::thread([&] { timeline.host({"elsewhere", 1, 2, {}}); }).join();
  const json trace = json::parse(timeline.json());
  const auto work = slices_named(trace, "work \xEF\xBF\xBD"), elsewhere = slices_named(trace, "elsewhere");
  ASSERT_EQ(work.size(), 1u);
  ASSERT_EQ(elsewhere.size(), 1u);
  EXPECT_EQ(work[0].at("args").at("pieces"), 3);
  EXPECT_NE(work[0].at("tid"), elsewhere[0].at("tid"));
  EXPECT_TRUE(slices_named(trace, "nothing").empty() && slices_named(trace, "nobody").empty());
}

// The device's clock says 5,000,000 us more than the host's: the first submission was begun at once, the second waited.
TEST(Timeline, TheDevicesClockIsBroughtToTheHosts) {
  Timeline timeline;
  constexpr double kAhead = 5e6;
  timeline.device({100, 400, true, {{"first", kAhead + 100, kAhead + 300, {}}}});
  timeline.device({150, 700, true, {{"second", kAhead + 300, kAhead + 600, {}}}});
  timeline.device({800, 900, false, {{"by the host", 800, 900, {}}}});
  const json trace = json::parse(timeline.json());
  const json first = slices_named(trace, "first").at(0), second = slices_named(trace, "second").at(0);
  EXPECT_NEAR(first.at("ts").get<double>(), 100, 1e-6);
  EXPECT_NEAR(first.at("dur").get<double>(), 200, 1e-6);
  EXPECT_NEAR(second.at("ts").get<double>(), 300, 1e-6);
  EXPECT_EQ(slices_named(trace, "by the host").at(0).at("ts"), 800);
}

TEST(Timeline, ClocksThatDriftApartMeetInTheMiddle) {
  Timeline timeline;
  timeline.device({100, 200, true, {{"early", 1100, 1200, {}}}});    // 1,000 ahead
  timeline.device({9000, 9100, true, {{"late", 9900, 10000, {}}}});  // 900 ahead
  const json late = slices_named(json::parse(timeline.json()), "late").at(0);
  EXPECT_NEAR(late.at("ts").get<double>(), 8950, 1e-6);
}

TEST(Timeline, ItsFileIsWrittenWhenTheLastWhoTellsItIsGone) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/trace.json";
  auto timeline = Timeline::into_file(path);
  ASSERT_TRUE(timeline.ok()) << timeline.error().message;
  (*timeline)->host({"told", 1, 2, {}});
  timeline->reset();
  std::ifstream from(path);
  EXPECT_EQ(slices_named(json::parse(from), "told").size(), 1u);
}

TEST(Timeline, ItsFileIsWrittenAtOnceForWhoeverAsks) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/trace.json";
  auto timeline = Timeline::into_file(path);
  ASSERT_TRUE(timeline.ok()) << timeline.error().message;
  const auto told = [&](const char* name) {
    std::ifstream from(path);
    return slices_named(json::parse(from), name).size();
  };
  (*timeline)->host({"told", 1, 2, {}});
  EXPECT_TRUE((*timeline)->write().ok());
  EXPECT_EQ(told("told"), 1u);
  (*timeline)->host({"later", 3, 4, {}});
  timeline->reset();
  EXPECT_EQ(told("told"), 1u);
  EXPECT_EQ(told("later"), 1u);
  EXPECT_FALSE(Timeline().write().ok());  // of no file
}

TEST(Timeline, AFileThatCannotBeWrittenIsAnErrorAtOnce) {
  const auto timeline = Timeline::into_file("/nowhere/at/all/trace.json");
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(timeline.error().message, HasSubstr("/nowhere/at/all/trace.json"));
}

}  // namespace
}  // namespace lapilli
