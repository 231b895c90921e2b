// Random numbers of sampling: known answers of the generator, and that the best sums of scores and numbers are draws
// without replacement.
#include "ops/search/draw.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

namespace lapilli {
namespace {

using Words = std::array<uint32_t, 4>;

// Test vectors that Random123 publishes for philox4x32 with 10 rounds.
TEST(Draw, PhiloxGivesTheKnownAnswers) {
  EXPECT_EQ(draw::philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t f = 0xffffffff;
  EXPECT_EQ(draw::philox({f, f, f, f}, {f, f}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(draw::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Draw, GumbelNumbersAreFiniteAndFollowTheirDistribution) {
  EXPECT_NEAR(draw::gumbel(0), 22.87, 0.01);           // the largest there is
  EXPECT_NEAR(draw::gumbel(0xffffffff), -3.13, 0.01);  // the smallest
  double sum = 0, squares = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double g = draw::gumbel_at({99, 3, static_cast<uint32_t>(i / 100), 0}, static_cast<uint32_t>(i % 100));
    sum += g;
    squares += g * g;
  }
  const double mean = sum / n, variance = squares / n - mean * mean;
  EXPECT_NEAR(mean, 0.57722, 0.02);
  EXPECT_NEAR(variance, 1.64493, 0.05);
}

TEST(Draw, EveryPartOfThePlaceCounts) {
  const draw::Place place{uint64_t{7} << 32 | 5, 2, 3, 1};
  const double one = draw::gumbel_at(place, 6);
  EXPECT_EQ(draw::gumbel_at(place, 6), one);
  EXPECT_NE(draw::gumbel_at(place, 7), one);
  EXPECT_NE(draw::gumbel_at(place, 10), one);
  for (const draw::Place& other :
       {draw::Place{uint64_t{7} << 32 | 6, 2, 3, 1}, draw::Place{uint64_t{8} << 32 | 5, 2, 3, 1},
        draw::Place{place.seed, 3, 3, 1}, draw::Place{place.seed, 2, 4, 1}, draw::Place{place.seed, 2, 3, 0}})
    EXPECT_NE(draw::gumbel_at(other, 6), one);
}

// The first two of five ids, drawn 60,000 times; a pair (a, b) has the probability p(a) p(b) / (1 - p(a)).
TEST(Draw, TheBestSumsAreDrawsWithoutReplacement) {
  const std::vector<double> p = {0.4, 0.3, 0.15, 0.1, 0.05};
  std::map<std::pair<size_t, size_t>, int> seen;
  constexpr uint32_t n = 60000;
  for (uint32_t i = 0; i < n; ++i) {
    size_t first = 5, second = 5;
    std::vector<double> keys;
    for (uint32_t id = 0; id < 5; ++id) keys.push_back(std::log(p[id]) + draw::gumbel_at({4711, 0, i, 0}, id));
    for (size_t id = 0; id < 5; ++id) {
      if (first == 5 || keys[id] > keys[first]) {
        second = first;
        first = id;
      } else if (second == 5 || keys[id] > keys[second]) {
        second = id;
      }
    }
    ++seen[{first, second}];
  }
  double chi_square = 0;
  for (size_t a = 0; a < 5; ++a)
    for (size_t b = 0; b < 5; ++b) {
      if (a == b) continue;
      const double expected = n * p[a] * p[b] / (1 - p[a]);
      chi_square += std::pow(seen[{a, b}] - expected, 2) / expected;
    }
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom: exceeded once in a thousand times
}

}  // namespace
}  // namespace lapilli
