// Words of segments: what belongs together, when it was heard, how likely it was. With a tokenizer whose ids are bytes.
#include "speech/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/fixtures.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::speech {
namespace {

using testing::ElementsAre;

constexpr int32_t kFirstByte = 3, kTimestamps = 400;

class Words : public testing::Test {
 protected:
  void SetUp() override {
    (void)folder_.write("tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})");
    LAPILLI_ASSERT_VALUE(tokenizer_, load_tokenizer(folder_.path(), "t5"));
  }
  // Between two timestamps; an id is heard each tenth of a second from 10 s on.
  static Segment segment(const std::string& text) {
    Segment s;
    s.text = text;
    s.ids.push_back(kTimestamps);
    for (const char c : text) s.ids.push_back(kFirstByte + static_cast<unsigned char>(c));
    s.ids.push_back(kTimestamps + 7);
    for (size_t k = 0; k < s.ids.size(); ++k) s.times.push_back(10 + 0.1 * static_cast<double>(k));
    s.token_scores.assign(s.ids.size(), std::log(0.5f));
    s.begin = 10;
    s.end = 10 + 0.1 * static_cast<double>(s.ids.size());
    return s;
  }
  std::vector<std::string> texts(const std::string& text) {
    std::vector<std::string> all;
    const auto words = words_of(segment(text), *tokenizer_, kTimestamps);
    EXPECT_TRUE(words.ok());
    std::string joined;
    for (const Word& w : *words) all.push_back(w.text), joined += w.text;
    EXPECT_EQ(joined, text);
    return all;
  }
  TempDirectory folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(Words, StandBetweenBlanks) {
  EXPECT_THAT(texts(" Hello, world! It's ten-thirty."), ElementsAre(" Hello,", " world!", " It's", " ten-thirty."));
  EXPECT_THAT(texts("One"), ElementsAre("One"));
  EXPECT_THAT(texts(""), ElementsAre());
  EXPECT_THAT(texts(" a  b "), ElementsAre(" a", "  b "));
}

TEST_F(Words, SignsBelongToWords) {
  EXPECT_THAT(texts(" He said: \"Go - now!\" (then) left ..."),
              ElementsAre(" He", " said:", " \"Go -", " now!\"", " (then)", " left ..."));
  EXPECT_THAT(texts(" « Oui » dit-il"), ElementsAre(" « Oui »", " dit-il"));
  EXPECT_THAT(texts("..."), ElementsAre("..."));
}

TEST_F(Words, WhereNoBlanksAreWritten) {
  EXPECT_THAT(texts("你好，世界。"), ElementsAre("你", "好，", "世", "界。"));
  EXPECT_THAT(texts("私はTom です"), ElementsAre("私", "は", "Tom", " で", "す"));
}

TEST_F(Words, LastUntilTheNextId) {
  Segment s = segment(" ab cd");
  s.token_scores[2] = std::log(0.2f);
  s.token_scores[3] = std::log(0.8f);
  LAPILLI_ASSERT_VALUE(const auto words, words_of(s, *tokenizer_, kTimestamps));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].first, 1u);
  EXPECT_EQ(words[0].last, 4u);
  EXPECT_DOUBLE_EQ(words[0].begin, s.times[1]);
  EXPECT_DOUBLE_EQ(words[0].end, s.times[4]);
  EXPECT_NEAR(words[0].probability, (0.5 + 0.2 + 0.8) / 3, 1e-6);
  EXPECT_EQ(words[1].last, 7u);
  EXPECT_DOUBLE_EQ(words[1].end, s.times[7]);  // that of the timestamp behind
  s.ids.pop_back();
  s.times.pop_back();
  s.token_scores.clear();
  LAPILLI_ASSERT_VALUE(const auto open, words_of(s, *tokenizer_, kTimestamps));
  EXPECT_DOUBLE_EQ(open[1].end, s.end);
  EXPECT_TRUE(std::isnan(open[1].probability));
  s.times.clear();
  EXPECT_FALSE(words_of(s, *tokenizer_, kTimestamps).ok());
}

// Ids that the text does not show, as where a decoder tidies up, leave the words whole.
TEST_F(Words, OfATextThatIsNotItsIds) {
  Segment s = segment(" ab cd");
  s.text = "AB cd";
  LAPILLI_ASSERT_VALUE(const auto words, words_of(s, *tokenizer_, kTimestamps));
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].text + words[1].text, s.text);
}

}  // namespace
}  // namespace lapilli::speech
