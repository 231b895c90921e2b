// The windows of texts whose ids are scored.
#include "generate/scores/score_windows.hpp"

#include <gtest/gtest.h>

namespace lapilli {
namespace {

// Each id but a first one without a begin token has its score from one window, behind an id of it at least.
void expect_each_once(size_t ids, bool marked, const ScoreWindowOptions& options) {
  std::vector<int> scores(ids, 0);
  const size_t front = marked ? 1 : 0;
  for (const ScoreWindow& w : score_windows(ids, marked, options)) {
    ASSERT_TRUE(w.begin >= front && w.begin < w.end && w.end <= ids);
    EXPECT_LE(w.end - w.begin + front, options.most_ids);
    EXPECT_TRUE(w.scored >= w.begin && w.scored < w.end);
    EXPECT_TRUE(marked || w.scored > w.begin);
    for (size_t i = w.scored; i < w.end; ++i) ++scores[i];
  }
  for (size_t i = 0; i < ids; ++i) EXPECT_EQ(scores[i], ids >= 2 && i > 0 ? 1 : 0) << i << " of " << ids;
}

TEST(ScoreWindows, EachIdIsScoredOnce) {
  for (const bool marked : {false, true})
    for (const uint32_t window : {2u, 3u, 7u, 16u})
      for (const uint32_t stride : {0u, 1u, 3u, window / 2, window, window + 5})
        for (size_t ids = 0; ids < 40; ++ids) expect_each_once(ids, marked, {window, stride});
}

TEST(ScoreWindows, AShortTextIsOneWindow) {
  const auto windows = score_windows(5, false, {8, 4});
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].begin, 0u);
  EXPECT_EQ(windows[0].end, 5u);
  EXPECT_EQ(windows[0].scored, 1u);
}

// As the usual loop of the reference has it: a window moves on by the stride, and only what is new counts.
TEST(ScoreWindows, MoveOnByTheStride) {
  const auto windows = score_windows(21, false, {8, 4});
  ASSERT_EQ(windows.size(), 5u);
  for (size_t i = 0; i < windows.size(); ++i) {
    EXPECT_EQ(windows[i].begin, 4 * i);
    EXPECT_EQ(windows[i].end, std::min<size_t>(4 * i + 8, 21));
    EXPECT_EQ(windows[i].scored, i == 0 ? 1 : 4 * i + 4);
  }
}

TEST(ScoreWindows, FewerThanTwoIdsHaveNone) {
  for (const bool marked : {false, true})
    for (const size_t ids : {0u, 1u}) EXPECT_TRUE(score_windows(ids, marked, {8, 4}).empty());
}

TEST(ScoreWindows, AWindowOfOneTokenIsRefused) {
  EXPECT_FALSE(check_score_windows({1, 1}));
  EXPECT_FALSE(check_score_windows({0, 0}));
  EXPECT_TRUE(check_score_windows({2, 0}));
}

}  // namespace
}  // namespace lapilli
