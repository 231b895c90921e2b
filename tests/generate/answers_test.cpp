// Answers: hand-made windows and logits against the rules of question-answering.
#include "generate/encoders/answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace lapilli {
namespace {

constexpr int32_t kClassId = 1, kEndId = 2;

// A window over a text of words: [CLS] question [SEP] words [SEP]; ids do not matter. Logits are ln of given weights.
struct AskedWindow {
  Encoding encoding;
  std::vector<float> logits;

  void add(int32_t id, ByteRange bytes, int8_t text, int32_t word, double begins, double ends) {
    encoding.push(id, bytes, 0, text, word);
    logits.push_back(static_cast<float>(std::log(begins)));
    logits.push_back(static_cast<float>(std::log(ends)));
  }
  [[nodiscard]] AnswerWindow view() const { return {&encoding, logits}; }
};

struct WeighedToken {
  ByteRange bytes;
  int32_t word;
  double begins, ends;
};

AskedWindow asked(double none, const std::vector<WeighedToken>& tokens) {
  AskedWindow w;
  w.add(kClassId, {}, -1, -1, none, none);
  w.add(9, {0, 3}, 1, 0, 1000, 1000);  // of the question: never an answer
  w.add(kEndId, {}, -1, -1, 1000, 1000);
  for (const auto& t : tokens) w.add(9, t.bytes, 0, t.word, t.begins, t.ends);
  w.add(kEndId, {}, -1, -1, 1000, 1000);
  return w;
}

std::vector<Answer> answers_of(const std::string& text, const std::vector<AskedWindow>& windows,
                               const AnswerOptions& options = {}, int32_t cls = kClassId) {
  std::vector<AnswerWindow> views;
  for (const auto& w : windows) views.push_back(w.view());
  return best_answers(text, views, cls, options);
}

const std::string kAskedText = "the old port of Porto";
const std::vector<WeighedToken> kAskedTokens = {{{0, 3}, 0, 1, 1},   {{4, 7}, 1, 4, 1},   {{8, 10}, 2, 1, 1},
                                                {{10, 12}, 2, 1, 4}, {{13, 15}, 3, 1, 1}, {{16, 21}, 4, 1, 1}};

TEST(Answers, TheBestSpanOfTheTextAlone) {
  const auto best = answers_of(kAskedText, {asked(1, kAskedTokens)});
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(best[0].text, "old port");
  EXPECT_EQ(best[0].bytes, (ByteRange{4, 12}));
  // "old po" is widened to the same text.
  EXPECT_NEAR(best[0].score, 4.0 / 10 * 4 / 10 + 4.0 / 10 * 1 / 10, 1e-6);
}

TEST(Answers, HaveAtMostSoManyTokens) {
  AnswerOptions options;
  options.most_tokens = 2;
  for (const Answer& a : answers_of(kAskedText, {asked(1, kAskedTokens)}, options)) EXPECT_NE(a.text, "old port");
  options.most_tokens = UINT32_MAX;
  EXPECT_EQ(answers_of(kAskedText, {asked(1, kAskedTokens)}, options)[0].text, "old port");
}

TEST(Answers, AreWidenedToTheWordsOfTheWindow) {
  auto tokens = kAskedTokens;
  tokens[2].begins = 100;  // "po", of "port"
  tokens[3].ends = 1;
  tokens[2].ends = 100;
  EXPECT_EQ(answers_of(kAskedText, {asked(1, tokens)})[0].text, "port");
  AnswerOptions inside;
  inside.align_to_words = false;
  EXPECT_EQ(answers_of(kAskedText, {asked(1, tokens)}, inside)[0].text, "po");
  // A window that begins inside the word has no more of it.
  const std::vector<WeighedToken> rest(tokens.begin() + 3, tokens.end());
  EXPECT_EQ(answers_of(kAskedText, {asked(0.1, {{{10, 12}, 2, 9, 9}, rest[1], rest[2]})})[0].text, "rt");
}

TEST(Answers, OfOneTextAddUpOverWindowsAndPlaces) {
  const std::string text = "Porto, porto";
  const std::vector<WeighedToken> tokens = {{{0, 5}, 0, 4, 4}, {{5, 6}, 1, 1, 1}, {{7, 12}, 2, 4, 4}};
  AnswerOptions options;
  options.top = 9;
  options.most_tokens = 1;
  const auto best = answers_of(text, {asked(1, tokens), asked(1, {{{7, 12}, 2, 9, 9}})}, options);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].text, "Porto");
  EXPECT_EQ(best[0].bytes, (ByteRange{0, 5}));
  EXPECT_NEAR(best[0].score, 2 * 0.16 + 0.81, 1e-6);  // more than 1
  EXPECT_NEAR(best[1].score, 0.01, 1e-6);
}

TEST(Answers, NoAnswerCompetesByItsWeakestWindow) {
  AnswerOptions options;
  options.top = 2;
  EXPECT_EQ(answers_of(kAskedText, {asked(100, kAskedTokens)}, options)[0].text, "old port");
  options.allow_empty = true;
  const auto sure = answers_of(kAskedText, {asked(100, kAskedTokens)}, options);
  EXPECT_EQ(sure[0].text, "");
  EXPECT_EQ(sure[0].bytes, (ByteRange{0, 0}));
  EXPECT_NEAR(sure[0].score, std::pow(100.0 / 109, 2), 1e-6);
  options.top = 100;
  const auto both = answers_of(kAskedText, {asked(100, kAskedTokens), asked(1, kAskedTokens)}, options);
  EXPECT_EQ(both[0].text, "old port");
  for (const Answer& a : both) EXPECT_TRUE(!a.text.empty() || std::abs(a.score - 0.01) < 1e-6);
  EXPECT_EQ(std::count_if(both.begin(), both.end(), [](const Answer& a) { return a.text.empty(); }), 1);
}

TEST(Answers, TheClassTokenMayStandBehindTheText) {
  AskedWindow w;
  for (const auto& t : kAskedTokens) w.add(9, t.bytes, 0, t.word, t.begins, t.ends);
  w.add(kClassId, {}, -1, -1, 50, 50);
  AnswerOptions options;
  options.allow_empty = true;
  EXPECT_NEAR(answers_of(kAskedText, {w}, options)[0].score, std::pow(50.0 / 59, 2), 1e-6);
  options.allow_empty = false;
  EXPECT_EQ(answers_of(kAskedText, {w}, options)[0].text, "old port");
  options.top = 100;
  for (const Answer& a : answers_of(kAskedText, {w}, options)) EXPECT_FALSE(a.text.empty());
}

TEST(Answers, NothingComesOfNothing) {
  AnswerOptions options;
  options.top = 5;
  options.allow_empty = true;
  EXPECT_TRUE(answers_of("", {}, options).empty());
  EXPECT_TRUE(answers_of("", {AskedWindow()}, options).empty());
  AskedWindow damaged = asked(1, kAskedTokens);
  damaged.logits.assign(damaged.logits.size(), std::nanf(""));
  EXPECT_TRUE(answers_of(kAskedText, {damaged}, options).empty());
  options.top = 0;
  EXPECT_TRUE(answers_of(kAskedText, {asked(1, kAskedTokens)}, options).empty());
}

TEST(Answers, UsualWindowsFitTheModel) {
  const auto is = [](uint32_t limit, uint32_t most, uint32_t stride) {
    const WindowOptions usual = usual_answer_windows(limit);
    return usual.most_ids == most && usual.stride == stride;
  };
  EXPECT_TRUE(is(512, 384, 128));
  EXPECT_TRUE(is(0, 384, 128));
  EXPECT_TRUE(is(80, 80, 40));
}

}  // namespace
}  // namespace lapilli
