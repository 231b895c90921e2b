// The ids that transcription begins with come from one of a directory's two files.
#include "formats/speech_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

// Positions and ids, "-" for a free place; or the error.
std::string forced(const std::string& config, const std::string& generation) {
  const TempDirectory directory;
  (void)directory.write("config.json", config);
  if (!generation.empty()) (void)directory.write("generation_config.json", generation);
  const auto settings = read_speech_settings(directory.path());
  if (!settings) return settings.error().message;
  std::string text;
  for (const ForcedDecoderId& f : settings->forced)
    text += std::to_string(f.position) + ":" + (f.id ? std::to_string(*f.id) : "-") + " ";
  return text;
}

TEST(SpeechSettings, ForcedIdsOfTheSearchsFileOrElseOfTheModels) {
  const std::string older = R"({"forced_decoder_ids": [[1, 7], [2, 8]]})";
  EXPECT_EQ(forced("{}", R"({"forced_decoder_ids": [[1, null], [2, 50359]]})"), "1:- 2:50359 ");
  EXPECT_EQ(forced(older, R"({"forced_decoder_ids": [[1, 9]]})"), "1:9 ");
  EXPECT_EQ(forced(older, R"({"forced_decoder_ids": null})"), "1:7 2:8 ");
  EXPECT_EQ(forced(older, "{}"), "1:7 2:8 ");
  EXPECT_EQ(forced(older, ""), "1:7 2:8 ");
  EXPECT_EQ(forced("{}", "{}"), "");
}

TEST(SpeechSettings, ForcedIdsThatBeginElsewhereDoNotCount) {
  EXPECT_EQ(forced("{}", R"({"forced_decoder_ids": [[2, 7], [3, 8]]})"), "");
  EXPECT_EQ(forced("{}", R"({"forced_decoder_ids": []})"), "");
}

TEST(SpeechSettings, DamagedForcedIdsNameFileAndKey) {
  for (const char* value : {"7", "[7]", "[[1]]", "[[1, 2, 3]]", "[[-1, 2]]", "[[1, -2]]", "[[1, 2147483648]]",
                            "[[4294967296, 1]]", R"([[1, "x"]])", R"({"1": 2})"})
    EXPECT_THAT(forced("{}", std::string(R"({"forced_decoder_ids": )") + value + "}"),
                HasSubstr("generation_config.json: \"forced_decoder_ids\" must be a list"))
        << value;
  EXPECT_THAT(forced(R"({"forced_decoder_ids": 7})", "{}"), HasSubstr("/config.json: \"forced_decoder_ids\""));
}

}  // namespace
}  // namespace lapilli
