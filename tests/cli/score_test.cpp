// lapilli score: the logarithms of the probabilities of given texts, as a loop over the reference gives them, and bad
// input.
#include <cmath>

#include "base/format.hpp"
#include "cli/sentence_models.hpp"

namespace lapilli::test {
namespace {

using Json = nlohmann::json;

const std::string kRecords = LAPILLI_TEST_DATA "/scores/expected.json";

// GPT-2 without a begin token, Llama with one, and Marian, each as a directory that `generate` takes.
class CliDeviceScores : public testing::Test {
 protected:
  static std::string data(const std::string& path) { return LAPILLI_TEST_DATA "/" + path; }

  std::string model(const Json& of) const {
    const std::string directory = (folder_.path() / of["name"].get<std::string>()).string();
    if (fs::exists(directory)) return directory;
    fs::copy(data(of["directory"]), directory, fs::copy_options::recursive);
    if (of.contains("tokenizer")) fs::copy(data(of["tokenizer"]), directory, fs::copy_options::recursive);
    fs::remove(directory + "/modules.json");  // with it, the directory makes vectors
    return directory;
  }

  Json record(const std::string& name) const {
    const Json all = read_json(kRecords);
    for (const Json& of : all["models"])
      if (of["name"] == name) return of;
    ADD_FAILURE() << name;
    return {};
  }

  Outcome score(const std::string& name, std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"score", "--model", model(record(name))});
    return run(lapilli(std::move(arguments)), input);
  }

  TemporaryFolder folder_;
};

// With JSON numbers of six digits.
void expect_close(const Json& ours, const Json& expected) {
  if (expected.is_null()) {
    EXPECT_TRUE(ours.is_null()) << ours;
  } else {
    EXPECT_NEAR(ours.get<double>(), expected.get<double>(), 1e-4 * std::max(1.0, std::abs(expected.get<double>())));
  }
}

void expect_scores(const Json& ours, const Json& c) {
  EXPECT_EQ(ours["ids"], c["ids"]);
  EXPECT_EQ(ours["tokens"], c["tokens"]);
  expect_close(ours["log_probability"], c["sum"]);
  expect_close(ours["perplexity"], c["perplexity"]);
  EXPECT_EQ(ours.value("windows", 1u), std::max(c.value("windows", 1u), 1u));
  ASSERT_EQ(ours["token_scores"].size(), c["log_probabilities"].size());
  for (size_t i = 0; i < c["log_probabilities"].size(); ++i)
    expect_close(ours["token_scores"][i], c["log_probabilities"][i]);
}

TEST_F(CliDeviceScores, EqualALoopOverTheReference) {
  for (const char* name : {"gpt2", "llama"}) {
    const Json cases = record(name)["cases"];
    for (const Json& c : cases) {
      SCOPED_TRACE(format("%s, window %u, stride %u: %s", name, c["window"].get<uint32_t>(),
                          c["stride"].get<uint32_t>(), c["text"].get<std::string>()));
      const Outcome outcome = score(name, {"--json", "--scores", "--window", c["window"].dump(), "--stride",
                                           c["stride"].dump(), "--text", "--", c["text"].get<std::string>()});
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      expect_scores(Json::parse(outcome.out), c);
    }
  }
}

TEST_F(CliDeviceScores, TargetsBehindTheirSources) {
  std::string lines;
  const Json cases = record("marian")["cases"];
  for (const Json& c : cases) lines += c["source"].get<std::string>() + "\t" + c["text"].get<std::string>() + "\n";
  const Outcome outcome = score("marian", {"--pairs", "--json", "--scores"}, lines);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto out = lines_of(outcome.out);
  ASSERT_EQ(out.size(), cases.size());
  for (size_t i = 0; i < out.size(); ++i) {
    SCOPED_TRACE(out[i]);
    expect_scores(Json::parse(out[i]), cases[i]);
  }
}

// Lines of all lengths share passes; each has the scores that it has alone.
TEST_F(CliDeviceScores, LinesTogetherEqualLinesAlone) {
  std::string lines;
  std::vector<Json> cases;
  const Json all = record("gpt2")["cases"];
  for (const Json& c : all)
    if (c["window"] == 64) cases.push_back(c);
  for (const Json& c : cases) lines += c["text"].get<std::string>() + "\n";
  const Outcome outcome = score("gpt2", {"--lines", "--json", "--scores"}, lines);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto out = lines_of(outcome.out);
  ASSERT_EQ(out.size(), cases.size());
  uint64_t tokens = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    expect_scores(Json::parse(out[i]), cases[i]);
    tokens += cases[i]["tokens"].get<uint64_t>();
  }
  EXPECT_TRUE(contains(outcome.err, std::to_string(tokens) + " tokens scored, perplexity")) << outcome.err;
}

TEST_F(CliDeviceScores, OneTokenAndNoneAreSaid) {
  const Outcome outcome = score("gpt2", {"--lines"}, "a\n\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "-\t0\t0\n-\t0\t0\n");
  EXPECT_TRUE(contains(outcome.err, "line 1: the text has a single token")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "line 2: the text has no token")) << outcome.err;
  const Json json = Json::parse(lines_of(score("gpt2", {"--json", "--text", "a"}).out).at(0));
  EXPECT_TRUE(json["perplexity"].is_null());
  EXPECT_EQ(json["tokens"], 0);
}

TEST_F(CliDeviceScores, IdsAreTakenAsTheyAre) {
  const Json c = record("gpt2")["cases"][0];
  std::string ids;
  for (const Json& id : c["ids"]) ids += id.dump() + " ";
  const Outcome outcome = score("gpt2", {"--ids", "--json", "--scores"}, ids + "\n1 401\n");
  EXPECT_EQ(outcome.code, 1);
  const auto out = lines_of(outcome.out);
  ASSERT_EQ(out.size(), 2u);
  expect_scores(Json::parse(out[0]), c);
  EXPECT_TRUE(contains(out[1], "token id 401 is outside the vocabulary of 401")) << out[1];
}

TEST_F(CliDeviceScores, RecordsGetAMember) {
  const Outcome outcome = score("gpt2", {"--format", "jsonl"}, R"({"id": 7, "text": "The model works."})");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["id"], 7);
  EXPECT_EQ(json["score"]["tokens"], 8);
}

TEST_F(CliDeviceScores, WrongUseIsSaid) {
  const auto expect = [](const Outcome& outcome, int code, const char* said) {
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, said)) << outcome.err;
  };
  expect(score("gpt2", {"--window", "65", "a text"}), 2, "the model reads 64");
  expect(score("gpt2", {"--window", "1", "a text"}), 2, "--window");
  expect(score("gpt2", {"--scores", "a text"}), 2, "--scores needs --json");
  expect(score("gpt2", {"--pairs", "--ids"}, "1\t2\n"), 2, "--ids");
  expect(score("gpt2", {"--pairs"}, "a\tb\n"), 2, "have no encoder");
  expect(score("marian", {"--lines"}, "a\n"), 2, "pairs of a source and its target");
  expect(run(lapilli({"score", "--model", sentence_model("bert-cls"), "a text"})), 3, "write no text");
  expect(run(lapilli({"score", "--model", sentence_model("gpt2-weightedmean"), "a text"})), 3, "lapilli embed");
}

}  // namespace
}  // namespace lapilli::test
