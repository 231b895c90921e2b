// lapilli rerank with a decoder that judges: scores as the reference's logits of "yes" and "no" give them. A decoder
// that nothing calls a judge is refused.
#include <algorithm>

#include "cli/sentence_models.hpp"

namespace lapilli::test {
namespace {

using Json = nlohmann::json;

const std::string kJudge = LAPILLI_TEST_DATA "/rerankers/judge";
const std::string kJudgeModel = kJudge + "/Qwen3-Reranker-small";  // its name tells

void expect_ranking(const Json& documents, const std::vector<std::string>& arguments) {
  std::string lines;
  for (const Json& d : documents) lines += d["document"].get<std::string>() + "\n";
  const Outcome outcome = run(lapilli(arguments), lines);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto out = lines_of(outcome.out);
  double before = 2;
  size_t scored = 0;
  for (const std::string& line : out) {
    const Json json = Json::parse(line);
    const auto expected = std::ranges::find_if(documents, [&](const Json& d) { return d["document"] == json["text"]; });
    ASSERT_NE(expected, documents.end()) << line;
    EXPECT_NEAR(json["score"].get<double>(), (*expected)["score"].get<double>(), 1e-5) << line;
    EXPECT_LE(json["score"].get<double>(), before);
    before = json["score"];
    ++scored;
  }
  for (const Json& d : documents) scored += d["document"] == "";  // blank lines are no documents
  EXPECT_EQ(scored, documents.size()) << outcome.out;
}

TEST(CliDeviceScoreTextsJudges, ADecoderJudgesByYesAndNo) {
  const Json record = read_json(kJudge + "/expected.json");
  const std::string query = record["query"];
  expect_ranking(record["documents"], {"rerank", "--model", kJudgeModel, "--json", query});
  expect_ranking(record["instructed"], {"rerank", "--model", kJudgeModel, "--json", "--instruction",
                                        record["instruction"].get<std::string>(), query});
}

TEST(CliDeviceScoreTextsJudges, ADecoderThatNothingCallsAJudgeIsRefused) {
  TemporaryFolder folder;
  const std::string plain = (folder.path() / "model").string();
  fs::copy(kJudgeModel, plain, fs::copy_options::recursive);
  const Outcome ranked = run(lapilli({"rerank", "--model", plain, "a query", "--text", "a document"}));
  EXPECT_EQ(ranked.code, 3) << ranked.err;
  EXPECT_TRUE(contains(ranked.err, "qwen3") && contains(ranked.err, "lapilli generate")) << ranked.err;
  const Outcome written = run(lapilli({"generate", "--model", kJudgeModel, "a text"}));
  EXPECT_EQ(written.code, 3) << written.err;
  EXPECT_TRUE(contains(written.err, "lapilli rerank")) << written.err;
}

}  // namespace
}  // namespace lapilli::test
