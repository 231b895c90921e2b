#include "base/counts.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace lapilli {
namespace {

TEST(Counts, DigitsInGroupsOfThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(12345), "12,345");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Counts, OneIsSingular) {
  EXPECT_EQ(counted(0, "layer"), "0 layers");
  EXPECT_EQ(counted(1, "layer"), "1 layer");
  EXPECT_EQ(counted(2000, "layer"), "2,000 layers");
}

TEST(Counts, ParametersAndSizesInTheirUnits) {
  EXPECT_EQ(parameters_text(126288), "126,288 parameters");
  EXPECT_EQ(parameters_text(999'999), "999,999 parameters");
  EXPECT_EQ(parameters_text(37'760'640), "37.8 million parameters");
  EXPECT_EQ(size_text(1), "1 KiB");
  EXPECT_EQ(size_text(1025), "2 KiB");
  EXPECT_EQ(size_text(uint64_t{3} << 19), "1.5 MiB");
}

}  // namespace
}  // namespace lapilli
