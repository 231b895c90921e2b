// The expected figures are those of the corpus' own script on the same lines.
#include "evaluation/bleu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluation/corpus.hpp"

namespace lapilli::evaluation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Strings = std::vector<std::string>;

TEST(BleuTokens, PunctuationStandsAlone) {
  EXPECT_THAT(bleu_tokens("Hello, world!"), ElementsAre("Hello", ",", "world", "!"));
  EXPECT_THAT(bleu_tokens("$5/kg & [x]_{y}~ 50%"),
              ElementsAre("$", "5", "/", "kg", "&", "[", "x", "]", "_", "{", "y", "}", "~", "50", "%"));
  EXPECT_THAT(bleu_tokens("«Où?» dit-il."), ElementsAre("«Où", "?", "»", "dit-il", "."));
  EXPECT_THAT(bleu_tokens("..."), ElementsAre(".", ".", "."));
  EXPECT_THAT(bleu_tokens(""), IsEmpty());
}

TEST(BleuTokens, PointsCommasAndHyphensBesideDigits) {
  EXPECT_THAT(bleu_tokens("J'ai 3,5 km (environ) à 10-12 h..."),
              ElementsAre("J'ai", "3,5", "km", "(", "environ", ")", "à", "10", "-", "12", "h", ".", ".", "."));
  EXPECT_THAT(bleu_tokens("a.b,c 1.5 1. .5 ,x x,"),
              ElementsAre("a", ".", "b", ",", "c", "1.5", "1", ".", ".", "5", ",", "x", "x", ","));
  EXPECT_THAT(bleu_tokens("É. 2-3-4 -5 a-b é,1"),
              ElementsAre("É", ".", "2", "-", "3", "-", "4", "-5", "a-b", "é", ",", "1"));
  EXPECT_THAT(bleu_tokens("1,000.50, 2.,3"), ElementsAre("1,000.50", ",", "2", ".", ",", "3"));
}

TEST(BleuTokens, WhiteSpaceOfUnicode) {
  EXPECT_THAT(bleu_tokens("\u00a0un\u2009deux\u3000\u202ftrois "), ElementsAre("un", "deux", "trois"));
}

const Strings kHypotheses = {"le chat est assis sur le tapis .", "le le le le", "Il pleut, aujourd'hui !",
                             "Nous avons 3,5 km à faire demain."};
const std::vector<Strings> kReferences = {{"le chat est sur le tapis rouge .", "un chat est assis sur le tapis"},
                                          {"le chien", "le grand chat noir et le chien"},
                                          {"Il pleut aujourd'hui !", "Aujourd'hui, il pleut !"},
                                          {"Nous avons encore 3,5 km à faire demain."}};

double bleu_of(size_t first, size_t count) {
  return bleu(std::span(kHypotheses).subspan(first, count), std::span(kReferences).subspan(first, count));
}

TEST(Bleu, MadeUpLines) {
  EXPECT_NEAR(bleu_of(0, 4), 62.21921301645361, 1e-9);
  EXPECT_NEAR(bleu_of(0, 1), 80.91067115702212, 1e-9);  // words that one reference or the other has
  EXPECT_NEAR(bleu_of(3, 1), 67.52918218126555, 1e-9);  // too short
  EXPECT_EQ(bleu_of(1, 1), 0);                          // no two words as in a reference
}

TEST(Bleu, TheSameIsHundred) {
  EXPECT_NEAR(bleu(Strings{"a b c d e f g h"}, std::vector<Strings>{{"a b c d e f g h"}}), 100, 1e-9);
}

TEST(Bleu, OfTwoLengthsEquallyNearTheShorterCounts) {
  EXPECT_NEAR(bleu(Strings{"a b c d e"}, std::vector<Strings>{{"a b c d e f g", "a b c"}}), 100, 1e-9);
}

TEST(Corpus, Ids) {
  const auto ids = parse_ids("12 3  4 0");
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(*ids, ElementsAre(12, 3, 4, 0));
  EXPECT_FALSE(parse_ids("12 x").ok());
  EXPECT_FALSE(parse_ids("12x").ok());
  EXPECT_FALSE(parse_ids("99999999999").ok());
}

TEST(Corpus, SampleIsSpreadOverTheSet) {
  std::vector<Line> lines(10);
  for (size_t i = 0; i < lines.size(); ++i) lines[i].number = i + 1;
  const auto numbers = [&](uint64_t count) {
    std::vector<uint64_t> n;
    for (const Line& line : sample(lines, count)) n.push_back(line.number);
    return n;
  };
  EXPECT_THAT(numbers(4), ElementsAre(1, 3, 6, 8));
  EXPECT_EQ(numbers(0).size(), 10u);
  EXPECT_EQ(numbers(99).size(), 10u);
}

}  // namespace
}  // namespace lapilli::evaluation
