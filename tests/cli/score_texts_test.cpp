// lapilli classify of texts, and lapilli rerank, on a device: small directories with the reference's scores.
#include <cmath>

#include "cli/program.hpp"
#include "cli/sentence_models.hpp"

namespace lapilli::test {
namespace {

using Json = nlohmann::json;

const std::string kSentences = LAPILLI_TEST_DATA "/sentences/";
const std::string kSentiment = kSentences + "distilbert__distilbert-base-uncased-finetuned-sst-2-english";
const std::string kEmotions = kSentences + "SamLowe__roberta-base-go_emotions";
const std::string kReranker = kSentences + "cross-xlm-roberta";
const std::string kLogits = kSentences + "cross-encoder__ms-marco-MiniLM-L-6-v2@4.36";

Json case_named(const std::string& folder, const std::string& name) {
  const Json record = read_json(folder + "/expected.json");
  for (const Json& c : record["cases"])
    if (c["name"] == name) return c;
  return {};
}

Outcome scored(const std::string& command, const std::string& folder, std::vector<std::string> arguments,
               const std::string& input = "") {
  arguments.insert(arguments.begin(), {command, "--quiet", "--model", folder + "/model"});
  return run(lapilli(std::move(arguments)), input);
}

std::string json_lines(const Json& texts) {
  std::string lines;
  for (const Json& text : texts) lines += text.get<std::string>() + "\n";
  return lines;
}

class CliDeviceScoreTexts : public ::testing::Test {};

TEST_F(CliDeviceScoreTexts, ALineIsTheLikeliestLabelAndItsProbability) {
  const Json c = case_named(kSentiment, "classify");
  const Outcome outcome = scored("classify", kSentiment, {}, json_lines(c["texts"]));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), c["labels"].size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const Json& best = c["labels"][i][0];
    char expected[64];
    std::snprintf(expected, sizeof expected, "%s %.3f", best["label"].get<std::string>().c_str(),
                  best["score"].get<double>());
    EXPECT_EQ(lines[i], expected);
  }
}

// Labels that hold together: each has a probability of its own.
TEST_F(CliDeviceScoreTexts, SeveralLabelsInJson) {
  const Json c = case_named(kEmotions, "classify");
  const Outcome outcome = scored("classify", kEmotions, {"--json", "--top", "3"}, json_lines(c["texts"]));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), c["labels"].size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const Json classes = Json::parse(lines[i])["classes"];
    ASSERT_EQ(classes.size(), 3U);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(classes[k]["label"], c["labels"][i][k]["label"]);
      EXPECT_NEAR(classes[k]["probability"].get<double>(), c["labels"][i][k]["score"].get<double>(), 1e-4);
    }
  }
}

TEST_F(CliDeviceScoreTexts, RecordsGetAMember) {
  const Outcome outcome = scored("classify", kSentiment, {"--format", "jsonl", "--field", "t", "--to-field", "mood"},
                                 "{\"t\": \"I love this little program.\", \"n\": 1}\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Json record = Json::parse(outcome.out);
  EXPECT_EQ(record["n"], 1);
  EXPECT_EQ(record["mood"][0]["label"], "POSITIVE");
}

TEST_F(CliDeviceScoreTexts, PairsHaveATabBetween) {
  const Outcome outcome = scored("classify", kReranker, {"--pairs", "--json"}, "a question\tan answer\nno tab\n");
  EXPECT_NE(outcome.code, 0);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(Json::parse(lines[0]).contains("classes")) << lines[0];
  EXPECT_TRUE(contains(lines[1], "no tab")) << lines[1];
}

// In the reference's order, with its scores: a sigmoid, for the directory names no activation.
TEST_F(CliDeviceScoreTexts, DocumentsAreRankedAsTheReferenceDoes) {
  const Json c = case_named(kReranker, "rank");
  const Outcome outcome =
      scored("rerank", kReranker, {"--json", c["query"].get<std::string>(), "-"}, json_lines(c["documents"]));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), c["order"].size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const Json line = Json::parse(lines[i]);
    EXPECT_EQ(line["rank"], i + 1);
    EXPECT_EQ(line["text"], c["documents"][c["order"][i].get<size_t>()]);
    EXPECT_NEAR(line["score"].get<double>(), c["scores"][i].get<double>(), 1e-4);
  }
}

TEST_F(CliDeviceScoreTexts, AScoreIsTheLogitWhereTheDirectorySaysSo) {
  const Json c = case_named(kLogits, "rank");
  const std::string query = c["query"].get<std::string>(), documents = json_lines(c["documents"]);
  const Outcome plain = scored("rerank", kLogits, {"--json", "--top", "2", query, "-"}, documents);
  const Outcome probable = scored("rerank", kLogits, {"--json", "--top", "2", "--probability", query, "-"}, documents);
  EXPECT_EQ(plain.code, 0) << plain.err;
  const auto logits = lines_of(plain.out), probabilities = lines_of(probable.out);
  ASSERT_EQ(logits.size(), 2U);
  ASSERT_EQ(probabilities.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    const double logit = Json::parse(logits[i])["score"];
    EXPECT_NEAR(logit, c["scores"][i].get<double>(), 1e-4);
    EXPECT_NEAR(Json::parse(probabilities[i])["score"].get<double>(), 1 / (1 + std::exp(-logit)), 1e-9);
  }
}

// People need four digits, and programs all of them.
TEST_F(CliDeviceScoreTexts, ScoresForPeopleAreShort) {
  const Json c = case_named(kLogits, "rank");
  const Outcome plain = scored("rerank", kLogits, {c["query"].get<std::string>(), "-"}, json_lines(c["documents"]));
  const auto lines = lines_of(plain.out);
  ASSERT_EQ(lines.size(), c["documents"].size());
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_LE(lines[i].find('\t'), 9u) << lines[i];
    const double score = c["scores"][i];
    EXPECT_NEAR(std::stod(lines[i]), score, 1e-3 * std::max(1.0, std::abs(score))) << lines[i];
  }
}

// JSON lines and tables have their documents in a member or a column.
TEST_F(CliDeviceScoreTexts, DocumentsOfRecords) {
  const Json c = case_named(kReranker, "rank");
  const std::string query = c["query"];
  std::string records, table;
  for (const Json& document : c["documents"]) {
    records += Json{{"id", 7}, {"body", document}}.dump() + "\n";
    table += "7\t" + document.get<std::string>() + "\n";
  }
  const std::string wanted = scored("rerank", kReranker, {query, "-"}, json_lines(c["documents"])).out;
  EXPECT_EQ(scored("rerank", kReranker, {"--field", "body", query}, records).out, wanted);
  EXPECT_EQ(scored("rerank", kReranker, {"--column", "2", query}, table).out, wanted);
  const Outcome none = scored("rerank", kReranker, {"--column", "3", query}, table);
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(lines_of(none.err).size(), 1u) << none.err;
  const Outcome failed = scored("rerank", kReranker, {"--field", "body", query}, records + "{\"id\":1}\n");
  EXPECT_EQ(failed.code, 1);
  EXPECT_EQ(failed.out, wanted);
}

// Sigmoids that a float rounds to 1: documents are in the order of the logits, and their scores are written so that
// they differ, in every format.
TEST_F(CliDeviceScoreTexts, ScoresNearOneKeepTheOrderOfTheLogits) {
  TemporaryFolder folder;
  const std::string model =
      changed_model(folder, "cross-xlm-roberta", "classifier.out_proj.bias", [](std::vector<float>& v) {
        for (float& x : v) x += 20;
      });
  const std::string documents = json_lines({"The harbour froze over.", "How do I renew it?", "a", "The fox is brown."});
  const auto ranked = [&](const std::string& from, const std::string& dtype) {
    const std::string query = "A question about the harbour";
    return lines_of(run(lapilli({"rerank", "--quiet", "--model", from, "--dtype", dtype, query, "-"}), documents).out);
  };
  for (const char* dtype : {"fp32", "fp16", "bf16", "int8"}) {
    const auto moved = ranked(model, dtype), usual = ranked(sentence_model("cross-xlm-roberta"), dtype);
    ASSERT_EQ(moved.size(), 4u) << dtype;
    ASSERT_EQ(usual.size(), 4u) << dtype;
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(moved[i].substr(moved[i].find('\t')), usual[i].substr(usual[i].find('\t'))) << dtype;
      EXPECT_LT(std::stod(moved[i]), 1.0) << dtype;
      if (i > 0) {
        EXPECT_LT(std::stod(moved[i]), std::stod(moved[i - 1])) << dtype;
      }
    }
  }
}

TEST_F(CliDeviceScoreTexts, ClassesWithoutLabelsAreNumberedAndSaidSo) {
  TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(kSentiment + "/model", model, fs::copy_options::recursive);
  Json config = read_json(model + "/config.json");
  config.erase("id2label");
  config.erase("label2id");
  folder.file("model/config.json", config.dump());
  const Outcome outcome = run(lapilli({"classify", "--model", model, "a"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("LABEL_")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "names no label of 2 of 2 classes")) << outcome.err;
}

TEST_F(CliDeviceScoreTexts, OthersAreRefusedWithWhatServesThem) {
  const std::string embedder = kSentences + "bert-cls";
  for (const char* command : {"classify", "rerank"}) {
    const Outcome outcome = scored(command, embedder, {"query", "document"});
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "lapilli embed")) << outcome.err;
  }
  TemporaryFolder folder;
  const Outcome file = scored("rerank", kReranker, {folder.file("notes.txt", "a\n")});
  EXPECT_EQ(file.code, 2) << file.err;
  EXPECT_TRUE(contains(file.err, "the first argument is the query")) << file.err;
  const Outcome labels = scored("rerank", kSentiment, {"query", "document"});
  EXPECT_EQ(labels.code, 3) << labels.err;
  EXPECT_TRUE(contains(labels.err, "lapilli classify --pairs")) << labels.err;
  const Outcome vector = scored("embed", kReranker, {"a text"});
  EXPECT_EQ(vector.code, 3) << vector.err;
  EXPECT_TRUE(contains(vector.err, "lapilli rerank")) << vector.err;
}

}  // namespace
}  // namespace lapilli::test
