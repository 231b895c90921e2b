#include "text/unicode/utf8.hpp"

#include <gtest/gtest.h>

namespace lapilli {
namespace {

constexpr size_t kValid = std::string_view::npos;

std::string utf8_of(uint32_t c) {
  std::string s;
  const auto add = [&](uint32_t byte) { s.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    add(c);
    return s;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  add((~(0xFFu >> (more + 1)) & 0xFF) | c >> (6 * more));
  for (int k = more - 1; k >= 0; --k) add(0x80 | (c >> (6 * k) & 63));
  return s;
}

TEST(Utf8, AcceptsEveryScalarValueAndNothingElse) {
  for (uint32_t c = 0; c < 0x110000; ++c) {
    const std::string s = utf8_of(c);
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    ASSERT_EQ(find_invalid_utf8(s), surrogate ? 0 : kValid) << std::hex << c;
  }
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(find_invalid_utf8(""), kValid);
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2u);
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("a\xE0\x80\xAF"), 1u);     // overlong
  EXPECT_EQ(find_invalid_utf8("\xF0\x80\x80\xAF"), 0u);  // overlong
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("abc\xE2\x82"), 3u);       // cut off
  EXPECT_EQ(find_invalid_utf8("\xFF"), 0u);
}

TEST(Utf8, CheckSaysWhere) {
  EXPECT_TRUE(check_utf8("caf\xC3\xA9", "line 1").ok());
  const Status s = check_utf8("caf\xE9!", "line 1");
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.error().message.find("line 1 is not valid UTF-8: byte 0xe9 at offset 3"), std::string::npos)
      << s.error().message;
}

TEST(Utf8, ReplacesMaximalParts) {
  EXPECT_EQ(replace_invalid_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(replace_invalid_utf8("a\xF1\x80\x80z"), "a\xEF\xBF\xBDz");      // one cut-off sequence
  EXPECT_EQ(replace_invalid_utf8("\xE0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // two bytes that fit nowhere
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // surrogate
  EXPECT_EQ(replace_invalid_utf8("\xC3"), "\xEF\xBF\xBD");
}

TEST(Utf8, StripsUnicodeSpaces) {
  EXPECT_EQ(strip(" \t\xC2\xA0\xE3\x80\x80"
                  "a b\xE2\x80\xA8\n"),
            "a b");
  EXPECT_EQ(strip("\xE2\x80\x8B"), "\xE2\x80\x8B");  // zero width space is no white space
  EXPECT_EQ(strip(" \xE2\x80\x89"), "");
  EXPECT_EQ(strip_left(" a "), "a ");
  EXPECT_EQ(strip_right(" a "), " a");
}

TEST(Utf8, QuotesForMessages) {
  EXPECT_EQ(quote_text("a\n\xFF\xC3\xA9"), "\"a\\x0a\\xff\xC3\xA9\"");
  EXPECT_EQ(quote_text("abcdef", 3), "\"abc...\"");
  EXPECT_EQ(quote_text("ab\xC3\xA9", 3), "\"ab...\"");
}

}  // namespace
}  // namespace lapilli
