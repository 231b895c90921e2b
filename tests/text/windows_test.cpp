// Long texts in windows: nothing is lost, and everything stands where it stood. Bounds, and who is cut of two.
#include <gtest/gtest.h>

#include <random>

#include "support/fixtures.hpp"
#include "text/tokenizer.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

class Windows : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without utf8proc or PCRE2";
    auto loaded = load_tokenizer(std::string(LAPILLI_TEST_DATA "/tokenizers/") + GetParam() + "/files", "");
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    tokenizer_ = std::move(*loaded);
  }
  std::unique_ptr<Tokenizer> tokenizer_;
};

INSTANTIATE_TEST_SUITE_P(All, Windows,
                         testing::Values("bert-uncased", "roberta-pairs", "albert", "xlnet", "modernbert"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

std::string random_words(std::mt19937& random, size_t most) {
  constexpr const char* kParts[] = {
      "the",    "fox ",   " Caf\u00e9", "e\u0301", "\u6771\u4eac", "\r\n",   "\u00a0",
      "  ",     "<mask>", "[SEP]",      "don't",   "1,234",        "\u0130", "\U0001f469\u200d\U0001f680",
      "\u2581", "\x07",   " "};
  std::string text;
  const size_t parts = random() % most;
  for (size_t i = 0; i < parts; ++i) text += kParts[random() % std::size(kParts)];
  return text;
}

// The rows of `of` in a window.
Encoding own_rows(const Encoding& window, int8_t of) {
  Encoding rows;
  for (size_t i = 0; i < window.ids.size(); ++i)
    if (window.texts[i] == of) rows.push(window.ids[i], window.offsets[i], 0, window.texts[i], window.words[i]);
  return rows;
}

TEST_P(Windows, HoldEveryIdInItsPlace) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_words(random, 60), question = random_words(random, 5);
    EncodeOptions options;
    if (round % 2) options.pair = question;
    LAPILLI_ASSERT_VALUE(const auto whole, tokenizer_->encode_windows(text, {}, options));
    ASSERT_EQ(whole.size(), 1U);
    const Encoding all = own_rows(whole[0], 0), asked = own_rows(whole[0], 1);
    const auto fixed = static_cast<uint32_t>(whole[0].ids.size() - all.ids.size());
    const uint32_t room = 1 + random() % 20, stride = random() % room;
    LAPILLI_ASSERT_VALUE(const auto windows, tokenizer_->encode_windows(text, {fixed + room, stride}, options));
    size_t end = 0;
    for (const Encoding& window : windows) {
      const Encoding rows = own_rows(window, 0);
      const size_t begin = end == 0 ? 0 : end - stride;
      EXPECT_LE(window.ids.size(), fixed + room);
      EXPECT_EQ(own_rows(window, 1).ids, asked.ids);
      for (size_t i = 0; i < rows.ids.size(); ++i) {
        ASSERT_LT(begin + i, all.ids.size());
        EXPECT_EQ(rows.ids[i], all.ids[begin + i]);
        EXPECT_EQ(rows.offsets[i], all.offsets[begin + i]);
        EXPECT_EQ(rows.words[i], all.words[begin + i]);
        EXPECT_LE(rows.offsets[i].end, text.size());
      }
      EXPECT_TRUE(begin + rows.ids.size() > end || all.ids.empty());
      end = begin + rows.ids.size();
    }
    EXPECT_EQ(end, all.ids.size());
  }
}

TEST_P(Windows, AreRefusedWithAdvice) {
  const std::string text(200, 'a'), question = "Which of them is the longest of all?";
  EncodeOptions options;
  options.pair = question;
  const auto no_room = tokenizer_->encode_windows(text, {8, 0}, options);
  ASSERT_FALSE(no_room.ok());
  EXPECT_NE(no_room.error().message.find("shorten the question"), std::string::npos) << no_room.error().message;
  std::string words;
  for (int i = 0; i < 100; ++i) words += "fox ";
  const auto too_much = tokenizer_->encode_windows(words, {12, 12});
  ASSERT_FALSE(too_much.ok());
  EXPECT_NE(too_much.error().message.find("smaller stride"), std::string::npos) << too_much.error().message;
  const auto too_long = tokenizer_->encode_windows(std::string((1U << 20) + 1, 'a'), {12, 2});
  ASSERT_FALSE(too_long.ok());
  EXPECT_NE(too_long.error().message.find("split it"), std::string::npos) << too_long.error().message;
  EXPECT_FALSE(tokenizer_->encode_windows("a\xff", {12, 2}).ok());
}

TEST_P(Windows, ThatHardlyMoveOnAreTooMany) {
  std::string words;
  for (int i = 0; i < 40000; ++i) words += "fox ";
  const auto many = tokenizer_->encode_windows(words, {512, 509});
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().message.find("windows of 512 ids: give a smaller stride"), std::string::npos)
      << many.error().message;
}

TEST_P(Windows, OneTextOfTwoIsCut) {
  const std::string first = "one two three four five six seven eight", second = "nine ten";
  EncodeOptions options;
  options.pair = second;
  LAPILLI_ASSERT_VALUE(const auto all, tokenizer_->encode_with_offsets(first, options));
  options.max_ids = all.ids.size() - 3;
  options.truncate = Truncate::only_first;
  LAPILLI_ASSERT_VALUE(const auto cut, tokenizer_->encode_with_offsets(first, options));
  EXPECT_EQ(own_rows(cut, 0).ids.size(), own_rows(all, 0).ids.size() - 3);
  EXPECT_EQ(own_rows(cut, 1).ids, own_rows(all, 1).ids);
  options.truncate = Truncate::only_second;
  options.pair = first;
  LAPILLI_ASSERT_VALUE(const auto other, tokenizer_->encode_with_offsets(second, options));
  EXPECT_EQ(other.ids.size(), options.max_ids);
  EXPECT_EQ(own_rows(other, 0).ids.size(), own_rows(all, 1).ids.size());
  options.max_ids = 5;
  const auto nothing_left = tokenizer_->encode_with_offsets(first, options);
  ASSERT_FALSE(nothing_left.ok());
  EXPECT_NE(nothing_left.error().message.find("shorten it"), std::string::npos) << nothing_left.error().message;
}

}  // namespace
}  // namespace lapilli
