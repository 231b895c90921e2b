#include "speech/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ops/core/state.hpp"

namespace lapilli::speech {
namespace {

TEST(Measures, LogarithmsPassOverWhatIsForbidden) {
  const std::vector<float> scores{1, 2, state::MASKED, 2};
  const double sum = std::exp(1.0) + 2 * std::exp(2.0);
  EXPECT_NEAR(log_probability(scores, 1, 1), 2 - std::log(sum), 1e-6);
  EXPECT_NEAR(probability(scores, 0), std::exp(1.0) / sum, 1e-6);
  // Scores that a temperature of 0.5 has doubled.
  const double halves = std::exp(0.5) + 2 * std::exp(1.0);
  EXPECT_NEAR(log_probability(scores, 1, 0.5), 1 - std::log(halves), 1e-6);
  EXPECT_LT(log_probability(scores, 2, 1), state::FORBIDDEN);
}

// The first number is the reference's, for 24 ids of two bytes; the others are zlib's own.
TEST(Measures, CompressionIsThatOfZlib) {
  const std::vector<int32_t> ids{249, 55,  156, 156, 298, 298, 152, 211, 190, 34,  156, 82,
                                 190, 156, 218, 156, 190, 190, 190, 156, 125, 156, 82,  34};
  const auto ratio = compression_ratio(ids, 300);
  if (!ratio) GTEST_SKIP() << ratio.error().message;
  EXPECT_NEAR(*ratio, 1.066667, 1e-6);
  // One byte an id for 256 words, three for 65,536.
  const std::vector<int32_t> same(300, 7);
  EXPECT_NEAR(*compression_ratio(same, 255), 300.0 / 13, 1e-9);
  EXPECT_NEAR(*compression_ratio(same, 65536), 900.0 / 19, 1e-9);
}

}  // namespace
}  // namespace lapilli::speech
