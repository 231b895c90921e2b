// The log comes from a device: beams and steps that it names are checked before they are followed.
#include "search/trace_back.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fixtures.hpp"

namespace lapilli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two beams, two prompt ids, three steps.
class TraceBack : public testing::Test {
 protected:
  TraceBack() {
    sentence_.prompt = {5, 6};
    sentence_.log.beams = 2;
    sentence_.log.prompt_ids = 2;
    sentence_.log.entries = {{10, 0, -1}, {11, 0, -2}, {20, 1, -3}, {21, 0, -4}, {30, 1, -5}, {31, 0, -6}};
  }
  SentenceLog::Entry& entry(uint32_t step, uint32_t beam) { return sentence_.log.entries[2 * step + beam]; }
  Result<std::vector<int32_t>> history(uint32_t steps, uint32_t beam) { return beam_history(sentence_, steps, beam); }
  Sentence sentence_;
};

TEST_F(TraceBack, HistoriesFollowTheParents) {
  LAPILLI_ASSERT_VALUE(const auto a, history(3, 0));
  EXPECT_THAT(a, ElementsAre(5, 6, 10, 21, 30));
  LAPILLI_ASSERT_VALUE(const auto b, history(3, 1));
  EXPECT_THAT(b, ElementsAre(5, 6, 11, 20, 31));
  LAPILLI_ASSERT_VALUE(const auto earlier, history(1, 1));
  EXPECT_THAT(earlier, ElementsAre(5, 6, 11));
  LAPILLI_ASSERT_VALUE(const auto none, history(0, 1));
  EXPECT_THAT(none, ElementsAre(5, 6));
}

TEST_F(TraceBack, BeamsAndStepsThatDoNotExistAreErrors) {
  EXPECT_FALSE(history(4, 0).ok());
  for (const uint32_t beam : {2u, 7u, 0xffffffffu}) {
    const auto first = history(3, beam);
    ASSERT_FALSE(first.ok()) << beam;
    EXPECT_EQ(first.error().code, ErrorCode::internal);
    EXPECT_THAT(first.error().message, HasSubstr("beam " + std::to_string(beam) + " of 2"));
    for (uint32_t step = 0; step < 3; ++step) {
      const auto good = std::pair{entry(step, 0).parent, entry(step, 1).parent};
      entry(step, 0).parent = entry(step, 1).parent = beam;
      EXPECT_FALSE(history(3, 0).ok()) << beam << " at step " << step;
      std::tie(entry(step, 0).parent, entry(step, 1).parent) = good;
    }
  }
}

// A hypothesis that ends at position p ends with the step that has its rows there.
TEST_F(TraceBack, HypothesesEndWhereTheyFinished) {
  sentence_.options.length_penalty = 2;
  sentence_.finished = {{-2, 3, 1, 99}, {-7, 1, 0, 98}};
  LAPILLI_ASSERT_VALUE(const auto all, trace_back(sentence_, 3, 5));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].ids, ElementsAre(5, 6, 10, 21, 99));
  EXPECT_THAT(all[0].beam_indices, ElementsAre(6, 6, 7));      // of the third sentence of a batch
  EXPECT_THAT(all[0].token_scores, ElementsAre(-1, -3, -14));  // -2 * 3 ^ 2 in all
  EXPECT_THAT(all[1].ids, ElementsAre(5, 6, 98));
  EXPECT_THAT(all[1].beam_indices, ElementsAre(6));
  LAPILLI_ASSERT_VALUE(const auto one, trace_back(sentence_, 0, 1));
  EXPECT_EQ(one.size(), 1u);
}

TEST_F(TraceBack, WhyAHypothesisEnds) {
  sentence_.options.end_ids = {98, 99};
  sentence_.options.max_length = 5;
  sentence_.finished = {{-2, 3, 1, 99}, {-7, 1, 0, 98}, {-8, 3, 0, 7}};
  const auto finishes = [&] {
    std::vector<Finish> all;
    const auto traced = trace_back(sentence_, 0, 3);
    for (const Hypothesis& h : traced.value()) all.push_back(h.finish);
    return all;
  };
  // The model may end by itself with the last id that there is room for.
  EXPECT_THAT(finishes(), ElementsAre(Finish::stop, Finish::stop, Finish::length));
  // Where it must, nobody knows; before, it is its own end, whatever is forced later.
  sentence_.options.forced_eos = {99, 98};
  EXPECT_THAT(finishes(), ElementsAre(Finish::length, Finish::stop, Finish::length));
  sentence_.options.max_length = 6;
  EXPECT_THAT(finishes(), ElementsAre(Finish::stop, Finish::stop, Finish::length));
  sentence_.options.end_ids = {};
  EXPECT_THAT(finishes(), ElementsAre(Finish::length, Finish::length, Finish::length));
}

TEST_F(TraceBack, EndsThatDoNotExistAreErrors) {
  for (const auto& [position, beam] : std::vector<std::pair<uint32_t, uint32_t>>{
           {0, 0}, {4, 0}, {0xffffffffu, 0}, {0xfffffffeu, 0}, {3, 2}, {1, 0xffffffffu}}) {
    sentence_.finished = {{-2, position, beam, 99}};
    const auto all = trace_back(sentence_, 0, 1);
    ASSERT_FALSE(all.ok()) << position << " " << beam;
    EXPECT_EQ(all.error().code, ErrorCode::internal);
  }
}

}  // namespace
}  // namespace lapilli
