// The caller's own labels by entailment: which column says what, and the scores.
#include "generate/encoders/zero_shot.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/fixtures.hpp"

namespace lapilli {
namespace {

using Labels = std::vector<std::string>;
using LabelRows = std::vector<std::vector<float>>;

TEST(ZeroShot, EntailmentStandsAnywhere) {
  // Columns in three orders; the numbers go with the names.
  const auto scored = [](const Labels& of_model, const LabelRows& rows, bool several) {
    const auto columns = find_entailment(of_model, "");
    std::string all;
    if (!columns) return all;
    for (const auto& s : score_labels(Labels{"sport", "soup"}, rows, *columns, several))
      all += s.label + format(" %.6f ", s.score);
    return all;
  };
  for (const bool several : {false, true}) {
    const auto last = scored({"contradiction", "neutral", "entailment"}, {{1, 0, 3}, {2, 5, -1}}, several);
    EXPECT_FALSE(last.empty());
    EXPECT_EQ(scored({"ENTAILMENT", "NEUTRAL", "CONTRADICTION"}, {{3, 0, 1}, {-1, 5, 2}}, several), last);
    EXPECT_EQ(scored({"Contradiction", "Entails", "Neutral"}, {{1, 3, 0}, {2, -1, 5}}, several), last);
    EXPECT_EQ(scored({"neutral", "entailment", "contradiction"}, {{0, 3, 1}, {5, -1, 2}}, several), last);
    EXPECT_EQ(scored({"entailment", "contradiction", "neutral"}, {{3, 1, 0}, {-1, 2, 5}}, several), last);
  }
}

TEST(ZeroShot, ContradictionWithoutANameIsTheReferences) {
  LAPILLI_ASSERT_VALUE(const auto first, find_entailment(Labels{"entailment", "not_entailment"}, ""));
  EXPECT_EQ(first.follows, 0U);
  EXPECT_EQ(first.contradicts, 1U);
  LAPILLI_ASSERT_VALUE(const auto given, find_entailment(Labels{"LABEL_0", "LABEL_1", "LABEL_2"}, "label_2"));
  EXPECT_EQ(given.follows, 2U);
  EXPECT_EQ(given.contradicts, 0U);
  LAPILLI_ASSERT_VALUE(const auto zero, find_entailment(Labels{"LABEL_0", "LABEL_1", "LABEL_2"}, "LABEL_0"));
  EXPECT_EQ(zero.contradicts, 2U);
}

TEST(ZeroShot, LabelsWithoutANameAreRefusedWithAdvice) {
  const auto none = find_entailment(Labels{"LABEL_0", "LABEL_1", "LABEL_2"}, "");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("--entailment LABEL"), std::string::npos) << none.error().message;
  EXPECT_NE(none.error().message.find("'LABEL_2'"), std::string::npos) << none.error().message;
  const auto unknown = find_entailment(Labels{"no", "yes"}, "entailment");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("'yes'"), std::string::npos) << unknown.error().message;
  EXPECT_FALSE(find_entailment(Labels{"entailment"}, "").ok());
  EXPECT_FALSE(find_entailment({}, "").ok());
}

TEST(ZeroShot, OneLabelStandsForItself) {
  const auto scores = score_labels(Labels{"urgent"}, LabelRows{{1, 0, 2}}, {2, 0}, false);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_NEAR(scores[0].score, 1 / (1 + std::exp(-1.0)), 1e-9);
  EXPECT_TRUE(score_labels({}, {}, {}, false).empty());
}

TEST(ZeroShot, ScoresFallAndTiesKeepTheirOrder) {
  const Labels labels = {"a", "b", "c"};
  const auto scores = score_labels(labels, LabelRows{{0, 1}, {0, 2}, {0, 1}}, {1, 0}, false);
  EXPECT_EQ(scores[0].label + scores[1].label + scores[2].label, "bac");
  EXPECT_NEAR(scores[0].score + scores[1].score + scores[2].score, 1, 1e-12);
  // Numbers far apart overflow nothing.
  const auto far = score_labels(labels, LabelRows{{0, 3e38F}, {0, -3e38F}, {0, 0}}, {1, 0}, false);
  EXPECT_EQ(far[0].label, "a");
  EXPECT_EQ(far[0].score, 1);
  const auto damaged = score_labels(labels, LabelRows{{0, std::nanf("")}, {0, 1}, {0, 2}}, {1, 0}, true);
  EXPECT_EQ(damaged[0].label + damaged[1].label + damaged[2].label, "cba");
}

TEST(ZeroShot, EqualLabelsCountOnce) {
  LAPILLI_ASSERT_VALUE(const auto checked, check_candidates(Labels{" sports", "politics ", "sports", "Sports"}));
  EXPECT_EQ(checked.labels, (Labels{"sports", "politics", "Sports"}));
  EXPECT_EQ(checked.repeated, Labels{"sports"});
  EXPECT_FALSE(check_candidates(Labels{"a", " "}).ok());
  EXPECT_FALSE(check_candidates({}).ok());
}

TEST(ZeroShot, TemplatesHaveOnePlace) {
  LAPILLI_ASSERT_VALUE(const auto usual, hypothesis_of(kHypothesis, "urgent"));
  EXPECT_EQ(usual, "This example is urgent.");
  LAPILLI_ASSERT_VALUE(const auto braces, hypothesis_of("{}", "{}"));
  EXPECT_EQ(braces, "{}");
  for (const char* wrong : {"This example.", "{} and {}", "{", ""}) {
    const auto refused = hypothesis_of(wrong, "urgent");
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("one {}"), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace lapilli
