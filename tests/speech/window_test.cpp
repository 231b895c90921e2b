#include "speech/window.hpp"

#include <gtest/gtest.h>

namespace lapilli::speech {
namespace {

constexpr int32_t T = 100;  // the timestamp 0.00

struct Expected {
  size_t first, last;
  uint32_t begin, end;
};

void expect_parts(const SplitWindow& w, const std::vector<Expected>& parts) {
  ASSERT_EQ(w.parts.size(), parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(w.parts[i].first, parts[i].first) << i;
    EXPECT_EQ(w.parts[i].last, parts[i].last) << i;
    EXPECT_EQ(w.parts[i].begin, parts[i].begin) << i;
    EXPECT_EQ(w.parts[i].end, parts[i].end) << i;
  }
}

SplitWindow split(const std::vector<int32_t>& ids, uint32_t frames = 90) { return split_window(ids, T, frames); }

TEST(Windows, WithoutAPairAreOneSegment) {
  const auto w = split({T + 1, 7, 8, T + 20, 9});
  EXPECT_EQ(w.ending, WindowEnding::no_pair);
  EXPECT_EQ(w.advance, 90u);
  expect_parts(w, {{0, 5, 0, 20}});
  expect_parts(split({7, 8}), {{0, 2, 0, 45}});
  // A window that only says that it begins goes on to its end.
  expect_parts(split({T, 7, 8}), {{0, 3, 0, 45}});
  expect_parts(split({}), {{0, 0, 0, 45}});
}

TEST(Windows, AreUsedUpByATimestampAtTheirEnd) {
  const auto w = split({T, 7, T + 10, T + 12, 8, 9, T + 40});
  EXPECT_EQ(w.ending, WindowEnding::single);
  EXPECT_EQ(w.advance, 90u);
  expect_parts(w, {{0, 3, 0, 10}, {3, 7, 12, 40}});
}

TEST(Windows, ThatAreCutOffGoOnFromTheLastPair) {
  const auto w = split({T, 7, T + 10, T + 12, 8, T + 30, T + 31, 9, 9});
  EXPECT_EQ(w.ending, WindowEnding::cut_off);
  EXPECT_EQ(w.advance, 60u);
  expect_parts(w, {{0, 3, 0, 10}, {3, 7, 12, 30}});
}

TEST(Windows, MayEndWithAPair) {
  const auto w = split({T + 3, 7, T + 10, T + 10});
  EXPECT_EQ(w.ending, WindowEnding::pair);
  EXPECT_EQ(w.advance, 20u);
  expect_parts(w, {{0, 4, 3, 10}});
}

}  // namespace
}  // namespace lapilli::speech
