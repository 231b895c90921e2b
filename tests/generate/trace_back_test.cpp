// The log comes from a device: slots that it names are checked before they are followed.
#include "generate/trace_back.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/state.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SlotHistory : public testing::Test {
 protected:
  SlotHistory() {
    record_.shape.sentences = 4;  // two of them are padding
    record_.shape.beams = 2;
    record_.steps = 3;
    log_.assign(3 * LogLayout::stride(record_.shape.slots()), 0xdeadbeef);  // what is not written
    // Sentence 1 has the slots 2 and 3.
    entry(0, 2, 10, 2), entry(0, 3, 11, 2);
    entry(1, 2, 20, 3), entry(1, 3, 21, 2);
    entry(2, 2, 30, 3), entry(2, 3, 31, 2);
  }
  void entry(uint32_t step, uint32_t slot, uint32_t token, uint32_t parent) {
    uint32_t* e = log_.data() + step * LogLayout::stride(record_.shape.slots()) + LogLayout::header + 4 * slot;
    e[0] = token;
    e[1] = parent;
  }
  Result<std::vector<int32_t>> history(uint32_t slot) {
    record_.log = log_;
    return slot_history(record_, slot, prefixes_);
  }
  SearchRecord record_;
  std::vector<uint32_t> log_;
  std::vector<std::vector<int32_t>> prefixes_{{5}, {6}};
};

TEST_F(SlotHistory, FollowsTheParents) {
  LAPILLI_ASSERT_VALUE(const auto a, history(2));
  EXPECT_THAT(a, ElementsAre(6, 10, 21, 30));
  LAPILLI_ASSERT_VALUE(const auto b, history(3));
  EXPECT_THAT(b, ElementsAre(6, 11, 20, 31));
  record_.steps = 0;
  LAPILLI_ASSERT_VALUE(const auto none, history(1));
  EXPECT_THAT(none, ElementsAre(5));
}

TEST_F(SlotHistory, SlotsThatDoNotExistAreErrors) {
  for (const uint32_t slot : {4u, 7u, 8u, 0xffffffffu}) {
    const auto first = history(slot);
    ASSERT_FALSE(first.ok()) << slot;
    EXPECT_EQ(first.error().code, ErrorCode::internal);
    EXPECT_THAT(first.error().message, HasSubstr("slot " + std::to_string(slot) + " of 4"));
    for (uint32_t step = 0; step < 3; ++step) {
      SlotHistory::entry(step, 2, 1, slot), SlotHistory::entry(step, 3, 1, slot);
      EXPECT_FALSE(history(2).ok()) << slot << " at step " << step;
      SlotHistory::entry(step, 2, 1, 2), SlotHistory::entry(step, 3, 1, 2);
    }
  }
  EXPECT_FALSE(history(0).ok());  // was never written
}

}  // namespace
}  // namespace lapilli
