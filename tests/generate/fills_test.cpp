// Masks: where they are, the words that come into them, and the text with a word.
#include "generate/encoders/fills.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/fixtures.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

class Fills : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without utf8proc or PCRE2";
    auto loaded = load_tokenizer(std::string(LAPILLI_TEST_DATA "/tokenizers/") + GetParam() + "/files", "");
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    tokenizer_ = std::move(*loaded);
    mask_ = tokenizer_->token(tokenizer_->special().mask);
  }
  Encoding encoded(const std::string& text) {
    auto e = tokenizer_->encode_with_offsets(text);
    EXPECT_TRUE(e.ok());
    return e ? std::move(*e) : Encoding();
  }
  // The first id of " fox" in a text.
  int32_t fox() { return encoded("a fox").ids.at(tokenizer_->pads_left() ? 1 : 2); }
  std::vector<float> logits_for(int32_t id) {
    std::vector<float> logits(tokenizer_->vocabulary_size(), 0.0F);
    logits.at(static_cast<size_t>(id)) = 20.0F;
    return logits;
  }
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string mask_;
};

INSTANTIATE_TEST_SUITE_P(All, Fills,
                         testing::Values("bert-uncased", "roberta-pairs", "albert", "camembert", "modernbert"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Fills, AnotherModelsMaskIsNone) {
  const std::string other = mask_ == "[MASK]" ? "<mask>" : "[MASK]";
  const auto none = find_masks(encoded("I ate a " + other + "."), *tokenizer_);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find(mask_), std::string::npos) << none.error().message;
  EXPECT_FALSE(find_masks(encoded(""), *tokenizer_).ok());
}

TEST_P(Fills, AListForEachMaskInOrder) {
  const Encoding e = encoded("I ate a " + mask_ + " and a " + mask_ + ".");
  LAPILLI_ASSERT_VALUE(const auto rows, find_masks(e, *tokenizer_));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_LT(rows[0], rows[1]);
  const int32_t id = fox();
  for (const uint32_t row : rows) {
    LAPILLI_ASSERT_VALUE(const auto fills, best_fills(e, row, logits_for(id), *tokenizer_, 3));
    ASSERT_EQ(fills.size(), 3U);
    EXPECT_EQ(fills[0].token, id);
    EXPECT_GT(fills[0].score, fills[1].score);
    // The other mask stays, special ids go.
    EXPECT_NE(fills[0].text.find(mask_), std::string::npos) << fills[0].text;
    EXPECT_EQ(fills[0].text.find("[CLS]"), std::string::npos) << fills[0].text;
    EXPECT_EQ(fills[0].text.find("<s>"), std::string::npos) << fills[0].text;
  }
}

TEST_P(Fills, WordsAreCleanAtTheBeginningToo) {
  const Encoding e = encoded(mask_ + " jumps");
  LAPILLI_ASSERT_VALUE(const auto rows, find_masks(e, *tokenizer_));
  ASSERT_EQ(rows.size(), 1U);
  LAPILLI_ASSERT_VALUE(const auto fills,
                       best_fills(e, rows[0], logits_for(fox()), *tokenizer_, static_cast<uint32_t>(-1)));
  EXPECT_EQ(fills.size(), tokenizer_->vocabulary_size());
  for (const Fill& fill : fills) {
    EXPECT_EQ(fill.text.find(mask_), std::string::npos) << fill.text;
    EXPECT_FALSE(fill.word.starts_with(" ") || fill.word.starts_with("\u2581") || fill.word.starts_with("\u0120"))
        << fill.word;
    EXPECT_FALSE(fill.word.size() > 2 && fill.word.starts_with("##")) << fill.word;
    EXPECT_TRUE(fill.word.empty() || fill.word.starts_with("#") || !fill.text.starts_with("##")) << fill.text;
  }
  EXPECT_NEAR(fills[0].score, 1 / (1 + (static_cast<double>(fills.size()) - 1) * std::exp(-20.0)), 1e-9);
  EXPECT_NE(fills[0].text.find("jumps"), std::string::npos);
}

TEST_P(Fills, DamagedLogitsEndInNumbersThatAreNone) {
  const Encoding e = encoded(mask_);
  const std::vector<float> none(tokenizer_->vocabulary_size(), std::nanf(""));
  LAPILLI_ASSERT_VALUE(const auto fills, best_fills(e, 0, none, *tokenizer_, 2));
  ASSERT_EQ(fills.size(), 2U);
  EXPECT_TRUE(std::isnan(fills[0].score));
  LAPILLI_ASSERT_VALUE(const auto empty, best_fills(e, 0, {}, *tokenizer_, 2));
  EXPECT_TRUE(empty.empty());
}

}  // namespace
}  // namespace lapilli
