// Normalization against the Unicode standard's own examples and against itself; regular expressions and their dialect.
#include "text/unicode/unicode.hpp"

#include <gtest/gtest.h>

#include <random>

#include "text/unicode/regex.hpp"
#include "text/unicode/regex_dialect.hpp"

namespace lapilli {
namespace {

using Text = std::vector<char32_t>;

Text normalized(const Text& text, UnicodeForm form) {
  Text out;
  for (const ChangedCharacter& c : normalize(text, form)) out.push_back(c.character);
  return out;
}

class Unicode : public testing::Test {
 protected:
  void SetUp() override {
    if (!unicode_available()) GTEST_SKIP() << "built without utf8proc";
  }
};

TEST_F(Unicode, Forms) {
  // Lines of NormalizationTest.txt, and cases that are easy to get wrong: reordering, Hangul, exclusions, blocking.
  const Text source{0x1E0A, 0x0323};
  EXPECT_EQ(normalized(source, UnicodeForm::nfc), (Text{0x1E0C, 0x0307}));
  EXPECT_EQ(normalized(source, UnicodeForm::nfd), (Text{0x0044, 0x0323, 0x0307}));
  EXPECT_EQ(normalized({0xAC01}, UnicodeForm::nfd), (Text{0x1100, 0x1161, 0x11A8}));
  EXPECT_EQ(normalized({0x1100, 0x1161, 0x11A8}, UnicodeForm::nfc), (Text{0xAC01}));
  EXPECT_EQ(normalized({0x0958}, UnicodeForm::nfc), (Text{0x0915, 0x093C}));  // excluded from composition
  EXPECT_EQ(normalized({0xFB01, 0x2126}, UnicodeForm::nfkc), (Text{'f', 'i', 0x03A9}));
  EXPECT_EQ(normalized({0xFB01, 0x2126}, UnicodeForm::nfc), (Text{0xFB01, 0x03A9}));
  EXPECT_EQ(normalized({'a', 0x0305, 0x0300}, UnicodeForm::nfc), (Text{'a', 0x0305, 0x0300}));  // blocked
  EXPECT_EQ(normalized({'a', 0x0316, 0x0300}, UnicodeForm::nfc), (Text{0x00E0, 0x0316}));
  EXPECT_EQ(normalized({0x0300, 'a'}, UnicodeForm::nfc), (Text{0x0300, 'a'}));
  EXPECT_EQ(normalized({0x0F73}, UnicodeForm::nfc), (Text{0x0F71, 0x0F72}));
}

TEST_F(Unicode, ChangesSayWhosePlaceACharacterTakes) {
  const auto changes = [](const Text& text, UnicodeForm form) {
    std::vector<int32_t> out;
    for (const ChangedCharacter& c : normalize(text, form)) out.push_back(c.change);
    return out;
  };
  using Changes = std::vector<int32_t>;
  EXPECT_EQ(changes({'x', 'e', 0x0301, 'y'}, UnicodeForm::nfc), (Changes{0, -1, 0}));
  EXPECT_EQ(changes({'x', 0x00E9, 'y'}, UnicodeForm::nfd), (Changes{0, 0, 1, 0}));
  EXPECT_EQ(changes({'x', 0x00E9, 'y'}, UnicodeForm::nfc), (Changes{0, 0, 0}));
  EXPECT_EQ(changes({0x1EA1, 0x0302}, UnicodeForm::nfc), (Changes{-1}));
  EXPECT_EQ(changes({0x0958}, UnicodeForm::nfc), (Changes{0, 1}));
}

TEST_F(Unicode, NormalizingTwiceChangesNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Text text;
    const size_t length = random() % 12;
    for (size_t i = 0; i < length; ++i) {
      const char32_t blocks[] = {'a', 0xC0, 0x300, 0x1100, 0xAC00, 0x900, 0x1E00, 0xFB00, 0x1D100, 0xF70};
      text.push_back(blocks[random() % 10] + random() % 0x60);
    }
    for (const UnicodeForm form : {UnicodeForm::nfc, UnicodeForm::nfd, UnicodeForm::nfkc, UnicodeForm::nfkd}) {
      const Text once = normalized(text, form);
      EXPECT_EQ(normalized(once, form), once);
    }
    EXPECT_EQ(normalized(normalized(text, UnicodeForm::nfd), UnicodeForm::nfc), normalized(text, UnicodeForm::nfc));
    EXPECT_EQ(normalized(normalized(text, UnicodeForm::nfc), UnicodeForm::nfd), normalized(text, UnicodeForm::nfd));
  }
}

TEST_F(Unicode, ManyMarksTakeNoQuadraticTime) {
  Text text{'a'};
  for (int i = 0; i < 500'000; ++i) text.push_back(i % 2 == 0 ? 0x0301 : 0x0316);
  EXPECT_EQ(normalize(text, UnicodeForm::nfc).size(), text.size() - 1);
}

TEST_F(Unicode, LowerCaseOfOneCharacterMayBeTwo) {
  Text out;
  append_lower(out, 0x130);
  append_lower(out, 0x3A3);
  append_lower(out, '1');
  EXPECT_EQ(out, (Text{'i', 0x307, 0x3C3, '1'}));
}

TEST_F(Unicode, Clusters) {
  EXPECT_EQ(grapheme_ends(""), (std::vector<size_t>{}));
  EXPECT_EQ(grapheme_ends("a\r\nb"), (std::vector<size_t>{1, 3, 4}));
  EXPECT_EQ(grapheme_ends("e\xCC\x81x"), (std::vector<size_t>{3, 4}));
}

class RegexTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!regex_available()) GTEST_SKIP() << "built without PCRE2";
  }
  static std::vector<std::string> all(const std::string& pattern, const std::string& text) {
    std::vector<std::string> out;
    const auto regex = Regex::compile(pattern);
    if (!regex) return ADD_FAILURE() << regex.error().message, out;
    const auto matches = regex->find_all(text);
    if (!matches) return ADD_FAILURE() << matches.error().message, out;
    for (const Regex::Match& m : *matches) out.push_back(text.substr(m.begin, m.end - m.begin));
    return out;
  }
};
using Texts = std::vector<std::string>;

TEST_F(RegexTest, SpeaksTheDialectOfTokenizerFiles) {
  EXPECT_EQ(all("\\h+", "x1Fg \t"), (Texts{"1F"}));  // hexadecimal digits, no blanks
  EXPECT_EQ(all("\\s+",
                "a\xE1\xA0\x8E"
                "b\xC2\x85"
                "c\xE3\x80\x80"),
            (Texts{"\xC2\x85", "\xE3\x80\x80"}));                        // no U+180E
  EXPECT_EQ(all("\\w+", "e\xCC\x81-a_1"), (Texts{"e\xCC\x81", "a_1"}));  // marks are part of words
  EXPECT_EQ(all("\\w", "\xC2\xBD"), (Texts{"\xC2\xBD"}));  // a fraction is a word character, but not in a class
  EXPECT_EQ(all("[\\w]", "\xC2\xBD"), (Texts{}));
  EXPECT_EQ(all("\\b.", "a e\xCC\x81"), (Texts{"a", " ", "e"}));  // marks do not end words
  EXPECT_EQ(all("[\\s,]+", "a, b"), (Texts{", "}));
  EXPECT_EQ(all("[^\\s]+", "a b"), (Texts{"a", "b"}));
  EXPECT_EQ(all("\\p{Han}+", "\xE4\xBA\xBA\xE3\x80\x81"), (Texts{"\xE4\xBA\xBA"}));  // the script, not its punctuation
  EXPECT_EQ(all("\\p{Letter}+", "ab1"), (Texts{"ab"}));
  EXPECT_EQ(all("^.", "a\nb"), (Texts{"a", "b"}));  // ^ is at every line
  EXPECT_EQ(all("x*", "axb"), (Texts{"", "x", ""}));
}

TEST_F(RegexTest, RefusesWhatItCannotSay) {
  for (const char* pattern : {"[a&&b]", "[a[bc]]", "(", "[a", "a\\", "\\p{Nonsense}", "[\\W]", "\\p{L", "(?<n"}) {
    EXPECT_FALSE(Regex::compile(pattern).ok()) << pattern;
  }
  EXPECT_FALSE(Regex::compile(std::string(1000, '(') + std::string(1000, ')')).ok());
  EXPECT_FALSE(Regex::compile(std::string(100'000, 'a')).ok());
  EXPECT_FALSE(Regex::compile("\xFF").ok());
}

TEST_F(RegexTest, BacktrackingEndsInAnError) {
  const auto regex = Regex::compile("(a+)+$");
  ASSERT_TRUE(regex.ok());
  const auto matches = regex->find_all(std::string(64, 'a') + "b");
  ASSERT_FALSE(matches.ok());
  EXPECT_NE(matches.error().message.find("limit"), std::string::npos) << matches.error().message;
}

TEST(RegexDialect, AnyPatternIsTranslatedOrRefused) {
  std::mt19937 random(3);
  const std::string alphabet = "[]()\\^$&|:-{}pPsSwWhH<?*+.aL=";
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern;
    for (size_t n = random() % 16; n > 0; --n) pattern += alphabet[random() % alphabet.size()];
    if (const auto regex = Regex::compile(pattern); regex.ok()) (void)regex->find_all("a [b] \xC3\xA9 {c}\n").ok();
  }
}

}  // namespace
}  // namespace lapilli
