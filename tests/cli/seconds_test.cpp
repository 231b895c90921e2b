// Times of recordings as they are typed.
#include "cli/arguments/seconds.hpp"

#include <gtest/gtest.h>

#include <string>

namespace lapilli::cli {
namespace {

TEST(Seconds, SecondsMinutesAndHours) {
  EXPECT_EQ(seconds_in("0"), 0);
  EXPECT_EQ(seconds_in("90"), 90);
  EXPECT_NEAR(seconds_in("90.25").value_or(0), 90.25, 1e-9);
  EXPECT_EQ(seconds_in("1:30"), 90);
  EXPECT_EQ(seconds_in("75:00"), 4500);
  EXPECT_NEAR(seconds_in("01:02:03.5").value_or(0), 3723.5, 1e-9);
  EXPECT_EQ(seconds_in("100:00:00"), 360000);
}

TEST(Seconds, OthersAreNone) {
  for (const char* text :
       {"",       "-1",   "+1", "1.", ".5",  "1e3", "1:60",        "1:2:60",        "1:", ":1", "1:2:3:4",
        "1.5:00", "0x10", " 1", "1 ", "inf", "nan", "99999999999", "9999999:00:00", "1,5"})
    EXPECT_FALSE(seconds_in(text).has_value()) << text;
  EXPECT_FALSE(seconds_in(std::string(100000, '9')).has_value());
}

}  // namespace
}  // namespace lapilli::cli
