// lapilli tag, answer, fill and classify --labels: small directories with the reference's results, and bad input.
#include <chrono>
#include <cmath>
#include <thread>

#include "cli/sentence_models.hpp"

namespace lapilli::test {
namespace {

using Json = nlohmann::json;

const std::string kTagger = "dslim__bert-base-NER", kAnswerer = "question-answering-bert",
                  kSquad = "deepset__roberta-base-squad2", kFiller = "google-bert__bert-base-uncased@2018",
                  kAlbert = "albert__albert-base-v2", kEntailer = "zero-shot-bart";
const std::string kDecomposed =
    "  Anna Mu\xCC\x88ller\xC2\xA0lives in Gen\xC3\xA8ve, \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80 and Paul.";

Outcome find(const std::string& verb, const std::string& model, std::vector<std::string> arguments,
             const std::string& input = "") {
  const std::string directory = model.starts_with("/") ? model : sentence_model(model);
  arguments.insert(arguments.begin(), {verb, "--model", directory});
  return run(lapilli(std::move(arguments)), input);
}

Json recorded_case(const std::string& model, const std::string& name) {
  const Json record = read_json(LAPILLI_TEST_DATA "/sentences/" + model + "/expected.json");
  for (const Json& c : record["cases"])
    if (c["name"] == name) return c;
  ADD_FAILURE() << model << " has no case " << name;
  return {};
}

std::vector<Json> objects_in(const std::string& out) {
  std::vector<Json> objects;
  for (const std::string& line : lines_of(out)) {
    objects.push_back(Json::parse(line, nullptr, false));
    EXPECT_TRUE(objects.back().is_object()) << line;
  }
  return objects;
}

// The one object that a command printed.
Json found(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto objects = objects_in(outcome.out);
  EXPECT_EQ(objects.size(), 1u) << outcome.out;
  return objects.empty() ? Json::object() : objects[0];
}

void expect_error(const Outcome& outcome, int code, const std::vector<std::string>& said) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  for (const std::string& part : said) EXPECT_TRUE(contains(outcome.err, part)) << part << "\n" << outcome.err;
}

// The bytes at which the characters begin, and the end.
std::vector<size_t> beginnings(const std::string& text) {
  std::vector<size_t> at;
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) at.push_back(i);
  at.push_back(text.size());
  return at;
}

// The slice by bytes, the slice by characters and the printed span are one string.
void expect_slices(const Json& spans, const std::string& text) {
  const auto at = beginnings(text);
  for (const Json& span : spans) {
    const size_t begin = span["begin"], end = span["end"], first = span["first_character"],
                 last = span["end_character"];
    ASSERT_TRUE(begin <= end && end <= text.size() && first <= last && last < at.size()) << span;
    EXPECT_EQ(text.substr(begin, end - begin), span["text"]);
    EXPECT_EQ(at[first], begin);
    EXPECT_EQ(at[last], end);
  }
}

// ---- the reference's results, as text and as JSON ------------------------------------------------------------------

TEST(CliDeviceSpans, TagsAreTheReferences) {
  const Json c = recorded_case(kTagger, "tag");
  const std::string text = c["text"];
  for (const char* how : {"none", "simple", "average"}) {
    const Json tags = found(find("tag", kTagger, {"--json", "--aggregation", how, text}))["tags"];
    const Json& wanted = c["entities"][how];
    ASSERT_EQ(tags.size(), wanted.size()) << how;
    for (size_t i = 0; i < tags.size(); ++i) {
      EXPECT_EQ(tags[i]["label"], wanted[i]["label"]) << how << " " << i;
      EXPECT_EQ(tags[i]["first_character"], wanted[i]["start"]) << how << " " << i;
      EXPECT_EQ(tags[i]["end_character"], wanted[i]["end"]) << how << " " << i;
      EXPECT_NEAR(tags[i]["score"].get<double>(), wanted[i]["score"].get<double>(), 1e-4) << how << " " << i;
    }
  }
}

TEST(CliDeviceSpans, AnswersAreTheReferences) {
  for (const std::string& model : {kAnswerer, kSquad}) {
    const Json c = recorded_case(model, "short");
    const std::string text = c["context"];
    const Json answers = found(find(
        "answer", model, {"--json", "--top", "3", "--question", c["question"].get<std::string>(), text}))["answers"];
    ASSERT_EQ(answers.size(), 3u) << model;
    expect_slices(answers, text);
    EXPECT_EQ(answers[0]["text"], c["answers"][0]["answer"]) << model;
    EXPECT_EQ(answers[0]["first_character"], c["answers"][0]["start"]) << model;
    EXPECT_NEAR(answers[0]["score"].get<double>(), c["answers"][0]["score"].get<double>(), 1e-4) << model;
  }
  const Json none = recorded_case(kAnswerer, "impossible_0");
  const Outcome text =
      find("answer", kAnswerer, {"--allow-empty", "--top", "2", "--question", none["question"], none["context"]});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out, " 0.153 at 0-0\tbrown fox 0.029 at 10-19\n");
}

TEST(CliDeviceSpans, OwnLabelsAreScoredAsTheReferenceDoes) {
  for (const char* name : {"single_label", "multi_label", "one_label", "long_premise"}) {
    const Json c = recorded_case(kEntailer, name);
    std::string labels;
    for (const Json& label : c["candidate_labels"]) labels += (labels.empty() ? "" : ",") + label.get<std::string>();
    std::vector<std::string> arguments{"--quiet", "--json", "--top", "9", "--labels", labels, c["premise"]};
    if (name == std::string("multi_label")) arguments.insert(arguments.begin(), "--multi-label");
    const Json line = found(find("classify", kEntailer, arguments)), &classes = line["classes"];
    ASSERT_EQ(classes.size(), c["labels"].size()) << name;
    for (size_t i = 0; i < classes.size(); ++i) {
      EXPECT_EQ(classes[i]["label"], c["labels"][i]) << name;
      EXPECT_NEAR(classes[i]["probability"].get<double>(), c["scores"][i].get<double>(), 1e-4) << name;
    }
    if (name == std::string("long_premise")) {
      EXPECT_TRUE(line.contains("cut"));
    }
  }
}

TEST(CliDeviceSpans, WordsAreTheReferences) {
  for (const std::string& model : {kFiller, kAlbert}) {
    const Json c = recorded_case(model, "fill");
    const Json mask = found(find("fill", model, {"--json", c["text"].get<std::string>()}))["masks"][0];
    EXPECT_EQ(mask["begin"], c["text"].get<std::string>().find("[MASK]"));
    ASSERT_EQ(mask["words"].size(), 5u) << model;
    for (size_t i = 0; i < 5; ++i) {
      const Json &word = mask["words"][i], &wanted = c["answers"][i];
      EXPECT_EQ(word["token"], wanted["token"]) << model << " " << i;
      EXPECT_EQ(word["filled"], wanted["sequence"]) << model << " " << i;
      EXPECT_NEAR(word["score"].get<double>(), wanted["score"].get<double>(), 1e-4) << model << " " << i;
      EXPECT_FALSE(word["text"].get<std::string>().starts_with("##")) << word;
    }
  }
}

// The meaning that problem_type gives a score, with the same weights.
TEST(CliDeviceSpans, ProbabilitiesAreAsTheConfigSays) {
  TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(sentence_model("distilbert__distilbert-base-uncased-finetuned-sst-2-english"), model,
           fs::copy_options::recursive);
  Json config = read_json(model + "/config.json");
  config.erase("problem_type");
  const auto classes = [&](const char* type) {
    if (*type) config["problem_type"] = type;
    folder.file("model/config.json", config.dump());
    return found(find("classify", model, {"--json", "--top", "2", "The model works."}))["classes"];
  };
  const Json softmax = classes(""), several = classes("multi_label_classification");
  const double high = softmax[0]["score"], low = softmax[1]["score"];
  EXPECT_NEAR(softmax[0]["probability"].get<double>(), 1 / (1 + std::exp(low - high)), 1e-6);
  EXPECT_EQ(classes("single_label_classification"), softmax);
  EXPECT_NEAR(several[0]["probability"].get<double>(), 1 / (1 + std::exp(-high)), 1e-6);
  EXPECT_NEAR(several[1]["probability"].get<double>(), 1 / (1 + std::exp(-low)), 1e-6);
  EXPECT_NEAR(classes("regression")[0]["probability"].get<double>(), high, 1e-6);
}

// ---- a line for each text ------------------------------------------------------------------------------------------

const std::string kTextLines = "Anna in Paris\n\n \xC2\xA0 \nbad \xff byte\n" + kDecomposed + "\r\n" +
                               std::string((size_t{1} << 20) + 1, 'a') + "\nend\n";

std::string shown_span(const Json& span, bool tag) {
  char score[32];
  std::snprintf(score, sizeof score, " %.3f", span["score"].get<double>());
  const std::string place = " at " + std::to_string(span["first_character"].get<int>()) + "-" +
                            std::to_string(span["end_character"].get<int>());
  return span["text"].get<std::string>() + (tag ? " " + span["label"].get<std::string>() : "") + score +
         (tag ? "" : place);
}

// The line that shows the spans, with tabs between.
std::string shown_line(const Json& spans, bool tag) {
  std::string line;
  for (const Json& span : spans) line += (line.empty() ? "" : "\t") + shown_span(span, tag);
  return line;
}

void expect_each_line(const std::string& verb, const std::string& model, std::vector<std::string> arguments,
                      const char* key) {
  const Outcome text = find(verb, model, arguments, kTextLines);
  arguments.emplace_back("--json");
  const Outcome json = find(verb, model, arguments, kTextLines);
  for (const Outcome& outcome : {text, json})
    expect_error(outcome, 1, {"line 4: ", "UTF-8", "line 6: the line is longer than 1048576 bytes"});
  const auto lines = lines_of(text.out);
  const auto objects = objects_in(json.out);
  ASSERT_EQ(lines.size(), 7u);
  ASSERT_EQ(objects.size(), 7u);
  for (const size_t i : {1, 2, 3, 5}) EXPECT_EQ(lines[i], "") << i;
  for (const size_t i : {1, 2}) EXPECT_EQ(objects[i][key], Json::array()) << i;
  for (const size_t i : {3, 5}) EXPECT_TRUE(objects[i]["error"].contains("message")) << objects[i];
  const std::string texts[] = {"Anna in Paris", "", "", "", kDecomposed, "", "end"};
  for (const size_t i : {0, 4, 6}) {
    expect_slices(objects[i][key], texts[i]);
    EXPECT_EQ(lines[i], shown_line(objects[i][key], verb == "tag"));
    EXPECT_EQ(objects[i]["line"], i + 1);
    EXPECT_FALSE(lines[i].empty()) << i;
  }
}

TEST(CliDeviceSpans, ALineOfTextGivesALineOfTags) { expect_each_line("tag", kTagger, {}, "tags"); }

TEST(CliDeviceSpans, ALineOfTextGivesALineOfAnswers) {
  expect_each_line("answer", kSquad, {"--lines", "--top", "3", "--question", "Who lives there?"}, "answers");
}

// A file is one text; an empty one has no answer.
TEST(CliDeviceSpans, AFileIsOneText) {
  TemporaryFolder folder;
  const std::string file = folder.file("a.txt", "The quick brown fox\njumps over the lazy dog.\n");
  const Json whole = found(find("answer", kAnswerer, {"--json", "--question", "Who?", file}))["answers"];
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_LE(whole[0]["end"], 45);
  EXPECT_EQ(lines_of(find("answer", kAnswerer, {"--lines", "--question", "Who?", file}).out).size(), 2u);
  EXPECT_EQ(find("answer", kAnswerer, {"--question", "Who?"}, "").out, "\n");
}

TEST(CliDeviceSpans, PairsHaveATabBetween) {
  TemporaryFolder folder;
  const std::string file = folder.file("pairs.tsv", "Who?\tThe fox runs.\nno tab\n\nWhere?\tIn Paris.\tAnd so on.\n");
  const Outcome pairs = find("answer", kSquad, {"--pairs", "--json", file});
  expect_error(pairs, 1, {"pairs.tsv:2: there is no tab that parts two texts"});
  const auto lines = objects_in(pairs.out);
  ASSERT_EQ(lines.size(), 4u);
  const Json alone = found(find("answer", kSquad, {"--json", "--question", "Who?", "The fox runs."}));
  EXPECT_EQ(lines[0]["answers"][0]["text"], alone["answers"][0]["text"]);
  EXPECT_EQ(lines[2]["answers"], Json::array());
  expect_slices(lines[3]["answers"], "In Paris.\tAnd so on.");
  EXPECT_EQ(lines_of(find("answer", kSquad, {"--pairs", file}).out).size(), 4u);
  EXPECT_EQ(lines_of(find("classify", "cross-xlm-roberta", {"--pairs", file}).out).size(), 4u);
}

// ---- masks ---------------------------------------------------------------------------------------------------------

TEST(CliDeviceSpans, EachMaskHasAListAndOthersStay) {
  const std::string input = "[MASK] ate a [MASK].\nI ate a <mask>.\n\nno mask\n\xC3\xA9 [MASK]\n" +
                            std::string(300, 'a') + " [MASK]\n" + std::string(400, '.') + " [MASK]\n";
  const Outcome json = find("fill", kFiller, {"--json", "--top", "2"}, input);
  expect_error(json, 1, {"line 2: the text has no mask: write [MASK]", "line 4: ", "line 7: the text is longer than"});
  const auto lines = objects_in(json.out);
  ASSERT_EQ(lines.size(), 7u);
  ASSERT_EQ(lines[0]["masks"].size(), 2u);
  EXPECT_EQ(lines[0]["masks"][0]["begin"], 0);
  EXPECT_EQ(lines[0]["masks"][1]["begin"], 13);
  EXPECT_EQ(lines[0]["masks"][1]["end"], 19);
  for (const Json& mask : lines[0]["masks"]) {
    ASSERT_EQ(mask["words"].size(), 2u);
    for (const Json& word : mask["words"]) {
      const std::string filled = word["filled"];
      EXPECT_TRUE(contains(filled, "[MASK]") && contains(filled, "ate a") && !contains(filled, "[CLS]")) << filled;
      EXPECT_FALSE(filled.starts_with("##")) << filled;
    }
  }
  EXPECT_EQ(lines[2]["masks"], Json::array());
  EXPECT_EQ(lines[4]["masks"][0]["begin"], 3);
  EXPECT_EQ(lines[4]["masks"][0]["first_character"], 2);
  const auto text = lines_of(find("fill", kFiller, {"--top", "2"}, input).out);
  ASSERT_EQ(text.size(), 7u);
  EXPECT_EQ(std::count(text[0].begin(), text[0].end(), '\t'), 4);
  EXPECT_TRUE(contains(text[0], "\t|\t")) << text[0];
  EXPECT_EQ(text[1], "");
}

// ---- labels of the user --------------------------------------------------------------------------------------------

TEST(CliDeviceSpans, LabelsStandForThemselvesOnce) {
  const std::string text = "The model works.";
  const Outcome twice = find("classify", kEntailer, {"--json", "--top", "9", "--labels", "sea, town ,sea", text});
  const Json classes = found(twice)["classes"];
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_TRUE(contains(twice.err, "'sea' is there twice")) << twice.err;
  // An argument behind the labels is a text, and labels may be given one by one.
  const Outcome apart =
      find("classify", kEntailer, {"--json", "--top", "9", text, "--labels", "sea", "--labels", "town"});
  EXPECT_EQ(found(apart)["classes"], classes);
  for (const char* empty : {"", " , "})
    expect_error(find("classify", kEntailer, {text, "--labels", empty}), 2, {"it names no label"});
  EXPECT_EQ(found(find("classify", kEntailer, {"--json", "--top", "9", text, "--labels", "sea, ,town"}))["classes"],
            classes);
  expect_error(find("classify", kEntailer, {"--labels", "sea", "--hypothesis", "no place", text}), 2, {"{}"});
}

TEST(CliDeviceSpans, EntailmentHasAName) {
  TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string(), text = "The model works.";
  fs::copy(sentence_model(kEntailer), model, fs::copy_options::recursive);
  const std::vector<std::string> labels{"--json", "--top", "2", "--labels", "sea,town"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), labels.begin(), labels.end());
    more.push_back(text);
    return find("classify", model, std::move(more));
  };
  const Json named = found(with({}))["classes"];
  expect_error(with({"--entailment", "nothing"}), 2, {"'nothing'", "'contradiction', 'neutral', 'entailment'"});
  Json config = read_json(model + "/config.json");
  for (const char* key : {"id2label", "label2id"}) config.erase(key);
  config["num_labels"] = 3;
  folder.file("model/config.json", config.dump());
  expect_error(with({}), 3, {"'LABEL_0', 'LABEL_1', 'LABEL_2'", "--entailment"});
  EXPECT_EQ(found(with({"--entailment", "LABEL_2"}))["classes"], named);
}

// ---- models that lack the head -------------------------------------------------------------------------------------

TEST(CliDeviceSpans, ABareEncoderIsRefusedWithTheTensorsThatItLacks) {
  const std::pair<std::vector<std::string>, const char*> verbs[] = {
      {{"tag", "a text"}, "\"classifier\""},
      {{"answer", "a text", "--question", "q"}, "\"qa_outputs\""},
      {{"fill", "a [MASK]"}, "\"cls.predictions\" or \"lm_head\""},
      {{"classify", "a text"}, "\"classifier\""},
      {{"classify", "a text", "--labels", "a,b"}, "\"classifier\""}};
  for (const auto& [arguments, tensors] : verbs) {
    const Outcome outcome =
        find(arguments[0], "bert-cls", std::vector<std::string>(arguments.begin() + 1, arguments.end()));
    expect_error(outcome, 3, {"bert", tensors, "what serves it: lapilli embed"});
    EXPECT_EQ(outcome.out, "");
  }
  expect_error(find("answer", kTagger, {"--question", "q", "a"}), 3, {"lapilli tag"});
  expect_error(find("tag", kAnswerer, {"a"}), 3, {"lapilli answer"});
  expect_error(find("generate", kTagger, {"a"}), 3, {"lapilli tag"});
  expect_error(find("tag", bundled_model(), {"a"}), 3, {"marian", "lapilli translate"});
}

// A config that promises a head, and weights without it.
TEST(CliSpans, WeightsWithoutTheHeadAreRefusedByName) {
  TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(sentence_model("bert-cls"), model, fs::copy_options::recursive);
  Json config = read_json(model + "/config.json");
  config["architectures"] = {"BertForTokenClassification"};
  folder.file("model/config.json", config.dump());
  fs::remove(model + "/modules.json");
  expect_error(run(lapilli({"inspect", model})), 3, {"classifier.weight"});
}

// ---- texts that are too long ---------------------------------------------------------------------------------------

std::string long_text(size_t sentences) {
  std::string text;
  for (size_t i = 0; i < sentences; ++i) text += "Anna lives in Paris. ";
  return text;
}

void expect_in_order(const Json& tags) {
  for (size_t i = 1; i < tags.size(); ++i) ASSERT_GE(tags[i]["begin"], tags[i - 1]["end"]) << i;
}

// Some 100,000 tokens: in windows, with no place twice, in bounded memory.
TEST(CliDeviceSpans, LongTextsRunInWindows) {
  const std::string text = long_text(5000);
  const Outcome outcome = find("tag", kTagger, {"--json", "--stats"}, text + "\nshort\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = objects_in(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  expect_in_order(lines[0]["tags"]);
  expect_slices(lines[0]["tags"], text);
  EXPECT_GT(lines[0]["windows"], 1000);
  EXPECT_GT(lines[0]["tags"].back()["end"], text.size() - 25);
  EXPECT_FALSE(lines[1].contains("windows"));
  const Json stats = Json::parse(lines_of(outcome.err).back(), nullptr, false);
  EXPECT_GT(stats["source_tokens"], 70000);
  EXPECT_LT(stats["host_bytes_peak"], uint64_t{300} << 20) << stats;
}

TEST(CliDeviceSpans, WithoutWindowsTheEndIsLeftOutAndSaid) {
  const std::string text = long_text(30);
  const Outcome tagged = find("tag", kTagger, {"--no-windows", "--json"}, "short\n" + text + "\n");
  EXPECT_EQ(tagged.code, 0);
  const auto lines = objects_in(tagged.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_FALSE(lines[0].contains("cut"));
  EXPECT_EQ(lines[1]["cut"], true);
  EXPECT_LT(lines[1]["tags"].back()["end"], text.size() / 2);
  EXPECT_TRUE(contains(tagged.err, "note: line 2: the text is longer than the 64 tokens")) << tagged.err;
  const Json cut = found(find("answer", kAnswerer, {"--quiet", "--no-windows", "--json", "--question", "Who?", text}));
  EXPECT_EQ(cut["cut"], true);
  const Json whole = found(find("answer", kAnswerer, {"--json", "--question", "Who?", text}));
  EXPECT_GT(whole["windows"], 2);
  EXPECT_FALSE(whole.contains("cut"));
}

TEST(CliDeviceSpans, WindowsMayHaveAnySizeThatHoldsText) {
  const std::string text = long_text(12);
  const auto tagged = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--json");
    arguments.push_back(text);
    return find("tag", kTagger, std::move(arguments));
  };
  const Json usual = found(tagged({}));
  EXPECT_EQ(found(tagged({"--window", "4294967295"})), usual);  // as large as the model allows
  for (const char* window : {"3", "8"}) {
    const Json small = found(tagged({"--window", window}));
    EXPECT_GT(small["windows"], usual["windows"]);
    expect_in_order(small["tags"]);
    expect_slices(small["tags"], text);
  }
  expect_error(tagged({"--window", "1"}), 1, {"line 1: a window of 1 ids has no room"});
  expect_error(tagged({"--stride", "1000000"}), 1, {"line 1: the windows share 1000000 ids", "smaller stride"});
  EXPECT_EQ(tagged({"--window", "10", "--stride", "7"}).code, 0);
  expect_error(find("answer", kAnswerer, {"--window", "3", "--question", "Who is it?", text}), 1, {"no room"});
}

// ---- numbers that are none -----------------------------------------------------------------------------------------

// The number of a word in the vocabulary.
size_t word_id(const std::string& model, const std::string& word) {
  const auto words = lines_of(read_file(sentence_model(model) + "/vocab.txt"));
  const auto at = std::find(words.begin(), words.end(), word);
  EXPECT_NE(at, words.end()) << word;
  return static_cast<size_t>(at - words.begin());
}

// Sums pass the range of floats for one word alone.
TEST(CliDeviceSpans, NoScoreIsNotFinite) {
  TemporaryFolder folder;
  const size_t digit = word_id(kAnswerer, "7");
  const std::string model = changed_model(folder, kAnswerer, "bert.embeddings.word_embeddings.weight", [&](Vector& v) {
    for (size_t i = 0; i < 32; ++i) v[digit * 32 + i] = 3e38f;
  });
  const std::string input = "The fox runs.\nA fox has 7 tails.\nThe fox runs.\n";
  const std::vector<std::string> arguments{"--lines", "--question", "Who runs?"};
  const Outcome text = find("answer", model, arguments, input);
  const Outcome json = find("answer", model, {"--json", "--lines", "--question", "Who runs?"}, input);
  for (const Outcome& outcome : {text, json}) {
    expect_error(outcome, 1, {"line 2: ", "not finite"});
    EXPECT_FALSE(contains(outcome.out, "nan") || contains(outcome.out, "inf") || contains(outcome.out, "null"));
  }
  const auto lines = objects_in(json.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[1].contains("error")) << lines[1];
  EXPECT_EQ(lines[0]["answers"][0]["text"], lines[2]["answers"][0]["text"]);
  EXPECT_EQ(lines_of(text.out)[1], "");
}

// ---- records and files ---------------------------------------------------------------------------------------------

TEST(CliDeviceSpans, RecordsGetWhatIsFound) {
  const std::string objects = "{\"n\": 1, \"body\": \"Anna in Paris\"}\n\n{\"n\": 2}\n";
  const Outcome json = find("tag", kTagger, {"--format", "jsonl", "--field", "body", "--to-field", "names"}, objects);
  expect_error(json, 1, {"line 3: there is no \"body\""});
  const auto lines = lines_of(json.out);
  ASSERT_EQ(lines.size(), 3u);
  const Json record = Json::parse(lines[0]);
  EXPECT_EQ(record["n"], 1);
  expect_slices(record["names"], "Anna in Paris");
  EXPECT_FALSE(record["names"].empty());
  const Outcome table =
      find("answer", kSquad, {"--format", "tsv", "--column", "2", "--question", "Who?"}, "1\tThe fox runs.\n2\t\n");
  EXPECT_EQ(table.code, 0) << table.err;
  const auto rows = lines_of(table.out);
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_TRUE(rows[0].starts_with("1\t[")) << rows[0];
  expect_slices(Json::parse(rows[0].substr(2)), "The fox runs.");
  const Outcome masks = find("fill", kFiller, {"--format", "jsonl", "--top", "1"}, R"({"text": "a [MASK] b"})");
  EXPECT_EQ(Json::parse(masks.out)["masks"][0]["words"].size(), 1u) << masks.err;
}

TEST(CliDeviceSpans, FoldersGiveAFileForEach) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "in/deep");
  folder.file("in/a.txt", "Anna in Paris\n");
  folder.file("in/deep/b.txt", "Anna\n\nPaul\n");
  const std::string in = (folder.path() / "in").string(), out = (folder.path() / "out").string() + "/";
  EXPECT_EQ(find("tag", kTagger, {"--quiet", "-o", out, in}).code, 0);
  EXPECT_EQ(lines_of(read_file(out + "a.txt")).size(), 1u);
  EXPECT_EQ(lines_of(read_file(out + "deep/b.txt")).size(), 3u);
  EXPECT_EQ(find("tag", kTagger, {"-o", out, in}).code, 2);  // they are there
  EXPECT_EQ(find("tag", kTagger, {"--quiet", "--suffix", ".tags", in}).code, 0);
  EXPECT_EQ(read_file((folder.path() / "in/a.tags.txt").string()), read_file(out + "a.txt"));
}

TEST(CliDeviceSpans, AnInterruptedFileOfTagsIsResumedToTheSameBytes) {
  TemporaryFolder folder;
  std::string input;
  for (int i = 0; i < 6000; ++i) input += "Anna lives in Paris " + std::to_string(i) + "\n";
  const std::string file = folder.file("lines.txt", input), whole = (folder.path() / "whole").string(),
                    to = (folder.path() / "tags").string();
  const std::vector<std::string> arguments{"tag", "--model", sentence_model(kTagger), "--batch", "8", "-o", to, file};
  Process process(lapilli(arguments));
  while (!fs::exists(to + ".part") || fs::file_size(to + ".part") < 50000)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().code, 143);
  EXPECT_FALSE(fs::exists(to));
  const Outcome other = find("tag", kTagger, {"--batch", "8", "--aggregation", "max", "-o", to, "--resume", file});
  expect_error(other, 2, {"--aggregation"});
  EXPECT_EQ(find("tag", kTagger, {"--quiet", "--batch", "8", "-o", to, "--resume", file}).code, 0);
  EXPECT_EQ(find("tag", kTagger, {"--quiet", "--batch", "8", "-o", whole, file}).code, 0);
  EXPECT_EQ(lines_of(read_file(to)).size(), 6000u);
  EXPECT_TRUE(read_file(to) == read_file(whole));
}

// ---- refusals before a model is loaded -----------------------------------------------------------------------------

Outcome find_without_driver(const std::string& verb, const std::string& model, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {verb, "--model", sentence_model(model)});
  Spawn spawn = lapilli(std::move(arguments));
  spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
  return run(spawn);
}

TEST(CliSpans, WrongArgumentsAreRefusedBeforeTheModelIsLoaded) {
  const std::pair<std::vector<std::string>, const char*> calls[] = {
      {{"answer", "a"}, "give the question"},
      {{"answer", "a", "--question", " "}, "give the question"},
      {{"answer", "a", "--question", "q", "--pairs"}, "--question"},
      {{"answer", "a", "--question", "q", "--max-answer-tokens", "0"}, "--max-answer-tokens"},
      {{"answer", "a", "--question", "q", "--top", "0"}, "--top"},
      {{"tag", "a", "--aggregation", "sum"}, "{none,simple,first,average,max}"},
      {{"tag", "a", "--window", "0"}, "--window"},
      {{"tag", "a", "--window", "9", "--no-windows"}, "--no-windows"},
      {{"tag", "a", "--stride", "-1"}, "--stride"},
      {{"tag", "a", "--resume"}, "--resume needs -o or --suffix"},
      {{"tag", "a", "--json", "--format", "jsonl"}, "take lines"},
      {{"fill", "a", "--top", "1001"}, "--top"},
      {{"classify", "a", "--hypothesis", "{}"}, "--labels"},
      {{"classify", "a", "--labels", "a,b", "--pairs"}, "--pairs"},
      {{"classify", "a", "--multi-label"}, "--labels"}};
  for (const auto& [arguments, said] : calls) {
    const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
    expect_error(find_without_driver(arguments[0], kTagger, rest), 2, {said});
  }
  EXPECT_EQ(find_without_driver("tag", kTagger, {"a"}).code, 4);
}

// ---- inspect -------------------------------------------------------------------------------------------------------

TEST(CliSpans, InspectSaysLabelsTasksAndLimits) {
  struct Wanted {
    const char* model;
    Json tasks;
    std::vector<std::string> said;
  };
  const Wanted all[] = {
      {"dslim__bert-base-NER",
       {"tag"},
       {"9: O, B-MISC, I-MISC, B-PER, I-PER, and so on",
        "at most 64 tokens; longer "
        "ones run in windows",
        "lapilli tag --model"}},
      {"deepset__roberta-base-squad2", {"answer"}, {"80 tokens; longer ones run in windows", "--question \"WHO?\""}},
      {"google-bert__bert-base-uncased@2018",
       {"fill", "embed", "search"},
       {"64 tokens; longer ones fail", "lapilli fill"}},
      {"zero-shot-bart", {"classify", "classify --labels"}, {"3: contradiction, neutral, entailment", "are cut"}},
      {"distilbert__distilbert-base-uncased-finetuned-sst-2-english", {"classify"}, {"2: NEGATIVE, POSITIVE"}}};
  for (const Wanted& wanted : all) {
    const Outcome text = run(lapilli({"inspect", sentence_model(wanted.model)}));
    expect_error(text, 0, {});
    for (const std::string& part : wanted.said) EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
    const Json json =
        Json::parse(run(lapilli({"inspect", "--json", sentence_model(wanted.model)})).out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << wanted.model;
    EXPECT_EQ(json["tasks"], wanted.tasks) << wanted.model;
    EXPECT_TRUE(json["texts"]["max_tokens"] > 0) << json["texts"];
  }
}

}  // namespace
}  // namespace lapilli::test
