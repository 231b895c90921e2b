// Room for the lists of a session: bounded, whatever the sentences ask for; masks of shortlists are there from a
// sentence's admission to its end alone.
#include "search/list_room.hpp"

#include <gtest/gtest.h>

#include "formats/shortlist.hpp"
#include "search/allowed_ids.hpp"
#include "search/workspace_key.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

constexpr uint64_t kBinding = (uint64_t{128} << 20) / 4;  // words that every device binds

TEST(ListRoom, OneForAllOrTwoForEach) {
  EXPECT_EQ(list_room(0, 0), 256u);
  EXPECT_EQ(list_room(300, 0), 512u);
  EXPECT_EQ(list_room(1000, 4), 16384u);  // 9,000
}

TEST(ListRoom, NeverMoreThanABindingAndNeverLessThanOneSentence) {
  constexpr uint32_t kMask = (1u << 21) / 32, kRunning = state::MAX_ROWS;
  EXPECT_GT(uint64_t{kMask} * 2 * kRunning, kBinding);  // what all would take
  for (const uint64_t words : {uint64_t{1} << 12, uint64_t{kMask}, (uint64_t{1} << 20) + kMask}) {
    WorkspaceKey key = plain_key(kRunning, 1, 8, 8);
    key.shape.list_words = list_room(words, kRunning);
    complete_key(key, kRunning);
    EXPECT_GE(key.shape.list_words, words);
    EXPECT_LE(uint64_t{key.shape.list_words}, kBinding);
    EXPECT_LE(uint64_t{key.shape.inbox_words}, kBinding);
  }
}

TEST(ListRoom, WhatDoesNotFitWaitsForRoom) {
  ListRoom room(256);
  const std::vector<uint32_t> first(200, 1), second(100, 2);
  ASSERT_TRUE(room.hold(first).has_value());
  EXPECT_FALSE(room.hold(second).has_value());
  room.release(first);
  EXPECT_TRUE(room.hold(second).has_value());
}

TEST(AllowedIds, AreThereWhileTheSentenceIs) {
  const std::string name =
      std::string(LAPILLI_TEST_DATA) + "/formats/firefox-shared-int8-alphas/lex.50.50.enpt.s2t.bin";
  constexpr uint32_t kIds = 257;
  LAPILLI_ASSERT_VALUE(const auto list,
                       Shortlist::read(name, {.source = kIds - 1, .target = kIds - 1, .shared = true}));
  Sentence s;
  s.source = {5, 9, 0};
  s.options.end_ids = {0};
  s.words.params.assign(state::PARAM_WORDS, 0);
  s.words.lists = {7, 8};
  add_allowed_ids(s, kIds);
  EXPECT_EQ(s.words.lists.size(), 2u) << "without a list all ids are allowed";
  s.shortlist = &list;
  for (int admission = 0; admission < 2; ++admission) {
    add_allowed_ids(s, kIds);
    add_allowed_ids(s, kIds);  // tried again, for there was no slot
    ASSERT_EQ(s.words.lists.size(), 2 + allowed_words(kIds));
    EXPECT_EQ(s.words.params[state::P_SHORTLIST], 3u);
    EXPECT_EQ(s.words.lists[2] & 1u, 1u) << "the end is allowed";
    drop_allowed_ids(s);
    EXPECT_EQ(s.words.lists, (std::vector<uint32_t>{7, 8}));
    EXPECT_EQ(s.words.params[state::P_SHORTLIST], 0u);
  }
}

}  // namespace
}  // namespace lapilli
