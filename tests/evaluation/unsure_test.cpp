#include "evaluation/unsure.hpp"

#include <gtest/gtest.h>

#include "evaluation/chrf.hpp"

namespace lapilli::evaluation {
namespace {

TEST(Chrf, CountsNgramsOfCharacters) {
  EXPECT_DOUBLE_EQ(chrf("le chat", "le chat"), 100);
  EXPECT_DOUBLE_EQ(chrf("lechat", "le chat"), 100);
  EXPECT_DOUBLE_EQ(chrf("abc", "xyz"), 0);
  EXPECT_DOUBLE_EQ(chrf("", "x"), 0);
  EXPECT_DOUBLE_EQ(chrf("", ""), 100);
  // "ab" for "ac": a half of the characters, none of the pairs, so a quarter of each.
  EXPECT_DOUBLE_EQ(chrf("ab", "ac"), 25);
  // "ab" for "abc": precision 1 and 1, recall 2/3 and 1/2; F2 of 1 and 7/12.
  EXPECT_NEAR(chrf("ab", "abc"), 100 * 5 * (7. / 12) / (4 + 7. / 12), 1e-9);
  EXPECT_DOUBLE_EQ(chrf("\xc3\xa9", "\xc3\xa8"), 0) << "bytes are no characters";
  const std::string references[] = {"xyz", "abc"};
  EXPECT_DOUBLE_EQ(best_chrf("abc", references), 100);
}

TEST(Unsure, FoundAndAccusedAreCounted) {
  const Judged lines[] = {{-2, 10}, {-0.5, 39.9}, {-2, 100}, {-0.1, 70}, {-3, 50}};
  const Separation s = separate(lines, -1);
  EXPECT_EQ(s.lines, 5u);
  EXPECT_EQ(s.wrong, 2u);
  EXPECT_EQ(s.right, 2u);
  EXPECT_EQ(s.noted, 3u);
  EXPECT_EQ(s.found, 1u);
  EXPECT_EQ(s.accused, 1u);
  EXPECT_EQ(text_of(s, -1),
            "unsure below -1.00: 3 of 5 lines (60.0 %); found 1 of 2 wrong ones (50.0 %), accused 1 of 2 right ones "
            "(50.0 %)");
}

}  // namespace
}  // namespace lapilli::evaluation
