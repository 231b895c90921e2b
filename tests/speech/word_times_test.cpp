#include "speech/word_times.hpp"

#include <gtest/gtest.h>

namespace lapilli::speech {
namespace {

// Three ids, each of which looks at three positions of nine.
AttentionRows stairs() {
  AttentionRows a{3, 9, std::vector<float>(27, 0.01f)};
  for (uint32_t id = 0; id < 3; ++id)
    for (uint32_t p = 0; p < 3; ++p) a.weights[id * 9 + 3 * id + p] = 0.3f;
  return a;
}

TEST(WordTimes, FollowTheAttention) {
  EXPECT_EQ(first_positions({stairs()}, 1), (std::vector<uint32_t>{0, 3, 6}));
  EXPECT_EQ(first_positions({stairs(), stairs()}, 3), (std::vector<uint32_t>{0, 3, 6}));
}

TEST(WordTimes, MedianTakesOutSinglePeaks) {
  AttentionRows a = stairs();
  a.weights[0 * 9 + 8] = 0.9f;  // the first id looks at the end for a moment
  EXPECT_EQ(first_positions({a}, 3), (std::vector<uint32_t>{0, 3, 6}));
}

// Nothing to tell ids apart by, and rows that are too short for the filter's edges.
TEST(WordTimes, OfOneIdAndOfFewPositions) {
  EXPECT_EQ(first_positions({{1, 5, {0.1f, 0.2f, 0.3f, 0.2f, 0.2f}}}, 7), std::vector<uint32_t>{0});
  const auto first = first_positions({{2, 2, {0.9f, 0.1f, 0.1f, 0.9f}}}, 7);
  EXPECT_EQ(first, (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace lapilli::speech
