// lapilli embed on a device, with small directories of sentence-transformers and the reference's vectors for them.
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>

#include "cli/sentence_models.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli::test {
namespace {

using Json = nlohmann::json;
using Vectors = std::vector<Vector>;

const std::vector<std::string> kTexts = {"The model works.", "", "same words other order", "Le petit garçon a mangé."};

std::string lines_from(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

Outcome embed(const std::string& model, std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {"embed", "--model", model});
  return run(lapilli(std::move(arguments)), input);
}

// The vectors, one from each line of JSON.
Vectors vectors_in(const std::string& out) {
  Vectors vectors;
  for (const std::string& line : lines_of(out)) {
    const Json json = Json::parse(line, nullptr, false);
    EXPECT_TRUE(json.is_object()) << line;
    vectors.push_back(json.value("embedding", Vector()));
  }
  return vectors;
}

Vectors embedded(const std::string& model, std::vector<std::string> arguments, const std::string& input = "") {
  const Outcome outcome = embed(model, std::move(arguments), input);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return vectors_in(outcome.out);
}

std::string bits_of(const Vectors& vectors) {
  std::string bytes;
  for (const Vector& v : vectors) bytes.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
  return bytes;
}

double largest_difference(const Vector& a, const Vector& b) {
  if (a.size() != b.size() || a.empty()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(double{a[i]} - b[i]));
  return worst;
}

double length(const Vector& v) {
  double sum = 0;
  for (const float x : v) sum += double{x} * x;
  return std::sqrt(sum);
}

void expect_refused(const Outcome& outcome, int code, const std::vector<std::string>& said) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  for (const std::string& part : said) EXPECT_TRUE(contains(outcome.err, part)) << part << "\n" << outcome.err;
}

// ---- the numbers ----

struct Recorded {
  std::vector<std::string> texts;
  Vectors vectors;
  double tolerance = 0;
};

Recorded recorded(const std::string& folder, const std::string& name) {
  const std::string base = LAPILLI_TEST_DATA "/sentences/" + folder + "/expected";
  Recorded found;
  const auto tensors = Checkpoint::open_file(base + ".safetensors");
  const Json record = read_json(base + ".json");
  for (const Json& c : record["cases"]) {
    if (c["name"] != name) continue;
    const Json& output = c["outputs"]["sentence_embedding"];
    found.texts = c["texts"].get<std::vector<std::string>>();
    found.tolerance = output["atol_fp32"];
    const size_t width = output["shape"][1];
    const auto values = read_floats(*tensors->find(output["tensor"].get<std::string>()));
    for (auto at = values->begin(); at != values->end(); at += static_cast<ptrdiff_t>(width))
      found.vectors.emplace_back(at, at + static_cast<ptrdiff_t>(width));
  }
  EXPECT_FALSE(found.texts.empty()) << folder << " has no case " << name;
  return found;
}

void expect_record(const std::string& folder, const std::string& name, std::vector<std::string> arguments) {
  const Recorded record = recorded(folder, name);
  const Vectors made = embedded(sentence_model(folder), std::move(arguments), lines_from(record.texts));
  ASSERT_EQ(made.size(), record.vectors.size()) << folder;
  for (size_t i = 0; i < made.size(); ++i)
    EXPECT_LE(largest_difference(made[i], record.vectors[i]), record.tolerance) << folder << " " << name << " " << i;
}

TEST(CliDeviceEmbed, VectorsAreTheReferences) {
  expect_record("mpnet-mean", "texts", {});
  expect_record("distilbert-mean-dense", "texts", {});
  expect_record("xlm-roberta-prompts", "texts", {});  // with the default prompt
}

TEST(CliDeviceEmbed, PromptsAreTheReferences) {
  expect_record("bert-cls", "query", {"--task", "query"});
  expect_record("bert-cls", "document", {"--task", "document"});
  expect_record("bert-cls", "by_name", {"--prompt", "query"});
  expect_record("bert-cls", "own_prompt", {"--prompt-text", "passage: "});
  expect_record("bert-several", "query", {"--task", "query"});
  expect_record("xlm-roberta-prompts", "document", {"--task", "document"});
  expect_record("xlm-roberta-prompts", "no_prompt", {"--prompt-text", ""});
}

TEST(CliDeviceEmbed, JsonNumpyAndRawNumbersAreTheSameFloats) {
  TemporaryFolder folder;
  const std::string model = sentence_model("bert-several"), npy = (folder.path() / "v.npy").string(),
                    raw = (folder.path() / "v.f32").string(), input = lines_from(kTexts);
  const std::string bits = bits_of(embedded(model, {}, input));
  EXPECT_EQ(bits.size(), kTexts.size() * 64 * sizeof(float));
  EXPECT_EQ(embed(model, {"-o", npy}, input).code, 0);
  EXPECT_EQ(embed(model, {"-o", raw}, input).code, 0);
  EXPECT_EQ(embed(model, {"--vectors", "f32"}, input).out, bits);
  EXPECT_EQ(read_file(raw), bits);
  const std::string array = read_file(npy);
  EXPECT_EQ(array.substr(128), bits);
  EXPECT_EQ(array.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_TRUE(contains(array.substr(10, 118), "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 64), }")) << array;
  EXPECT_EQ(array[127], '\n');
}

TEST(CliDeviceEmbed, TextsTogetherAreAsEachAlone) {
  const std::string model = sentence_model("bert-cls");
  const Vectors together = embedded(model, {}, lines_from(kTexts));
  const Vectors exactly = embedded(model, {"--deterministic"}, lines_from(kTexts));
  const Vectors in_twos = embedded(model, {"--batch", "2"}, lines_from(kTexts));
  ASSERT_EQ(together.size(), kTexts.size());
  for (size_t i = 0; i < kTexts.size(); ++i) {
    EXPECT_LE(largest_difference(embedded(model, {kTexts[i]})[0], together[i]), 1e-6) << kTexts[i];
    EXPECT_LE(largest_difference(in_twos[i], together[i]), 1e-6) << kTexts[i];
    EXPECT_EQ(bits_of(embedded(model, {"--deterministic", kTexts[i]})), bits_of({exactly[i]})) << kTexts[i];
  }
}

// The input has more lines than share a pass, and more than are read together.
TEST(CliDeviceEmbed, EveryLineKeepsItsPlace) {
  std::string input;
  for (int i = 0; i < 5000; ++i)
    input += std::string(static_cast<size_t>(i * 7 % 40), 'a' + static_cast<char>(i % 3)) + "\n";
  const Vectors all = embedded(sentence_model("bert-cls"), {"--quiet", "--deterministic"}, input);
  ASSERT_EQ(all.size(), 5000u);
  const auto lines = lines_of(input);
  for (const size_t i : {0, 1, 255, 256, 4095, 4096, 4999})
    EXPECT_EQ(bits_of(embedded(sentence_model("bert-cls"), {"--deterministic", lines[i]})), bits_of({all[i]})) << i;
}

TEST(CliDeviceEmbed, AnEmptyLineHasAVector) {
  const Vectors vectors = embedded(sentence_model("mpnet-mean"), {}, "\n \na\n");
  ASSERT_EQ(vectors.size(), 3u);
  for (const Vector& v : vectors) EXPECT_NEAR(length(v), 1, 1e-6);
  EXPECT_EQ(bits_of({vectors[0]}), bits_of({vectors[1]})) << "blanks have no tokens";
  EXPECT_EQ(embed(sentence_model("mpnet-mean"), {}, "").out, "");
}

// ---- dimensions and length ----

TEST(CliDeviceEmbed, FewerDimensionsAreCutBeforeTheLengthIsMadeOne) {
  for (const char* folder : {"bert-cls", "bert-max"}) {  // with a step Normalize, and without
    const std::string model = sentence_model(folder);
    const Vectors whole = embedded(model, {}, lines_from(kTexts));
    const Vectors cut = embedded(model, {"--dimensions", "8"}, lines_from(kTexts));
    const Vectors unit = embedded(model, {"--dimensions", "8", "--normalize"}, lines_from(kTexts));
    ASSERT_EQ(unit.size(), kTexts.size());
    for (size_t i = 0; i < kTexts.size(); ++i) {
      Vector first(whole[i].begin(), whole[i].begin() + 8);
      EXPECT_EQ(bits_of({cut[i]}), bits_of({first}));
      const double of = length(first);
      for (float& x : first) x = static_cast<float>(x / of);
      EXPECT_LE(largest_difference(unit[i], first), 1e-6);
      EXPECT_NEAR(length(unit[i]), 1, 1e-6);
    }
  }
}

TEST(CliDeviceEmbed, NormalizeGivesLengthOne) {
  const std::string model = sentence_model("bert-max");
  EXPECT_GT(std::abs(length(embedded(model, {"a"})[0]) - 1), 0.1);
  EXPECT_NEAR(length(embedded(model, {"--normalize", "a"})[0]), 1, 1e-6);
}

TEST(CliDeviceEmbed, MoreDimensionsThanThereAreAreRefusedWithTheirNumber) {
  expect_refused(embed(sentence_model("bert-cls"), {"--dimensions", "33", "a"}), 2,
                 {"--dimensions 33", "vectors have 32"});
  EXPECT_EQ(embedded(sentence_model("bert-cls"), {"--dimensions", "32", "a"})[0].size(), 32u);
}

// ---- prompts ----

TEST(CliDeviceEmbed, AnUnknownPromptIsRefusedWithTheNamesOfAll) {
  expect_refused(embed(sentence_model("xlm-roberta-prompts"), {"--prompt", "code", "a"}), 2,
                 {"'code'", "STS, passage, query"});
  expect_refused(embed(sentence_model("mpnet-mean"), {"--prompt", "query", "a"}), 2, {"'query'", "none"});
}

TEST(CliDeviceEmbed, APromptStandsBeforeTheText) {
  const std::string model = sentence_model("xlm-roberta-prompts");
  const std::string plain = bits_of(embedded(model, {"--prompt-text", "", "query: a"}));
  EXPECT_EQ(bits_of(embedded(model, {"a"})), plain);
  EXPECT_EQ(bits_of(embedded(model, {"--task", "query", "a"})), plain);
  EXPECT_EQ(bits_of(embedded(model, {"--prompt", "query", "a"})), plain);
  EXPECT_NE(bits_of(embedded(model, {"--prompt", "passage", "a"})), plain);
  // No prompt is called document, and a task does not take the default.
  EXPECT_EQ(bits_of(embedded(model, {"--task", "document", "a"})),
            bits_of(embedded(model, {"--prompt-text", "", "a"})));
}

TEST(CliDeviceEmbed, APromptThatLeavesNoRoomIsRefused) {
  std::string prompt;
  for (int i = 0; i < 40; ++i) prompt += "word ";
  expect_refused(embed(sentence_model("bert-cls"), {"--prompt-text", prompt, "a"}), 2, {"the prompt has", "reads 32"});
}

// ---- texts that are too long, and those that fail ----

TEST(CliDeviceEmbed, ALongTextIsCutAndSaidSo) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "word ";
  const Outcome outcome = embed(sentence_model("bert-max"), {}, "short\n" + text + "\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_FALSE(Json::parse(lines[0]).contains("cut"));
  const Json cut = Json::parse(lines[1]);
  EXPECT_EQ(cut["cut"], true);
  EXPECT_EQ(cut["tokens"], 20);
  EXPECT_TRUE(contains(outcome.err, "note: line 2: ") && contains(outcome.err, "20")) << outcome.err;
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
  EXPECT_EQ(embed(sentence_model("bert-max"), {"--quiet"}, text + "\n").err, "");
}

// Nothing says a limit but the positions: 64 of this network, less those before the first token.
TEST(CliDeviceEmbed, WithoutALimitInTheFilesThePositionsAreOne) {
  TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(sentence_model("xlm-roberta-prompts"), model, fs::copy_options::recursive);
  fs::remove(model + "/sentence_bert_config.json");
  Json tokenizer = read_json(model + "/tokenizer_config.json");
  tokenizer["model_max_length"] = 1e30;
  folder.file("model/tokenizer_config.json", tokenizer.dump());
  const auto most = read_json(model + "/config.json")["max_position_embeddings"].get<uint32_t>() - 2;
  const auto tokens_of = [&](size_t words) {
    std::string text;
    for (size_t i = 0; i < words; ++i) text += "a ";
    return Json::parse(embed(model, {"--prompt-text", "", text}).out);
  };
  const size_t each = (tokens_of(10).value("tokens", size_t{0}) - 2) / 10, words = (most - 2) / each;
  ASSERT_EQ(words * each + 2, most);
  EXPECT_EQ(tokens_of(words)["tokens"], most);
  EXPECT_FALSE(tokens_of(words).contains("cut"));
  EXPECT_EQ(tokens_of(words + 1)["tokens"], most);
  EXPECT_EQ(tokens_of(words + 1)["cut"], true);
}

TEST(CliDeviceEmbed, ALineThatIsNoTextFailsAlone) {
  TemporaryFolder folder;
  const std::string model = sentence_model("bert-cls"), input = "a\nbad \xff byte\nsame words\n";
  const Outcome outcome = embed(model, {}, input);
  EXPECT_EQ(outcome.code, 1);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FALSE(Json::parse(lines[1]).contains("embedding"));
  EXPECT_TRUE(contains(Json::parse(lines[1])["error"]["message"], "UTF-8")) << lines[1];
  EXPECT_TRUE(contains(outcome.err, "line 2: ") && contains(outcome.err, "UTF-8")) << outcome.err;
  const Vectors vectors = vectors_in(outcome.out);
  EXPECT_LE(largest_difference(vectors[2], embedded(model, {"same words"})[0]), 1e-6);

  const std::string file = (folder.path() / "v.npy").string();
  EXPECT_EQ(embed(model, {"-o", file}, input).code, 1);
  const std::string bits = read_file(file).substr(128);
  EXPECT_EQ(bits.substr(0, 128), bits_of({vectors[0]}));
  EXPECT_EQ(bits.substr(128, 128), std::string(128, '\0'));
  EXPECT_EQ(bits.substr(256), bits_of({vectors[2]}));
}

int32_t id_of_first_word(const std::string& folder, const std::string& text) {
  const Json record = read_json(LAPILLI_TEST_DATA "/sentences/" + folder + "/expected.json");
  for (const Json& c : record["cases"])
    for (size_t i = 0; c.contains("texts") && i < c["texts"].size(); ++i)
      if (c["texts"][i] == text) return c["input_ids"][i][1];
  return -1;
}

// Weights whose sums pass the range of floats for one word alone.
TEST(CliDeviceEmbed, NoVectorHoldsWhatIsNotFinite) {
  TemporaryFolder folder;
  const auto word = static_cast<size_t>(id_of_first_word("bert-max", "same words other order"));
  const std::string model = changed_model(folder, "bert-max", "embeddings.word_embeddings.weight", [&](Vector& v) {
    for (size_t i = 0; i < 36; ++i) v[word * 36 + i] = 3e38f;
  });
  for (const char* dtype : {"fp32", "bf16"}) {
    const Outcome outcome = embed(model, {"--dtype", dtype}, "a\nsame words other order\na\n");
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "line 2: ") && contains(outcome.err, "not finite")) << outcome.err;
    const Vectors vectors = vectors_in(outcome.out);
    ASSERT_EQ(vectors.size(), 3u) << outcome.out;
    EXPECT_EQ(vectors[0].size(), 36u);
    EXPECT_EQ(vectors[1].size(), 0u);
    EXPECT_EQ(vectors[2], vectors[0]);
  }
}

TEST(CliDeviceEmbed, WeightsThatAreNoNumbersAreRefused) {
  TemporaryFolder folder;
  const std::string model =
      changed_model(folder, "bert-max", "embeddings.word_embeddings.weight", [](Vector& v) { v[7] = NAN; });
  expect_refused(embed(model, {"a"}), 3, {"NaN", "embeddings.word_embeddings.weight"});
}

// Inside the feed-forward layer numbers pass 65504.
TEST(CliDeviceEmbed, WhatPassesTheRangeOfHalfPrecisionInsideStaysFinite) {
  TemporaryFolder folder;
  std::string model;
  const auto scale = [](float by) {
    return [by](Vector& v) {
      for (float& x : v) x *= by;
    };
  };
  for (const char* layer : {"encoder.layer.0.", "encoder.layer.1."}) {
    model = changed_model(folder, "bert-max", layer + std::string("intermediate.dense.weight"), scale(0x1p16f));
    model = changed_model(folder, "bert-max", layer + std::string("output.dense.weight"), scale(0x1p-12f));
  }
  const Vectors whole = embedded(model, {}, lines_from(kTexts));
  const Vectors half = embedded(model, {"--dtype", "fp16"}, lines_from(kTexts));
  ASSERT_EQ(half.size(), kTexts.size());
  for (size_t i = 0; i < half.size(); ++i) EXPECT_LE(largest_difference(half[i], whole[i]), 0.1) << kTexts[i];
}

// ---- records ----

TEST(CliDeviceEmbed, JsonLinesGetAMember) {
  const std::string model = sentence_model("bert-cls");
  const std::string input = R"({"title": "a", "n": 1})"
                            "\n\n"
                            R"({"n": 2})"
                            "\n"
                            R"({"title": "", "embedding": [7]})"
                            "\n";
  const Outcome outcome = embed(model, {"--format", "jsonl", "--field", "title"}, input);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 4u) << outcome.out;
  const Json first = Json::parse(lines[0]), last = Json::parse(lines[3]);
  EXPECT_TRUE(first["title"] == "a" && first["n"] == 1);
  EXPECT_LE(largest_difference(first["embedding"].get<Vector>(), embedded(model, {"a"})[0]), 1e-6);
  EXPECT_EQ(lines[1], "");
  EXPECT_TRUE(Json::parse(lines[2]).contains("error")) << lines[2];
  EXPECT_LE(largest_difference(last["embedding"].get<Vector>(), embedded(model, {""})[0]), 1e-6);
  EXPECT_TRUE(contains(outcome.err, "line 3: there is no \"title\"")) << outcome.err;
  const Outcome other = embed(model, {"--format", "jsonl", "--to-field", "v"}, R"({"text":"a"})");
  EXPECT_TRUE(contains(other.out, R"({"text":"a","v":[)")) << other.out;
}

TEST(CliDeviceEmbed, AColumnOfATableIsReplaced) {
  const std::string model = sentence_model("bert-cls"), input = "id\ttitle\tn\n1\ta\tx\n\n2\t\ty\n";
  const Outcome outcome = embed(model, {"--format", "tsv", "--column", "title"}, input);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 4u) << outcome.out;
  EXPECT_EQ(lines[0], "id\ttitle\tn");
  EXPECT_TRUE(lines[1].starts_with("1\t[") && lines[1].ends_with("]\tx")) << lines[1];
  EXPECT_EQ(lines[2], "");
  const std::string cell = lines[1].substr(2, lines[1].size() - 4);
  EXPECT_LE(largest_difference(Json::parse(cell).get<Vector>(), embedded(model, {"a"})[0]), 1e-6);
  EXPECT_TRUE(lines[3].starts_with("2\t[") && lines[3].ends_with("]\ty")) << lines[3];
}

// A row for each record: neither the names of columns nor blank lines are any.
TEST(CliDeviceEmbed, NumbersAloneHaveARowForEachRecord) {
  const std::string model = sentence_model("bert-cls"), both = bits_of(embedded(model, {"--deterministic"}, "a\n\n"));
  const Outcome table = embed(model, {"--deterministic", "--vectors", "f32", "--format", "tsv", "--column", "title"},
                              "id\ttitle\n1\ta\n\n2\t\n");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(table.out == both) << table.out.size() << " bytes";
  const Outcome objects = embed(model, {"--deterministic", "--vectors", "f32", "--format", "jsonl"},
                                "{\"text\":\"a\"}\n\n{\"text\":\"\"}\n");
  EXPECT_EQ(objects.code, 0) << objects.err;
  EXPECT_TRUE(objects.out == both) << objects.out.size() << " bytes";
}

// ---- files ----

TEST(CliDeviceEmbed, EveryFileToOneOfItsOwn) {
  TemporaryFolder folder;
  const std::string model = sentence_model("bert-cls"), a = folder.file("a.txt", "a\n"), b = folder.file("b.txt", "\n");
  EXPECT_EQ(embed(model, {"--quiet", "--suffix", ".vectors", a, b}).code, 0);
  EXPECT_EQ(vectors_in(read_file((folder.path() / "a.vectors.txt").string())).size(), 1u);
  fs::remove(folder.path() / "b.vectors.txt");
  const Outcome again = embed(model, {"--suffix", ".vectors", "--skip-existing", a, b});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "1 there already")) << again.err;
  EXPECT_TRUE(fs::exists(folder.path() / "b.vectors.txt"));
  EXPECT_EQ(embed(model, {"--suffix", ".vectors", a}).code, 2);
}

// letter.txt to letter.npy, for numbers are no text.
TEST(CliDeviceEmbed, ASuffixOfNumbersIsTheEnding) {
  TemporaryFolder folder;
  const std::string model = sentence_model("bert-cls"), a = folder.file("a.txt", "a\n"), b = folder.file("b.md", "a\n");
  EXPECT_EQ(embed(model, {"--quiet", "--suffix", ".npy", a, b}).code, 0);
  EXPECT_EQ(read_file((folder.path() / "a.npy").string()), read_file((folder.path() / "b.npy").string()));
  EXPECT_EQ(embed(model, {"--quiet", "--suffix", ".f32", a}).code, 0);
  EXPECT_EQ(fs::file_size(folder.path() / "a.f32"), 128u);
  const std::string same = folder.file("a.md", "a\n");
  expect_refused(embed(model, {"--force", "--suffix", ".npy", a, same}), 2, {"two inputs would be written to"});
}

TEST(CliDeviceEmbed, AnInterruptedFileIsResumedToTheSameBytes) {
  TemporaryFolder folder;
  std::string input;
  for (int i = 0; i < 3000; ++i) input += "same words other order " + std::to_string(i) + "\n";
  const std::string model = sentence_model("bert-max"), file = folder.file("lines.txt", input),
                    whole = (folder.path() / "whole.npy").string(), to = (folder.path() / "v.npy").string();
  const std::vector<std::string> arguments{"embed", "--model", model, "--batch", "8", "-o", to, file};
  Process process(lapilli(arguments));
  while (!fs::exists(to + ".part") || fs::file_size(to + ".part") < 100000)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  process.signal(SIGTERM);
  const Outcome stopped = process.finish();
  EXPECT_EQ(stopped.code, 143) << stopped.err;
  EXPECT_FALSE(fs::exists(to));
  EXPECT_TRUE(fs::exists(to + ".part"));
  const Outcome other = embed(model, {"--batch", "8", "--normalize", "-o", to, "--resume", file});
  expect_refused(other, 2, {"--normalize"});
  EXPECT_EQ(embed(model, {"--quiet", "--batch", "8", "-o", to, "--resume", file}).code, 0);
  EXPECT_EQ(embed(model, {"--quiet", "--batch", "8", "-o", whole, file}).code, 0);
  const std::string bytes = read_file(to);
  EXPECT_EQ(bytes.size(), 128 + size_t{3000} * 36 * 4);
  EXPECT_TRUE(contains(bytes.substr(0, 128), "(3000, 36)")) << bytes.substr(0, 128);
  EXPECT_TRUE(bytes == read_file(whole));
}

// ---- refusals ----

Outcome embed_without_driver(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {"embed", "--model", sentence_model("bert-cls")});
  Spawn spawn = lapilli(std::move(arguments));
  spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
  return run(spawn, input);
}

TEST(CliEmbed, WrongArgumentsAreRefusedBeforeTheModelIsLoaded) {
  for (const char* number : {"0", "-1", "1.5", "x", ""})
    expect_refused(embed_without_driver({std::string("--dimensions=") + number, "a"}), 2, {"--dimensions"});
  expect_refused(embed_without_driver({"--vectors", "npy", "a"}), 2, {"--vectors npy needs -o FILE"});
  expect_refused(embed_without_driver({"--vectors", "csv", "a"}), 2, {"--vectors"});
  expect_refused(embed_without_driver({"--task", "translate", "a"}), 2, {"--task"});
  expect_refused(embed_without_driver({"--task", "query", "--prompt", "query", "a"}), 2, {"--prompt"});
  expect_refused(embed_without_driver({"--prompt", "query", "--prompt-text", "", "a"}), 2, {"--prompt"});
  expect_refused(embed_without_driver({"--resume", "a"}), 2, {"--resume needs -o or --suffix"});
  expect_refused(embed_without_driver({"--beam", "4", "a"}), 2, {"--beam"});
  EXPECT_EQ(embed_without_driver({"a"}).code, 4);
}

TEST(CliEmbed, TheBundledModelIsNamedAsOneThatDoesNot) {
  Spawn spawn = lapilli({"embed", "a"});
  expect_refused(run(spawn), 2, {"the bundled model translates text", "--model"});
}

TEST(CliDeviceEmbed, AModelOfAnotherKindIsRefusedWithWhatServesIt) {
  expect_refused(embed(bundled_model(), {"a"}), 3, {"marian", "no vectors", "lapilli translate"});
  for (const char* command : {"translate", "summarize", "generate"})
    expect_refused(run(lapilli({command, "--model", sentence_model("bert-cls"), "a"})), 3, {"bert", "lapilli embed"});
  expect_refused(run(lapilli({"transcribe", "--model", sentence_model("bert-cls"), "a.wav"})), 3, {});
}

// Pooling is the mean if no file says one.
TEST(CliDeviceEmbed, ADirectoryWithoutStepsGivesTheMean) {
  TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(sentence_model("mpnet-mean"), model, fs::copy_options::recursive);
  fs::remove(model + "/modules.json");
  const Vectors mean = embedded(model, {"--normalize"}, lines_from(kTexts));
  const Vectors steps = embedded(sentence_model("mpnet-mean"), {}, lines_from(kTexts));
  for (size_t i = 0; i < kTexts.size(); ++i) EXPECT_LE(largest_difference(mean[i], steps[i]), 1e-6) << kTexts[i];
}

// ---- docs/use/encoders.md ----

// The commands of its sessions that run a model; those that go on in the next line are joined.
std::vector<std::string> commands_of_encoders_page() {
  std::ifstream page(LAPILLI_SOURCE_DIR "/docs/use/encoders.md");
  std::vector<std::string> commands;
  for (std::string line, more; std::getline(page, line);) {
    const auto begins = [&](const char* command) { return line.starts_with(std::string("    lapilli ") + command); };
    constexpr const char* kRun[] = {"embed", "inspect", "classify", "rerank", "tag", "answer", "fill", "search"};
    if (std::none_of(std::begin(kRun), std::end(kRun), begins)) continue;
    while (line.ends_with("\\") && std::getline(page, more)) line = line.substr(0, line.size() - 1) + more;
    commands.push_back(line.substr(4));
  }
  return commands;
}

// Small models under the names of the page; their vectors have 32 numbers.
void fill_for_encoders_page(const TemporaryFolder& folder) {
  for (const char* name : {"sentence-transformers/all-MiniLM-L6-v2", "mixedbread-ai/mxbai-embed-large-v1",
                           "intfloat/multilingual-e5-small"}) {
    fs::create_directories((folder.path() / name).parent_path());
    fs::copy(sentence_model("bert-cls"), folder.path() / name, fs::copy_options::recursive);
  }
  const std::pair<const char*, const char*> scoring[] = {
      {"distilbert/distilbert-base-uncased-finetuned-sst-2-english",
       "distilbert__distilbert-base-uncased-finetuned-sst-2-english"},
      {"cross-encoder/ms-marco-MiniLM-L-6-v2", "cross-encoder__ms-marco-MiniLM-L-6-v2@4.36"},
      {"facebook/bart-large-mnli", "zero-shot-bart"},
      {"dslim/bert-base-NER", "dslim__bert-base-NER"},
      {"deepset/roberta-base-squad2", "deepset__roberta-base-squad2"},
      {"Qwen/Qwen3-Embedding-0.6B", "qwen3-lasttoken"},
      {"google-bert/bert-base-uncased", "google-bert__bert-base-uncased@2018"}};
  for (const auto& [name, twin] : scoring) {
    fs::create_directories((folder.path() / name).parent_path());
    fs::copy(sentence_model(twin), folder.path() / name, fs::copy_options::recursive);
  }
  fs::copy(LAPILLI_TEST_DATA "/rerankers/judge/Qwen3-Reranker-small", folder.path() / "Qwen/Qwen3-Reranker-0.6B",
           fs::copy_options::recursive);
  folder.file("article.txt", "The quick brown fox jumps over the lazy dog.\nThe fox is called Reinhard.\n");
  folder.file("answers.txt", "The museum opens at ten.\nFish.\n");
  folder.file("lines.txt", "How do I renew my passport?\nThe harbour froze over last winter.\n");
  folder.file("in.jsonl", "{\"id\": 7, \"title\": \"The harbour froze over.\"}\n");
  folder.file("table.tsv", "id\ttitle\n7\tThe harbour froze over.\n");
  folder.file("long.txt", std::string(4000, 'a') + " " + std::string(400, '.') + "\n");
}

TEST(CliDeviceEmbed, EachCommandOfItsPageRuns) {
  TemporaryFolder folder;
  fill_for_encoders_page(folder);
  const auto commands = commands_of_encoders_page();
  EXPECT_EQ(commands.size(), 22u);
  for (std::string command : commands) {
    if (const size_t at = command.find("--dimensions 512"); at != std::string::npos)
      command.replace(at, 16, "--dimensions 16");
    Spawn spawn = lapilli({});
    spawn.arguments = {
        "/bin/sh",         "-c", "cd \"$1\" && PATH=\"$2:$PATH\" && " + command, "sh", folder.path().string(),
        LAPILLI_BINARY_DIR};
    const Outcome outcome = run(spawn);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
  }
}

// ---- inspect ----

TEST(CliEmbed, InspectSaysWhatTheDirectoryMakes) {
  const Outcome text = run(lapilli({"inspect", sentence_model("xlm-roberta-prompts")}));
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char* part : {"xlm-roberta", "32 numbers: mean, length 1", "cut at 30 tokens", "STS, passage, query",
                           "lapilli embed --model"})
    EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
  const Outcome made = run(lapilli({"inspect", "--json", sentence_model("bert-several")}));
  const Json json = Json::parse(made.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << made.out;
  EXPECT_EQ(json["tasks"], Json::array({"embed", "search"}));
  EXPECT_EQ(json["vectors"]["dimensions"], 64);
  EXPECT_EQ(json["vectors"]["pooling"], (Json::array({"first token", "mean"})));
  EXPECT_EQ(json["vectors"]["steps"], Json::array({"length 1"}));
  EXPECT_EQ(json["vectors"]["max_tokens"], 40);
  EXPECT_EQ(json["vectors"]["prompts"].size(), 2u);
}

TEST(CliEmbed, InspectRefusesWhatDoesNotRun) {
  TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(sentence_model("bert-cls"), model, fs::copy_options::recursive);
  Json modules = read_json(model + "/modules.json");
  modules[2]["type"] = "my_package.Whitening";
  folder.file("model/modules.json", modules.dump());
  expect_refused(run(lapilli({"inspect", model})), 3, {"my_package.Whitening"});
  Spawn spawn = lapilli({"embed", "--model", model, "a"});
  EXPECT_NE(run(spawn).code, 0);
}

}  // namespace
}  // namespace lapilli::test
