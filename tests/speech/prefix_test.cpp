#include "speech/prefix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lapilli::speech {
namespace {

using testing::HasSubstr;
using Ids = std::vector<int32_t>;

SpeechSettings multilingual() {
  SpeechSettings s;
  s.languages = {{"<|en|>", 10}, {"<|fr|>", 11}};
  s.tasks = {{"transcribe", 20}, {"translate", 21}};
  s.no_timestamps = 30;
  return s;
}

Ids ids(const SpeechSettings& s, const PrefixRequest& r) {
  const auto prefix = make_prefix(s, r);
  return prefix ? prefix->ids : Ids{};
}

TEST(Prefix, NamesLanguageAndTask) {
  EXPECT_EQ(ids(multilingual(), {9, "fr", "", true}), (Ids{9, 11, 20}));
  EXPECT_EQ(ids(multilingual(), {9, "French", "translate", false}), (Ids{9, 11, 21, 30}));
  EXPECT_EQ(ids(multilingual(), {9, "<|en|>", "", false}), (Ids{9, 10, 20, 30}));
}

TEST(Prefix, LeavesTheLanguageToBeDetected) {
  const auto prefix = make_prefix(multilingual(), {9, "", "transcribe", true});
  ASSERT_TRUE(prefix);
  EXPECT_TRUE(prefix->detect_language);
  EXPECT_EQ(prefix->ids, (Ids{9, 20}));
  // Without a task nobody names one.
  EXPECT_EQ(ids(multilingual(), {9, "", "", false}), (Ids{9, 30}));
}

TEST(Prefix, OfModelsForOneLanguageIsTheirStart) {
  SpeechSettings s;
  s.no_timestamps = 30;
  EXPECT_EQ(ids(s, {9, "", "", false}), (Ids{9, 30}));
  EXPECT_FALSE(make_prefix(s, {9, "", "", false})->detect_language);
  EXPECT_EQ(ids(s, {9, "en", "", false}), (Ids{9, 30}));
  EXPECT_EQ(ids(s, {9, "English", "", false}), (Ids{9, 30}));
  const auto refused = make_prefix(s, {9, "fr", "", false});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("English, or the one that it was trained for"));
}

TEST(Prefix, TakesIdsOfOlderDirectories) {
  SpeechSettings s = multilingual();
  s.forced = {{1, std::nullopt}, {2, 20}};
  const auto prefix = make_prefix(s, {9, "", "", true});
  ASSERT_TRUE(prefix);
  EXPECT_TRUE(prefix->detect_language);
  EXPECT_EQ(prefix->ids, (Ids{9, 20}));
  EXPECT_EQ(ids(s, {9, "fr", "", true}), (Ids{9, 11, 20}));  // what is asked for wins
}

TEST(Prefix, ForcedIdsNameTheLanguageUnlessSomebodyElseDoes) {
  SpeechSettings s = multilingual();
  s.forced = {{1, 11}, {2, std::nullopt}, {3, 21}};
  EXPECT_EQ(ids(s, {9, "", "", true}), (Ids{9, 11, 21}));  // a free place is no id
  EXPECT_FALSE(make_prefix(s, {9, "", "", true})->detect_language);
  EXPECT_EQ(ids(s, {9, "", "transcribe", true}), (Ids{9, 20}));
  s.language = "en";
  EXPECT_EQ(ids(s, {9, "", "", true}), (Ids{9, 10, 20}));
}

TEST(Prefix, TimestampsDecideWhetherForcedIdsEndWithTheirMark) {
  SpeechSettings s = multilingual();
  s.forced = {{1, 11}, {2, 20}, {3, 30}};
  EXPECT_EQ(ids(s, {9, "", "", true}), (Ids{9, 11, 20}));
  EXPECT_EQ(ids(s, {9, "", "", false}), (Ids{9, 11, 20, 30}));
}

TEST(Prefix, ForcedIdsWithAGapAreAnErrorIfTheyAreUsed) {
  SpeechSettings s = multilingual();
  s.forced = {{1, 11}, {3, 20}};
  const auto prefix = make_prefix(s, {9, "", "", true});
  ASSERT_FALSE(prefix);
  EXPECT_THAT(prefix.error().message, HasSubstr("position 3 instead of 2"));
  EXPECT_EQ(ids(s, {9, "fr", "", true}), (Ids{9, 11, 20}));
}

TEST(Prefix, SaysWhatThereIs) {
  const auto language = make_prefix(multilingual(), {9, "xx", "", true});
  ASSERT_FALSE(language);
  EXPECT_THAT(language.error().message, HasSubstr("<|en|> <|fr|>"));
  const auto task = make_prefix(multilingual(), {9, "en", "summarize", true});
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("transcribe translate"));
}

}  // namespace
}  // namespace lapilli::speech
