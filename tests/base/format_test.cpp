// Patterns of messages: conversions as printf has them, by the values' own types.
#include "base/format.hpp"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>

namespace lapilli {
namespace {

template <class... Values>
std::string printed(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof(text), pattern, values...);
  return text;
}

TEST(Format, WholeNumbersOfEveryWidth) {
  EXPECT_EQ(format("%u %d", uint64_t{18446744073709551615u}, int64_t{INT64_MIN}),
            "18446744073709551615 -9223372036854775808");
  EXPECT_EQ(format("%u %d %u", uint8_t{255}, int8_t{-128}, true), "255 -128 1");
  // The type decides about the sign, not the letter.
  EXPECT_EQ(format("%u %d", -1, uint32_t{0xffffffff}), "-1 4294967295");
}

TEST(Format, WidthsFlagsAndStarsAsPrintf) {
  EXPECT_EQ(format("[%5d|%-5d|%05d|%+d]", 42, 42, 42, 42), printed("[%5d|%-5d|%05d|%+d]", 42, 42, 42, 42));
  EXPECT_EQ(format("[%08x|%X|%#x]", 48879u, 48879u, 1u), printed("[%08x|%X|%#x]", 48879u, 48879u, 1u));
  EXPECT_EQ(format("[%.3f|%8.2f|%g|%.0f|%e]", 3.14159, 2.5, 1e-7, 0.5, 12345.678),
            printed("[%.3f|%8.2f|%g|%.0f|%e]", 3.14159, 2.5, 1e-7, 0.5, 12345.678));
  EXPECT_EQ(format("[%10s|%-10s|%.3s]", "right", "left", "short"),
            printed("[%10s|%-10s|%.3s]", "right", "left", "short"));
  EXPECT_EQ(format("[%*d|%.*s|%-*s]", 6, 7, 2, "abc", 4, "x"), printed("[%*d|%.*s|%-*s]", 6, 7, 2, "abc", 4, "x"));
  EXPECT_EQ(format("100 %% of %c", 'a'), "100 % of a");
}

TEST(Format, StringsOfEveryKind) {
  const std::string text = "a string";
  const char* const none = nullptr;
  EXPECT_EQ(format("%s, %s, %s", text, std::string_view(text).substr(2), text.c_str()), "a string, string, a string");
  EXPECT_EQ(format("%s", none), "null");
  EXPECT_EQ(format("%s", std::string(100'000, 'x')).size(), 100'000u);
  EXPECT_EQ(format("%s", std::string("a\0b", 3)).size(), 3u);
}

TEST(Format, WidthsAreLimited) {
  EXPECT_LE(format("%*d", 2'000'000'000, 1).size(), 4096u);
  EXPECT_LE(format("%2000000000d", 1).size(), 4096u);
  EXPECT_EQ(format("%*d", -5, 1), "1");
}

TEST(Format, UncheckedPatternsNeverReadWhatIsNotThere) {
  const FormatValue values[] = {7, "text", 1.5};
  EXPECT_EQ(format_values("%s %d %u %s", values, 3), "7 text 1.5 ?");
  EXPECT_EQ(format_values("%", values, 3), "7");
  EXPECT_EQ(format_values("%*.*s", values, 1), "?");
}

}  // namespace
}  // namespace lapilli
