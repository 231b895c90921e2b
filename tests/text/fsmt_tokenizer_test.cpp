// Moses' rules and FSMT's byte pair encoding. No record of the reference implementation covers them: what is expected
// here was worked out from the rules as its tokenizer applies them.
#include <gtest/gtest.h>

#include <random>

#include "support/temp_directory.hpp"
#include "text/kinds/moses.hpp"
#include "text/kinds/own_tokenizers.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

using Ids = std::vector<int32_t>;

// Words with spaces between them.
std::string words(std::string_view text, std::string_view language) {
  std::string out;
  for (const MosesText& word : moses_tokenize(moses_text(text, 0), language)) {
    if (!out.empty()) out += ' ';
    for (const MosesCharacter& c : word) append_utf8(out, c.code);
  }
  return out;
}

class Moses : public testing::Test {
 protected:
  void SetUp() override {
    if (!unicode_available()) GTEST_SKIP() << "built without Unicode";
  }
};

TEST_F(Moses, SetsPunctuationApart) {
  EXPECT_EQ(words("Hello, world!", "en"), "Hello , world !");
  EXPECT_EQ(words("1,234,567.89 and 5,", "en"), "1,234,567.89 and 5 ,");
  EXPECT_EQ(words("state-of-the-art -42", "en"), "state @-@ of @-@ the @-@ art -42");
  EXPECT_EQ(words("a...b ..c d.. e.'", "en"), "a ... b .. c d .. e . &apos;");
  EXPECT_EQ(words("<a> & [b] | \"c\"", "en"), "&lt; a &gt; &amp; &#91; b &#93; &#124; &quot; c &quot;");
  EXPECT_EQ(words("", "en"), "");
  EXPECT_EQ(words(" \t ", "en"), "");
}

TEST_F(Moses, KnowsApostrophesOfLanguages) {
  EXPECT_EQ(words("isn't it Jones' 1990's", "en"), "isn &apos;t it Jones &apos; 1990 &apos;s");
  EXPECT_EQ(words("l'homme d'hier", "fr"), "l&apos; homme d&apos; hier");
  EXPECT_EQ(words("wie geht's", "de"), "wie geht &apos; s");
}

TEST_F(Moses, KeepsAbbreviations) {
  EXPECT_EQ(words("Mr. Smith of U.S. origin. No. 5 is No. Five.", "en"),
            "Mr. Smith of U.S. origin . No. 5 is No . Five .");
  EXPECT_EQ(words("J. Doe etc. and so on.", "en"), "J. Doe etc. and so on .");
}

TEST_F(Moses, MakesPunctuationUniform) {
  EXPECT_EQ(words("\xE2\x80\x9CGo\xE2\x80\x9D \xE2\x80\x93 yes\xE2\x80\xA6", "en"), "&quot; Go &quot; - yes ...");
  EXPECT_EQ(words("\"Go\",", "en"), "&quot; Go , &quot;");  // English: the comma goes inside
  EXPECT_EQ(words("\"Go,\"", "de"), "&quot; Go &quot; ,");
  EXPECT_EQ(words("3\xC2\xA0"
                  "000 km\xC2\xA0?",
                  "fr"),
            "3,000 km ?");
  EXPECT_EQ(words("3\xC2\xA0"
                  "000",
                  "en"),
            "3.000");
  EXPECT_EQ(words("\xEF\xBC\x91\xE3\x80\x82 X", "en"), "1 . X");
}

TEST_F(Moses, JoinsAgain) {
  EXPECT_EQ(moses_detokenize({"isn", "&apos;t", "it", "?"}, "en"), "isn't it?");
  EXPECT_EQ(moses_detokenize({"l&apos;", "homme"}, "fr"), "l'homme");
  EXPECT_EQ(moses_detokenize({"Er", "sagt", ":", "&quot;", "gut", "&quot;", "."}, "de"), "Er sagt: \"gut\".");
  EXPECT_EQ(moses_detokenize({"state", "@-@", "of", "$", "5", "(", "x", ")"}, "en"), "state-of $5 (x)");
  EXPECT_EQ(moses_detokenize({}, "en"), "");
  EXPECT_EQ(moses_detokenize({"&amp;lt;"}, "en"), "&lt;");
  for (const char* text :
       {"She said: \"I don't know whether it's raining, but we'll see.\"", "Costs 50% (or $9.99)."}) {
    std::vector<std::string> list;
    for (const MosesText& word : moses_tokenize(moses_text(text, 0), "en")) {
      list.emplace_back();
      for (const MosesCharacter& c : word) append_utf8(list.back(), c.code);
    }
    EXPECT_EQ(moses_detokenize(list, "en"), text);
  }
}

TEST_F(Moses, RangesStayWithinTheText) {
  std::mt19937 random(9);
  const char* const parts[] = {"a",        "B",           ".",
                               ",",        "'",           "\"",
                               " ",        "-",           "1",
                               "\xC2\xA0", "\xC2\xAB",    "\xE2\x80\xA6",
                               "(",        ")",           "\xE4\xBA\xBA",
                               "\xCC\x81", "\n",          "%",
                               "`",        "\xE2\x80\x94"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint32_t n = random() % 30; n > 0; --n) text += parts[random() % std::size(parts)];
    const char* const language = round % 3 == 0 ? "en" : round % 3 == 1 ? "fr" : "de";
    for (const MosesText& word : moses_tokenize(moses_text(text, 0), language)) {
      ASSERT_FALSE(word.empty()) << text;
      for (const MosesCharacter& c : word) {
        ASSERT_LE(c.range.begin, c.range.end);
        ASSERT_LE(c.range.end, text.size());
      }
    }
  }
}

class Fsmt : public Moses {
 protected:
  void write() const {
    directory_.write(
        "vocab-src.json",
        R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"he":4,"l":5,"lo</w>":6,"&apos;</w>":7,"t</w>":8,",</w>":9})");
    directory_.write("vocab-tgt.json", R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"l":4,"&apos;</w>":5,"hom":6,)"
                                       R"("me</w>":7,".</w>":8,"l&apos;</w>":9})");
    directory_.write("merges.txt", "h e 10\nl o</w> 9\n& a\n&a p\n&ap o\n&apo s\n&apos ;</w>\n");
    directory_.write("tokenizer_config.json", R"({"langs":["en","fr"]})");
  }
  TempDirectory directory_;
};

TEST_F(Fsmt, EncodesAndDecodes) {
  write();
  auto loaded = load_tokenizer(directory_.path(), "fsmt");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Tokenizer& t = **loaded;
  EXPECT_EQ(t.special().eos, 2);
  EXPECT_EQ(t.vocabulary_size(TextSide::source), 10u);
  const auto encoding = t.encode_with_offsets("hello, 't");
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encoding->ids, (Ids{4, 5, 6, 9, 7, 8, 2}));
  EXPECT_EQ(encoding->offsets, (std::vector<ByteRange>{{0, 2}, {2, 3}, {3, 5}, {5, 6}, {7, 8}, {8, 9}, {0, 0}}));
  EXPECT_EQ(*t.encode("hello</s>"), (Ids{4, 5, 6, 2, 2}));
  EXPECT_EQ(*t.decode(Ids{9, 6, 7, 8, 2}), "l'homme.");
  EXPECT_EQ(*t.decode(Ids{6, 7, 2, 99}, false), "homme </s><unk>");
}

TEST_F(Fsmt, NamesWhatIsMissing) {
  write();
  directory_.write("tokenizer_config.json", "{}");
  auto t = load_tokenizer(directory_.path(), "fsmt");
  ASSERT_FALSE(t.ok());
  EXPECT_NE(t.error().message.find("langs"), std::string::npos) << t.error().message;
  directory_.write("config.json", R"({"langs":["en","fr"]})");
  EXPECT_TRUE(load_tokenizer(directory_.path(), "fsmt").ok());
  directory_.remove("vocab-tgt.json");
  t = load_tokenizer(directory_.path(), "fsmt");
  ASSERT_FALSE(t.ok());
  EXPECT_NE(t.error().message.find("vocab-tgt.json"), std::string::npos) << t.error().message;
}

}  // namespace
}  // namespace lapilli
