// lapilli search on a device: held against the vectors of lapilli embed, and everything that makes a file of vectors
// unusable.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

using Json = nlohmann::json;
using Vector = std::vector<float>;

std::string searched_model(const std::string& name) { return LAPILLI_TEST_DATA "/sentences/" + name + "/model"; }

const std::vector<std::string> kNotes = {"The harbour froze over last winter.",
                                         "How do I renew my passport?",
                                         "",
                                         "What papers are needed for a new passport?",
                                         "  \t ",
                                         "Le petit garçon a mangé.",
                                         "The model works.",
                                         "same words other order",
                                         "The model works."};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

struct Hit {
  std::string file, text;
  uint64_t line = 0, query = 0;
  double score = 0;
};

// A search whose files of vectors are its own.
class Searcher {
 public:
  // Kernels are tried once for all.
  explicit Searcher(std::string model) : model_(std::move(model)) {
    fs::create_directories(fs::path(test_cache()) / "devices");
    fs::create_directory_symlink(fs::path(test_cache()) / "devices", folder_.path() / "devices");
  }
  [[nodiscard]] Outcome run(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"search", "--model", model_});
    return test::run(spawned(std::move(arguments)), input);
  }
  [[nodiscard]] Spawn spawned(std::vector<std::string> arguments) const {
    return lapilli(std::move(arguments), folder_.path().string());
  }
  [[nodiscard]] std::vector<Hit> hits(std::vector<std::string> arguments, const std::string& input = "",
                                      int code = 0) const {
    arguments.insert(arguments.begin(), "--json");
    const Outcome outcome = run(std::move(arguments), input);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    std::vector<Hit> found;
    for (const std::string& line : lines_of(outcome.out)) {
      const Json json = Json::parse(line);
      found.push_back({json["file"], json["text"], json["line"], json.value("query", uint64_t{0}), json["score"]});
    }
    return found;
  }
  [[nodiscard]] std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    const fs::path folder = folder_.path() / "vectors";
    if (!fs::exists(folder)) return files;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() != ".lock") files.push_back(entry.path());
    return files;
  }
  [[nodiscard]] const std::string& model() const { return model_; }

 private:
  std::string model_;
  TemporaryFolder folder_;
};

std::vector<Vector> embedded_by(const std::string& model, std::vector<std::string> arguments,
                                const std::string& input) {
  arguments.insert(arguments.begin(), {"embed", "--quiet", "--deterministic", "--model", model});
  const Outcome outcome = run(lapilli(std::move(arguments)), input);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::vector<Vector> vectors;
  for (const std::string& line : lines_of(outcome.out)) vectors.push_back(Json::parse(line)["embedding"]);
  return vectors;
}

double cosine_of(const Vector& a, const Vector& b) {
  double product = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return product / (std::sqrt(aa) * std::sqrt(bb));
}

// The ranking by the vectors of embed: scores with the numbers of the lines.
std::vector<std::pair<double, uint64_t>> plain_ranking(const std::string& model, const std::vector<std::string>& lines,
                                                       const std::string& words,
                                                       const std::vector<std::string>& how_query,
                                                       const std::vector<std::string>& how_line) {
  std::vector<std::string> words_arguments = how_query;
  words_arguments.push_back("-");
  const Vector query = embedded_by(model, words_arguments, words + "\n").front();
  const auto vectors = embedded_by(model, how_line, joined(lines));
  std::vector<std::pair<double, uint64_t>> ranking;
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].find_first_not_of(" \t") != std::string::npos)
      ranking.emplace_back(cosine_of(vectors[i], query), i + 1);
  std::stable_sort(ranking.begin(), ranking.end(), [](auto& a, auto& b) { return a.first > b.first; });
  return ranking;
}

void expect_ranking(const std::vector<Hit>& hits, const std::vector<std::pair<double, uint64_t>>& wanted,
                    const std::vector<std::string>& lines) {
  ASSERT_EQ(hits.size(), wanted.size());
  for (size_t i = 0; i < hits.size(); ++i) {
    EXPECT_EQ(hits[i].line, wanted[i].second) << i;
    EXPECT_NEAR(hits[i].score, wanted[i].first, 1e-14) << i;
    EXPECT_EQ(hits[i].text, lines[wanted[i].second - 1]);
  }
}

std::vector<std::string> thousand_lines() {
  const char* const words[] = {"harbour", "passport", "winter", "model", "boy", "order", "museum", "fish", "light"};
  std::vector<std::string> lines;
  for (uint32_t i = 0; i < 1000; ++i) {
    std::string line;
    for (uint32_t k = i + 1; k > 0; k /= 3) line += std::string(words[(k * 7 + i) % 9]) + " ";
    lines.push_back(line + std::to_string(i % 50));
  }
  return lines;
}

// The bits of the vectors that a search compares are those of embed: case 6 of the plan, and of other directories.
TEST(CliDeviceSearch, IsTheRankingByTheVectorsOfEmbed) {
  for (const char* name : {"bert-cls", "xlm-roberta-prompts", "mpnet-mean", "bert-several"}) {
    const Searcher search(searched_model(name));
    const TemporaryFolder folder;
    const std::string notes = folder.file("notes.txt", joined(kNotes));
    const auto wanted =
        plain_ranking(search.model(), kNotes, "a new passport", {"--task", "query"}, {"--task", "document"});
    for (int again = 0; again < 2; ++again)
      expect_ranking(search.hits({"--in", notes, "a new passport"}), wanted, kNotes);
    expect_ranking(search.hits({"--no-cache", "--in", notes, "a new passport"}), wanted, kNotes);
    expect_ranking(search.hits({"a", "new", "passport"}, joined(kNotes)), wanted, kNotes);
    EXPECT_EQ(search.kept().size(), 1u);
  }
}

// The file of vectors holds what embed gives, bit by bit.
TEST(CliDeviceSearch, TheFileHoldsTheBitsOfEmbed) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  const std::string notes = folder.file("notes.txt", joined(kNotes)), index = (folder.path() / "i").string();
  (void)search.hits({"--in", notes, "--index", index, "a new passport"});
  std::vector<std::string> lines = kNotes;
  std::erase_if(lines, [](const std::string& line) { return line.find_first_not_of(" \t") == std::string::npos; });
  std::string bits;
  for (const Vector& v : embedded_by(search.model(), {"--task", "document"}, joined(lines)))
    bits.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
  EXPECT_EQ(read_file(index).substr(4096), bits);
}

TEST(CliDeviceSearch, PromptsThatAreGiven) {
  const Searcher search(searched_model("mpnet-mean"));
  const auto wanted = plain_ranking(search.model(), kNotes, "a new passport", {"--prompt-text", "query: "},
                                    {"--prompt-text", "passage: "});
  expect_ranking(
      search.hits({"--query-prompt", "query: ", "--document-prompt", "passage: ", "a new passport"}, joined(kNotes)),
      wanted, kNotes);
}

TEST(CliDeviceSearch, TheBestOfAThousandLines) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  const auto lines = thousand_lines();
  const std::string notes = folder.file("notes.txt", joined(lines));
  auto wanted =
      plain_ranking(search.model(), lines, "fish in the harbour", {"--task", "query"}, {"--task", "document"});
  const double least = wanted[400].first;
  wanted.resize(10);
  expect_ranking(search.hits({"--in", notes, "fish in the harbour"}), wanted, lines);
  const auto above =
      search.hits({"--top", "1000", "--min-score", Json(least).dump(), "--in", notes, "fish in the harbour"});
  EXPECT_GE(above.size(), 401u);
  for (const Hit& hit : above) EXPECT_GE(hit.score, least);
  // The floor of all devices finds the same lines, though its vectors differ in the last bits.
  const auto least_device = search.hits({"--caps", "floor", "--in", notes, "fish in the harbour"});
  for (size_t i = 0; i < 10; ++i) EXPECT_NEAR(least_device[i].score, wanted[i].first, 1e-5);
}

TEST(CliDeviceSearch, ALineIsItsScoreItsPlaceAndItsText) {
  const Searcher search(searched_model("mpnet-mean"));
  const TemporaryFolder folder;
  const std::string notes = folder.file("notes.txt", joined(kNotes));
  const Outcome outcome = search.run({"--top", "1", "--in", notes, "The model works."});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const size_t tab = outcome.out.find('\t');
  EXPECT_NEAR(std::stod(outcome.out), 1, 1e-6);
  EXPECT_LE(tab, 6u) << outcome.out;
  EXPECT_EQ(outcome.out.substr(tab), "\t" + notes + ":7\tThe model works.\n");
  const Outcome piped = search.run({"--top", "1", "The model works."}, joined(kNotes));
  EXPECT_TRUE(contains(piped.out, "\t-:7\t")) << piped.out;
}

TEST(CliDeviceSearch, QueriesOfAFile) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  const std::string notes = folder.file("notes.txt", joined(kNotes));
  const std::string queries = folder.file("queries.txt", "a new passport\n\nThe model works.\n");
  const auto all = search.hits({"--top", "2", "--in", notes, "--queries", queries});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].query, 1u);
  EXPECT_EQ(all[2].query, 3u);
  const auto one = search.hits({"--top", "2", "--in", notes, "a new passport"});
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(std::pair(all[i].line, all[i].score), std::pair(one[i].line, one[i].score));
  const Outcome plain = search.run({"--top", "1", "--in", notes, "--queries", "-"}, "The model works.\n");
  EXPECT_TRUE(plain.out.starts_with("1\t")) << plain.out;
}

// ---- files ----

TEST(CliDeviceSearch, FoldersAndRecords) {
  const Searcher search(searched_model("mpnet-mean"));
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "notes/below");
  folder.file("notes/a.txt", "The harbour froze over last winter.\r\nThe model works.\r\n");
  folder.file("notes/below/b.md", "\xef\xbb\xbfHow do I renew my passport?\n");
  folder.file("notes/.hidden.txt", "The model works.\n");
  folder.file("notes/picture.png", "\x89PNG\r\n\x1a\n");
  const std::string notes = (folder.path() / "notes").string();
  const auto hits = search.hits({"--in", notes, "--", "How do I renew my passport?"});
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].file, notes + "/below/b.md");
  EXPECT_EQ(hits[0].text, "How do I renew my passport?");
  EXPECT_NEAR(hits[0].score, 1, 1e-6);
  // A new file in the folder is searched as well, and the others keep their vectors.
  folder.file("notes/c.jsonl", "{\"id\": 1, \"text\": \"The\\tmodel\\nworks.\"}\n{\"id\": 2}\n\n");
  const Outcome more = search.run({"--verbose", "--in", notes, "The model works."});
  EXPECT_EQ(more.code, 1) << more.err;
  EXPECT_TRUE(contains(more.err, "c.jsonl:2:")) << more.err;
  EXPECT_TRUE(contains(more.err, "1 of 4 lines are new")) << more.err;
  EXPECT_TRUE(contains(more.out, "c.jsonl:1\tThe model works.\n")) << more.out;
  const std::string table = folder.file("table.tsv", "id\ttitle\n7\tThe model works.\n8\tFish.\n");
  const auto cells = search.hits({"--in", table, "--column", "title", "--", "Fish."});
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].text, "Fish.");
  EXPECT_EQ(cells[0].line, 3u);
}

// Lines that fail are reported each time, and do not come between the others' vectors.
TEST(CliDeviceSearch, LinesThatFailAreLeftOut) {
  const Searcher search(searched_model("mpnet-mean"));
  const TemporaryFolder folder;
  const std::string notes =
      folder.file("notes.txt", "\xff\nThe model works.\n\xfe\nFish.\n" + std::string(1 << 21, 'a') + "\n");
  for (int again = 0; again < 2; ++again) {
    const Outcome outcome = search.run({"--in", notes, "Fish."});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    for (const char* line : {"notes.txt:1: ", "notes.txt:3: ", "notes.txt:5: "})
      EXPECT_TRUE(contains(outcome.err, line)) << outcome.err;
    const auto lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 2u) << outcome.out;
    EXPECT_TRUE(lines[0].ends_with("notes.txt:4\tFish.")) << lines[0];
    EXPECT_TRUE(lines[1].ends_with("notes.txt:2\tThe model works.")) << lines[1];
  }
  EXPECT_EQ(search.run({"--no-cache", "--in", notes, "Fish."}).code, 1);
  EXPECT_EQ(search.run({"Fish."}, "").out, "");
}

// ---- the file of vectors: case 5 of the plan ----

// The result is that of a search without the file.
void expect_fresh(const Searcher& search, const std::string& notes, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.end(), {"--in", notes, "a new passport"});
  const Outcome kept = search.run(arguments);
  arguments.insert(arguments.begin(), "--no-cache");
  const Outcome fresh = search.run(arguments);
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.out, fresh.out);
  EXPECT_NE(fresh.out, "");
}

TEST(CliDeviceSearch, OtherWeightsOfTheSameSize) {
  const TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string(), weights = model + "/model.safetensors";
  fs::copy(searched_model("bert-cls"), model, fs::copy_options::recursive);
  const Searcher search(model);
  const std::string notes = folder.file("notes.txt", joined(kNotes));
  const Outcome before = search.run({"--in", notes, "a new passport"});
  const auto time = fs::last_write_time(weights);
  std::string bytes = read_file(weights);
  // Neighbouring numbers of the second half change places.
  const size_t numbers = bytes.size() / 16 * 8;
  for (size_t at = bytes.size() - numbers; at + 8 <= bytes.size(); at += 8)
    std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(at) + 4,
                     bytes.begin() + static_cast<ptrdiff_t>(at) + 4);
  folder.file("model/model.safetensors", bytes);
  fs::last_write_time(weights, time);
  expect_fresh(search, notes);
  EXPECT_NE(search.run({"--in", notes, "a new passport"}).out, before.out);
}

TEST(CliDeviceSearch, AnotherPoolingPromptOrDimensions) {
  const TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(searched_model("bert-cls"), model, fs::copy_options::recursive);
  const Searcher search(model);
  const std::string notes = folder.file("notes.txt", joined(kNotes));
  expect_fresh(search, notes);
  expect_fresh(search, notes, {"--dimensions", "8"});
  expect_fresh(search, notes, {"--document-prompt", "a note: "});
  expect_fresh(search, notes, {"--dtype", "fp16"});
  expect_fresh(search, notes);
  std::string pooling = read_file(model + "/1_Pooling/config.json");
  const auto change = [&](const std::string& from, const std::string& to) {
    const size_t at = pooling.find(from);
    ASSERT_NE(at, std::string::npos) << pooling;
    pooling.replace(at, from.size(), to);
  };
  change("\"pooling_mode_cls_token\": true", "\"pooling_mode_cls_token\": false");
  change("\"pooling_mode_mean_tokens\": false", "\"pooling_mode_mean_tokens\": true");
  folder.file("model/1_Pooling/config.json", pooling);
  expect_fresh(search, notes);
  Json config = read_json(model + "/config_sentence_transformers.json");
  config["prompts"]["document"] = "another: ";
  folder.file("model/config_sentence_transformers.json", config.dump());
  expect_fresh(search, notes);
  EXPECT_EQ(search.kept().size(), 1u);
}

TEST(CliDeviceSearch, ALineThatChangedInPlace) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  std::vector<std::string> lines = kNotes;
  const std::string notes = folder.file("notes.txt", joined(lines));
  expect_fresh(search, notes);
  const auto time = fs::last_write_time(notes);
  lines[1] = "Hew do I ronew my passport?";
  folder.file("notes.txt", joined(lines));
  fs::last_write_time(notes, time);
  const Outcome outcome = search.run({"--verbose", "--in", notes, "a new passport"});
  EXPECT_TRUE(contains(outcome.err, "1 of 7 lines are new")) << outcome.err;
  expect_fresh(search, notes);
  // Lines that go, come, and change places.
  std::swap(lines[0], lines[3]);
  lines.erase(lines.begin() + 5);
  lines.insert(lines.begin(), "A new line.");
  folder.file("notes.txt", joined(lines));
  expect_fresh(search, notes);
}

TEST(CliDeviceSearch, DamageIsNoticed) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  const std::string notes = folder.file("notes.txt", joined(kNotes)), index = (folder.path() / "i.vectors").string();
  const std::vector<std::string> with_index = {"--in", notes, "--index", index, "a new passport"};
  const std::string wanted = search.run(with_index).out;
  EXPECT_NE(wanted, "");
  EXPECT_TRUE(search.kept().empty());
  const std::string whole = read_file(index);
  const auto expect_anew = [&](std::string bytes, const char* what) {
    folder.file("i.vectors", bytes);
    const Outcome outcome = search.run(with_index);
    EXPECT_EQ(outcome.code, 0) << what << outcome.err;
    EXPECT_EQ(outcome.out, wanted) << what;
    EXPECT_TRUE(contains(outcome.err, "made anew")) << what << outcome.err;
    EXPECT_EQ(read_file(index), whole) << what;
    EXPECT_EQ(search.run(with_index).err, "") << what;
  };
  std::string bytes = whole;
  bytes[4500] = static_cast<char>(bytes[4500] ^ 1);
  expect_anew(bytes, "a vector");
  bytes = whole;
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  expect_anew(bytes, "the settings");
  expect_anew(whole.substr(0, whole.size() - 1), "cut off");
  expect_anew(whole.substr(0, 64), "cut off in the head");
  bytes = whole;
  bytes.replace(32, 16, 16, '\xff');  // numbers of lines
  expect_anew(bytes, "sizes that overflow");
  bytes = whole;
  std::reverse(bytes.begin() + 8, bytes.begin() + 12);
  expect_anew(bytes, "another byte order");
  // Anything else is not written over.
  folder.file("i.vectors", "my own notes\n");
  const Outcome foreign = search.run(with_index);
  EXPECT_EQ(foreign.code, 2);
  EXPECT_TRUE(contains(foreign.err, "left as it is")) << foreign.err;
  EXPECT_EQ(read_file(index), "my own notes\n");
}

TEST(CliDeviceSearch, NothingIsKeptIfSo) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  const std::string notes = folder.file("notes.txt", joined(kNotes));
  (void)search.hits({"--no-cache", "--in", notes, "a new passport"});
  Spawn spawn = search.spawned({"search", "--model", search.model(), "--in", notes, "a new passport"});
  spawn.environment.emplace_back("LAPILLI_NO_CACHE=1");
  EXPECT_EQ(run(spawn).code, 0);
  (void)search.hits({"a new passport"}, joined(kNotes));
  EXPECT_TRUE(search.kept().empty());
  EXPECT_EQ(search.run({"--in", notes, "--index", (folder.path() / "none/i").string(), "a"}).code, 6);
}

TEST(CliDeviceSearch, SeveralAtOnceMakeOneFile) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  const std::string notes = folder.file("notes.txt", joined(thousand_lines()));
  const std::string wanted = search.run({"--no-cache", "--in", notes, "a new passport"}).out;
  std::vector<Outcome> outcomes(4);
  std::vector<std::thread> threads;
  for (Outcome& outcome : outcomes)
    threads.emplace_back([&] { outcome = search.run({"--quiet", "--in", notes, "a new passport"}); });
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, wanted);
  }
  EXPECT_EQ(search.kept().size(), 1u);
}

// Vectors that are made before an interruption stay, and the next search goes on from there.
TEST(CliDeviceSearch, AnInterruptedSearchGoesOn) {
  const Searcher search(searched_model("bert-cls"));
  const TemporaryFolder folder;
  std::vector<std::string> lines;
  for (int k = 0; k < 3; ++k)
    for (const std::string& line : thousand_lines()) lines.push_back(std::to_string(k) + " " + line);
  const std::string notes = folder.file("notes.txt", joined(lines)), index = (folder.path() / "i").string();
  const std::vector<std::string> arguments = {"search",  "--model", search.model(), "--verbose", "--in",          notes,
                                              "--index", index,     "--top",        "3",         "a new passport"};
  Process process(search.spawned(arguments));
  process.close_input();
  // The fingerprints take 16 bytes of each line; vectors follow.
  const uint64_t vectors_at = 4096 + 16 * lines.size();
  for (int i = 0; i < 3000 && fs::exists(folder.path()); ++i) {
    std::error_code none;
    if (fs::file_size(index + ".part", none) > vectors_at && !none) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  process.signal(SIGINT);
  const Outcome interrupted = process.finish();
  EXPECT_EQ(interrupted.code, 130) << interrupted.err;
  EXPECT_TRUE(contains(interrupted.err, "of 3,000 lines are kept")) << interrupted.err;
  const Outcome rest = run(search.spawned(arguments));
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(contains(rest.err, "of 3,000 lines are new")) << rest.err;
  EXPECT_FALSE(contains(rest.err, "3,000 of 3,000")) << rest.err;
  EXPECT_EQ(rest.out, search.run({"--no-cache", "--in", notes, "--top", "3", "a new passport"}).out);
}

// ---- refusals ----

void expect_refusal(const Outcome& outcome, int code, const std::string& said) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, said)) << said << "\n" << outcome.err;
}

TEST(CliDeviceSearch, ModelsWithoutVectorsAreToldWhatServesThem) {
  const std::string scorer = searched_model("cross-xlm-roberta");
  expect_refusal(Searcher(scorer).run({"words"}, "a line\n"), 3, "lapilli rerank");
  expect_refusal(Searcher(bundled_model()).run({"words"}, "a line\n"), 3, "lapilli translate");
}

TEST(CliDeviceSearch, TheMeasureIsTheDirectorys) {
  const TemporaryFolder folder;
  const std::string model = (folder.path() / "model").string();
  fs::copy(searched_model("bert-max"), model, fs::copy_options::recursive);
  const Searcher search(model);
  const std::string config = model + "/config_sentence_transformers.json";
  Json json = fs::exists(config) ? read_json(config) : Json::object();
  const auto score = [&](const char* name) {
    json["similarity_fn_name"] = name;
    folder.file("model/config_sentence_transformers.json", json.dump());
    return search.hits({"--top", "1", "The model works."}, joined(kNotes)).front().score;
  };
  const Vector vector = embedded_by(model, {"--task", "document"}, "The model works.\n").front();
  double square = 0;
  for (const float v : vector) square += double{v} * v;
  EXPECT_NEAR(score("cosine"), 1, 1e-6);
  EXPECT_NEAR(score("dot") / square, 1, 0.5);
  EXPECT_LE(score("euclidean"), 0);
  json["similarity_fn_name"] = "manhattan";
  folder.file("model/config_sentence_transformers.json", json.dump());
  expect_refusal(search.run({"words"}, "a line\n"), 3, "manhattan");
}

TEST(CliSearch, WrongUseIsNoticedBeforeAModelIsLoaded) {
  const TemporaryFolder folder;
  const std::string notes = folder.file("notes.txt", "a\n");
  const Searcher search("no/model");
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& said) {
    Spawn spawn = search.spawned(std::move(arguments));
    spawn.arguments.insert(spawn.arguments.begin() + 1, "search");
    spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
    expect_refusal(run(spawn, "a line\n"), code, said);
  };
  refused({}, 2, "give the words");
  refused({"--in", notes}, 2, "give the words");
  refused({"--in", notes, notes}, 2, "is a file");
  refused({"words", notes}, 2, "behind --in");
  refused({"  ", "--in", notes}, 2, "blank");
  refused({"--in", notes + "x", "words"}, 3, "notes.txtx");
  refused({"words", "--queries", notes}, 2, "--queries");
  refused({"--queries", "-"}, 2, "standard input");
  refused({"words", "--in", notes, "--index", notes}, 2, "left as it is");
  refused({"words", "--in", notes, "--index", "i", "--no-cache"}, 2, "--no-cache");
  refused({"words", "--in", notes, "--top", "0"}, 2, "--top");
  refused({"words", "--in", notes, "--field", "x"}, 2, "--field");
  refused({"words", "--in", notes}, 2, "makes no vectors");
}

}  // namespace
}  // namespace lapilli::test
