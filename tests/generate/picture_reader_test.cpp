// Classes and their names, and what a directory must hold for pictures.
#include "generate/picture_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lapilli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Classes, TheLikeliestFirstAndTiesByNumber) {
  const std::vector<float> scores{1, 3, -2, 3};
  const auto best = best_classes(scores, 3, {"a", "b", "c", "d"});
  ASSERT_EQ(best.size(), 3u);
  EXPECT_EQ(best[0].label + best[1].label + best[2].label, "bda");
  EXPECT_NEAR(best[0].probability, 1 / (2 + std::exp(-2.0) + std::exp(-5.0)), 1e-9);
  EXPECT_EQ(best_classes(scores, 99, {"a", "b", "c", "d"}).size(), 4u);
}

TEST(Classes, NamesByNumber) {
  const auto labels = [](const char* text, uint32_t classes) {
    const auto json = nlohmann::json::parse(text);
    return read_labels({json, "config.json"}, classes);
  };
  EXPECT_THAT(*labels(R"({"id2label": {"1": "cat", "0": "dog"}})", 3), ElementsAre("dog", "cat", ""));
  EXPECT_THAT(*labels("{}", 1), ElementsAre(""));
  for (const char* wrong : {R"({"id2label": {"3": "x"}})", R"({"id2label": {"-1": "x"}})",
                            R"({"id2label": {"1x": "x"}})", R"({"id2label": {"1": 5}})"})
    EXPECT_THAT(labels(wrong, 3).error().message, HasSubstr("config.json: id2label")) << wrong;
}

}  // namespace
}  // namespace lapilli
