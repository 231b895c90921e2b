// Answers: stop texts, thoughts and white space, however the text is cut.
#include "generate/chat/answer_text.hpp"

#include <gtest/gtest.h>

#include <random>

namespace lapilli {
namespace {

// The text that each piece, and the end, gives out.
std::vector<std::string> streamed(const AnswerRules& rules, const std::vector<std::string>& pieces) {
  AnswerText answer(rules);
  std::vector<std::string> out;
  for (const std::string& piece : pieces) out.push_back(answer.push(piece));
  out.push_back(answer.finish());
  return out;
}

AnswerRules stopping_at(std::vector<std::string> stops) {
  AnswerRules rules;
  rules.stops = std::move(stops);
  return rules;
}

TEST(AnswerText, HoldsBackWhatMayBeginAStopAndNothingElse) {
  const AnswerRules rules = stopping_at({"beta gamma"});
  EXPECT_EQ(streamed(rules, {"al", "pha be", "ta ga", "mma delta"}),
            (std::vector<std::string>{"al", "pha ", "", "", ""}));
  EXPECT_EQ(streamed(rules, {"al", "pha be", "ta ga"}), (std::vector<std::string>{"al", "pha ", "", "beta ga"}));
  EXPECT_EQ(streamed(rules, {"al", "pha be", "st"}), (std::vector<std::string>{"al", "pha ", "best", ""}));
}

TEST(AnswerText, TheStopThatIsCompleteFirstCounts) {
  EXPECT_EQ(answer_of(stopping_at({"beta gamma", "ta"}), "alpha beta gamma"), "alpha be");
  EXPECT_EQ(answer_of(stopping_at({"gamma", "beta gamma"}), "alpha beta gamma"), "alpha ");
  EXPECT_EQ(answer_of(stopping_at({"aab"}), "aaab"), "a");
}

TEST(AnswerText, LeavesOutAThoughtAtTheBeginning) {
  AnswerRules rules;
  rules.without_thoughts = true;
  EXPECT_EQ(answer_of(rules, "\n<think>\nHm.\n</think>\n\nYes. <think>"), "Yes. <think>");
  EXPECT_EQ(answer_of(rules, "<thin air"), "<thin air");
  EXPECT_EQ(answer_of(rules, "<thi"), "<thi");
  EXPECT_EQ(answer_of(rules, "<think>never ends"), "");
  rules.begins_in_thought = true;
  EXPECT_EQ(answer_of(rules, "Hm.</think> Yes."), "Yes.");
}

TEST(AnswerText, IsTheSameHoweverTheTextIsCut) {
  std::mt19937 random(1);
  const std::string text = " \n<think> a < b </think>\n Good day, beta gamm\xC3\xA9 beta gamma.  ";
  for (int flags = 0; flags < 8; ++flags) {
    AnswerRules rules =
        stopping_at(flags & 1 ? std::vector<std::string>{"beta gamma", "mm\xC3\xA9 b"} : std::vector<std::string>());
    rules.without_thoughts = flags & 2;
    rules.trimmed = flags & 4;
    const std::string whole = answer_of(rules, text);
    for (int run = 0; run < 200; ++run) {
      std::vector<std::string> pieces;
      for (size_t at = 0; at < text.size();) {
        const size_t size = 1 + random() % 9;
        pieces.push_back(text.substr(at, size));
        at += size;
      }
      std::string joined;
      for (const std::string& piece : streamed(rules, pieces)) joined += piece;
      EXPECT_EQ(joined, whole);
    }
  }
}

}  // namespace
}  // namespace lapilli
