// lapilli translate --attention and --alignment, with the bundled model.
#include "cli/program.hpp"

namespace lapilli::test {
namespace {

std::string read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TEST(CliDevice, AttentionAsPictures) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "map.png").string();
  const Outcome outcome = translate({"--attention", file, "The cat sleeps.", "Where is the station?"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Le chat dort.\nOù est la gare ?\n");
  const std::string first = read(file), second = read((folder.path() / "map-2.png").string());
  EXPECT_EQ(first.substr(1, 3), "PNG");
  EXPECT_EQ(second.substr(1, 3), "PNG");
  EXPECT_NE(first, second);
}

TEST(CliDevice, AttentionAsSvg) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "map.SVG").string();
  const Outcome outcome = translate({"--attention", file, "The cat sleeps.", "Where is the station?"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string first = read(file), second = read((folder.path() / "map-2.SVG").string());
  EXPECT_TRUE(first.starts_with("<svg ") && first.ends_with("</svg>\n")) << first;
  EXPECT_TRUE(contains(first, ">dort</text>")) << first;
  EXPECT_TRUE(contains(second, ">gare</text>")) << second;
}

TEST(CliDevice, AttentionAsNumbers) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "map.json").string();
  Outcome outcome = translate({"--attention", file, "--attention-layer", "all", "--attention-head", "all",
                               "The cat sleeps.", "", "Where is the station?"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(read(file));
  ASSERT_EQ(lines.size(), 2u);
  const auto json = nlohmann::json::parse(lines[0], nullptr, false);
  EXPECT_EQ(json["kind"], "cross");
  EXPECT_EQ(json["source"], "The cat sleeps.");
  ASSERT_EQ(json["rows"].size(), 5u);
  EXPECT_EQ(json["rows"][1]["token"], "chat");
  EXPECT_EQ(json["weights"][0][0].size(), 5u);
  EXPECT_EQ(json["weights"][0][0][0].size(), json["columns"].size());
  // Written anew, and by ids as well.
  outcome = translate({"--attention", file, "--attention-kind", "encoder", "--attention-layer", "1", "--attention-head",
                       "0", "--ids", expected()[0].ids});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected()[0].french_ids + "\n");
  const auto encoder = read_json(file);
  EXPECT_EQ(encoder["kind"], "encoder");
  EXPECT_EQ(encoder["layer"], 1);
  EXPECT_EQ(encoder["rows"].size(), encoder["columns"].size());
}

TEST(CliDevice, AlignmentAsTextAndJson) {
  Outcome outcome = translate({"--alignment", "The cat sleeps."});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 5u) << outcome.out;
  EXPECT_EQ(lines[0], "Le chat dort.");
  EXPECT_TRUE(contains(lines[2], "\t4-7\t3-7\t0.")) << lines[2];
  EXPECT_TRUE(contains(lines[2], "\tcat\tchat")) << lines[2];
  outcome = translate({"--alignment", "--json", "--nbest", "2", "The cat sleeps."});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_EQ(json["sequences"].size(), 2u) << outcome.out;
  const auto& links = json["sequences"][0]["alignment"];
  ASSERT_EQ(links.size(), 4u) << outcome.out;
  EXPECT_EQ(links[1]["words"], nlohmann::json({"cat", "chat"}));
  EXPECT_EQ(links[1]["source"], nlohmann::json({4, 7}));
  EXPECT_EQ(links[1]["target"], nlohmann::json({3, 7}));
  EXPECT_GT(links[1]["weight"], 0.3);
}

TEST(CliDevice, AttentionThatCannotBe) {
  TemporaryFolder folder;
  EXPECT_EQ(translate({"--attention", (folder.path() / "no/such/map.png").string(), "Hello."}).code, 2);
  const Outcome layer =
      translate({"--attention", (folder.path() / "map.png").string(), "--attention-layer", "77", "Hello."});
  EXPECT_EQ(layer.code, 2);
  EXPECT_TRUE(contains(layer.err, "layers 0 to")) << layer.err;
}

TEST(CliDevice, AttentionOfOneLineThatFails) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "map.json").string();
  // A target with one id more than the model has positions for cannot be run again.
  const Outcome outcome =
      translate({"--alignment", "--attention", file, "--beam", "1", "--max-length", "257", "--options",
                 R"({"min_length": 257, "repetition_penalty": 1.0})", "The cat sleeps."});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(outcome.out, "\n");
  EXPECT_TRUE(contains(outcome.err, "line 1: ")) << outcome.err;
}

// The end token is forced as the first: nothing is said, and nothing linked.
TEST(CliDevice, AlignmentOfNothing) {
  const Outcome outcome = translate({"--alignment", "--options", R"({"forced_bos_token_id": 0})"}, "The cat sleeps.\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "\n");
}

TEST(CliDevice, AttentionFileThatDoesNotFit) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "map.png").string();
  Spawn spawn = lapilli({});
  spawn.arguments = {"/bin/sh",
                     "-c",
                     "ulimit -f 1; trap '' XFSZ; exec \"$@\"",
                     "sh",
                     program(),
                     "translate",
                     "-q",
                     "--attention",
                     file,
                     "The cat sleeps."};
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.code, 6) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "map.png: cannot be written: File too large")) << outcome.err;
  EXPECT_FALSE(fs::exists(file));
}

// Said before anything is loaded.
TEST(Cli, AttentionArgumentsAreChecked) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--attention", "map.gif", "x"},
      {"--attention", "map.png", "--attention-layer", "all", "x"},
      {"--attention", "map.svg", "--attention-head", "all", "x"},
      {"--attention", "map.png", "--attention-layer", "-1", "x"},
      {"--attention", "map.json", "--attention-head", "two", "x"},
      {"--attention", "map.png", "--attention-kind", "self", "x"},
      {"--attention", "no/such/map.png", "x"},
      {"--attention-layer", "1", "x"},
      {"--attention-head", "1", "x"},
      {"--attention-kind", "encoder", "x"},
      {"--alignment", "--ids", "1 2 0"},
      {"--alignment", "--attention-layer", "all", "x"},
  };
  for (const auto& arguments : wrong) {
    const Outcome outcome = translate(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments[1];
    EXPECT_TRUE(contains(outcome.err, "--a") || contains(outcome.err, "picture")) << outcome.err;
  }
}

}  // namespace
}  // namespace lapilli::test
