// Lines that the model is unsure of are told: by --unsure, and of the bundled model without it.
#include "cli/run/unsure.hpp"

#include <cmath>

#include "cli/program.hpp"
#include "cli/run/notes.hpp"

namespace lapilli::test {
namespace {

Sequence scored(const std::vector<std::vector<float>>& parts) {
  Sequence s;
  for (const auto& scores : parts) {
    Part part;
    part.ids.assign(scores.size(), 5);
    s.parts.push_back(part);
    s.ids.insert(s.ids.end(), part.ids.begin(), part.ids.end());
    s.token_scores.insert(s.token_scores.end(), scores.begin(), scores.end());
  }
  return s;
}

TEST(CliUnsure, TheLeastSureSentenceCounts) {
  EXPECT_FALSE(cli::sureness(scored({})));
  EXPECT_FALSE(cli::sureness(scored({{}})));
  EXPECT_FALSE(cli::sureness(scored({{NAN}})));
  EXPECT_DOUBLE_EQ(*cli::sureness(scored({{NAN, -1, -2}})), -1.5);
  EXPECT_DOUBLE_EQ(*cli::sureness(scored({{-0.5f, -0.5f}, {}, {-4}, {-1}})), -4);
  Sequence short_of_scores = scored({{-1, -3}});
  short_of_scores.token_scores.pop_back();
  EXPECT_DOUBLE_EQ(*cli::sureness(short_of_scores), -1);
  EXPECT_TRUE(cli::is_unsure(scored({{-4}}), -3.9));
  EXPECT_FALSE(cli::is_unsure(scored({{-4}}), -4.0));
  EXPECT_FALSE(cli::is_unsure(scored({{-4}}), std::nullopt));
}

TEST(CliUnsure, ANoteSaysWhatToDo) {
  cli::NotesAbout about;
  about.unsure_below = -1.25;
  Sequence s = scored({{-2}});
  ASSERT_EQ(cli::notes_of(s, about).size(), 1u);
  EXPECT_TRUE(contains(cli::notes_of(s, about)[0].what, "the model is unsure (-2.00 a token, below -1.25)"));
  s.repeats = true;  // which says why
  ASSERT_EQ(cli::notes_of(s, about).size(), 1u);
  EXPECT_FALSE(contains(cli::notes_of(s, about)[0].what, "unsure"));
}

TEST(CliUnsure, ThresholdsComeAlongWithModels) {
  EXPECT_TRUE(cli::unsure_threshold(bundled_model()));
  TemporaryFolder folder;
  EXPECT_FALSE(cli::unsure_threshold(folder.path().string()));
  for (const char* other :
       {"", "[]", "{\"unsure_below\": \"-1\"}", "{\"unsure_below\": null}", "{\"unsure_below\": -1e999}"}) {
    folder.file("evaluation.json", other);
    EXPECT_FALSE(cli::unsure_threshold(folder.path().string())) << other;
  }
  folder.file("evaluation.json", "{\n \"bleu\": 1,\n \"unsure_below\": -1.5\n}\n");
  EXPECT_DOUBLE_EQ(cli::unsure_threshold(folder.path().string()).value_or(0), -1.5);
}

TEST(CliUnsure, ThresholdsAreNoPositiveNumbers) {
  const Outcome outcome = run(lapilli({"translate", "--unsure", "0.5", "Hello."}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "--unsure: no logarithm")) << outcome.err;
  EXPECT_EQ(run(lapilli({"translate", "--unsure", "-1", "--no-unsure", "Hello."})).code, 2);
}

// Nonsense is what the bundled model is unsure of; a model that says no threshold says nothing of its own.
TEST(CliDeviceUnsure, LinesAreToldAndJsonSaysIt) {
  TemporaryFolder folder;
  const std::string sure = "Good morning.", unsure = "Zorp flumm the gribbly snood wexes onto quarp.";
  const auto told = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"translate", "--json", "--beam", "1", sure, unsure};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(lapilli(arguments));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto lines = lines_of(outcome.out);
    EXPECT_EQ(lines.size(), 2u);
    const bool note = contains(outcome.err, "note: line 2: the model is unsure");
    EXPECT_FALSE(contains(outcome.err, "line 1: the model is unsure")) << outcome.err;
    EXPECT_FALSE(contains(lines[0], "unsure")) << lines[0];
    EXPECT_EQ(contains(lines[1], ",\"unsure\":true"), note) << outcome.out << outcome.err;
    return note;
  };
  EXPECT_TRUE(told({}));
  EXPECT_FALSE(told({"--unsure", "-30"}));
  EXPECT_FALSE(told({"--config", folder.file("settings.toml", "no-unsure = true\n")}));
  const std::string other = folder.model_copy();
  fs::remove(other + "/evaluation.json");
  EXPECT_FALSE(told({"--model", other}));
  EXPECT_TRUE(told({"--model", other, "--unsure", "-0.5"}));
}

// Only the best of several results is reported: others are less likely by their nature.
TEST(CliDeviceUnsure, OtherResultsOfALineAreNot) {
  const Outcome outcome = run(lapilli({"translate", "-q", "--json", "--nbest", "2", "Good morning."}));
  EXPECT_TRUE(contains(outcome.out, "\"sequences\"")) << outcome.err;
  EXPECT_FALSE(contains(outcome.out, "unsure")) << outcome.out;
}

}  // namespace
}  // namespace lapilli::test
