// Outputs that end in a loop.
#include "generate/repeats.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace lapilli {
namespace {

using Ids = std::vector<int32_t>;

// `before` other ids, then `times` a phrase of `length`, then `rest` ids of it once more.
Ids looped(size_t before, size_t length, size_t times, size_t rest = 0) {
  Ids ids(before);
  std::iota(ids.begin(), ids.end(), 1000);
  for (size_t i = 0; i < length * times + rest; ++i) ids.push_back(static_cast<int32_t>(i % length));
  return ids;
}

TEST(Repeats, LoopsAreTold) {
  EXPECT_TRUE(ends_in_loop(looped(0, 1, 12)));
  EXPECT_TRUE(ends_in_loop(looped(5, 2, 6)));
  EXPECT_TRUE(ends_in_loop(looped(20, 7, 4)));
  EXPECT_TRUE(ends_in_loop(looped(20, 7, 4, 3)));
  EXPECT_TRUE(ends_in_loop(looped(0, 64, 4)));
  Ids ended = looped(20, 7, 5);
  ended.push_back(2);  // a full stop
  EXPECT_TRUE(ends_in_loop(ended));
  ended.push_back(3);
  EXPECT_FALSE(ends_in_loop(ended));
}

TEST(Repeats, WhatPeopleRepeatIsNone) {
  EXPECT_FALSE(ends_in_loop({}));
  EXPECT_FALSE(ends_in_loop(looped(30, 1, 0)));
  EXPECT_FALSE(ends_in_loop(looped(0, 1, 11)));  // "ha ha ha"
  EXPECT_FALSE(ends_in_loop(looped(9, 3, 3)));
  EXPECT_FALSE(ends_in_loop(looped(9, 20, 3)));
  Ids goes_on = looped(0, 5, 10);
  for (int32_t i = 100; i < 110; ++i) goes_on.push_back(i);
  EXPECT_FALSE(ends_in_loop(goes_on));
}

}  // namespace
}  // namespace lapilli
