// lapilli translate on a device, with the bundled model: input, output, lines that fail, options, interruptions,
// terminals.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/program.hpp"
#include "documents/archives.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::test {
namespace {

// ---- where the text comes from ----

TEST(CliDevice, TextArgument) {
  const Outcome outcome = translate({expected()[0].text});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, expected()[0].french + "\n");
  EXPECT_EQ(outcome.err, "");
}

TEST(CliDevice, SeveralArgumentsAndLinesInOne) {
  const Outcome outcome = translate({expected()[0].text, "", expected()[1].text + "\n\r\n" + expected()[2].text});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, expected()[0].french + "\n\n" + expected()[1].french + "\n\n" + expected()[2].french + "\n");
}

TEST(CliDevice, ArgumentsThatLookLikeSomethingElse) {
  const Outcome outcome = translate({"--json", "[one,two]", "{}", "devices", "--", "-1", "--help"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).size(), 5u) << outcome.out;
}

TEST(CliDevice, FileArgument) {
  TemporaryFolder folder;
  const std::string file = folder.file("letter.txt", expected()[0].text + "\n" + expected()[1].text + "\n");
  const std::string french = expected()[0].french + "\n" + expected()[1].french + "\n";
  EXPECT_EQ(translate({file}).out, french);
  EXPECT_EQ(translate({"--file", file}).out, french);
  const Outcome forced = translate({"--text", file});
  EXPECT_EQ(forced.code, 0);
  EXPECT_EQ(lines_of(forced.out).size(), 1u);
}

// Bytes that look like no text are one for the reader that the name says.
TEST(CliDevice, DocumentsThatAreNoTextInUtf8) {
  TemporaryFolder folder;
  const std::string words = expected()[0].text, french = expected()[0].french;
  const std::string body = "<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>",
                    end = "</w:t></w:r></w:p></w:body></w:document>";
  const std::string letter =
      folder.file("letter.docx", documents::archive_of({{"word/document.xml", body + words + end}}));
  const std::string to = (folder.path() / "lettre.docx").string();
  const Outcome office = translate({"-o", to, letter});
  EXPECT_EQ(office.code, 0) << office.err;
  EXPECT_TRUE(contains(documents::file_in(read_file(to), "word/document.xml"), french));
  std::string wide = "\xff\xfe";
  for (const char c : "\"a\" = \"" + words + "\";\n") wide += {c, '\0'};
  const Outcome texts = translate({folder.file("a.strings", wide)});
  EXPECT_EQ(texts.code, 0) << texts.err;
  EXPECT_TRUE(texts.out.starts_with("\xff\xfe")) << texts.out;
  EXPECT_NE(texts.out, wide);
  EXPECT_EQ(translate({folder.file("old.docx", "PK\x03\x04 cut")}).code, 3);
}

TEST(CliDevice, StandardInput) {
  const std::string input = expected()[0].text + "\n" + expected()[1].text + "\n";
  const std::string french = expected()[0].french + "\n" + expected()[1].french + "\n";
  EXPECT_EQ(translate({}, input).out, french);
  EXPECT_EQ(translate({"-"}, input).out, french);
}

TEST(CliDevice, LineEndsAndMarks) {
  const std::string text = expected()[0].text, french = expected()[0].french;
  EXPECT_EQ(translate({}, text + "\r\n\r\n" + text + "\r\n").out, french + "\n\n" + french + "\n");
  EXPECT_EQ(translate({}, text + "\n" + text).out, french + "\n" + french + "\n");  // no line end at the end
  EXPECT_EQ(translate({}, "\xef\xbb\xbf" + text + "\n").out, french + "\n");        // byte order mark
  EXPECT_EQ(translate({}, "\n\n \n").out, "\n\n\n");
  const Outcome nothing = translate({}, "");
  EXPECT_EQ(nothing.code, 0);
  EXPECT_EQ(nothing.out, "");
}

// White space and characters without width, in any script, but not what merely begins with the same bytes.
TEST(CliDevice, LinesOfBlanksAreEmpty) {
  const std::string text = expected()[0].text, french = expected()[0].french;
  std::string input = text + "\n", all, empty;
  for (const char* c : {"\t\v\f ", "\x1c", "\u0085", "\u00a0", "\u1680", "\u2009", "\u200b", "\u200f", "\u2028",
                        "\u202f", "\u2060", "\u3000", "\ufeff"}) {
    input += std::string(c) + "\n";
    all += c;
    empty += "\n";
  }
  EXPECT_EQ(translate({}, input + all + "\n" + text).out, french + "\n" + empty + "\n" + french + "\n");
  const auto lines = lines_of(translate({"--json"}, all + "\n\u2019\n\u00a1\n").out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["ids"].size(), 0u) << lines[0];
  EXPECT_EQ(nlohmann::json::parse(lines[1])["text"], "\u2019") << lines[1];
  EXPECT_EQ(nlohmann::json::parse(lines[2])["text"], "\u00a1") << lines[2];
}

// All 64 sentences, shuffled by the batches' sorting, come back in order.
TEST(CliDevice, EveryLineKeepsItsPlace) {
  std::string input, french, greedy;
  for (const Expected& e : expected()) {
    input += e.text + "\n";
    french += e.french + "\n";
    greedy += e.greedy + "\n";
  }
  // Whole lines, as the reference implementation was given them.
  EXPECT_EQ(translate({"--no-split"}, input).out, french);
  EXPECT_EQ(translate({"--no-split", "--beam", "1", "--batch", "7"}, input).out, greedy);
}

// ---- lines that fail ----

TEST(CliDevice, FailingLinesDoNotStopTheOthers) {
  const std::string text = expected()[0].text, french = expected()[0].french;
  std::string long_text;
  for (int i = 0; i < 400; ++i) long_text += "stone ";
  const std::string input = text + "\nbad \xff byte\n" + long_text + "\n\n" + std::string(3000000, 'a') + "\n" + text;
  const Outcome outcome = translate({"--no-split"}, input);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, french + "\n\n\n\n\n" + french + "\n");
  const auto messages = lines_of(outcome.err);
  ASSERT_EQ(messages.size(), 3u) << outcome.err;
  EXPECT_TRUE(contains(messages[0], "line 2: ") && contains(messages[0], "UTF-8")) << messages[0];
  EXPECT_TRUE(contains(messages[1], "line 3: ") && contains(messages[1], "256")) << messages[1];
  EXPECT_TRUE(contains(messages[2], "line 5: ") && contains(messages[2], "longer than")) << messages[2];

  TemporaryFolder folder;
  const std::string file = folder.file("letter.txt", "\xc3\n");
  const Outcome named = translate({file});
  EXPECT_EQ(named.code, 1);
  EXPECT_EQ(named.out, "\n");
  EXPECT_TRUE(contains(named.err, "letter.txt:1: ")) << named.err;
}

// ---- ids, JSON, statistics ----

TEST(CliDevice, Ids) {
  const Outcome outcome = translate({"--ids"}, expected()[0].ids + "\n\n" + expected()[1].ids + "\r\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected()[0].french_ids + "\n\n" + expected()[1].french_ids + "\n");
  EXPECT_EQ(translate({"--ids", "--beam", "1", expected()[2].ids}).out, expected()[2].greedy_ids + "\n");
}

TEST(CliDevice, IdsThatAreNone) {
  const Outcome outcome =
      translate({"--ids"}, "12 8001 0\n12 -1 0\n12 x 0\n99999999999 0\n12 1.5 0\n" + expected()[0].ids);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "\n\n\n\n\n" + expected()[0].french_ids + "\n");
  const auto messages = lines_of(outcome.err);
  ASSERT_EQ(messages.size(), 5u) << outcome.err;
  EXPECT_TRUE(contains(messages[0], "8001") && contains(messages[0], "vocabulary")) << messages[0];
  EXPECT_TRUE(contains(messages[1], "-1") && contains(messages[1], "vocabulary")) << messages[1];
  EXPECT_TRUE(contains(messages[2], "line 3: not a list of token ids")) << messages[2];
}

TEST(CliDevice, Json) {
  const Outcome outcome = translate({"--json"}, expected()[0].text + "\n\n\xff\"\n");
  EXPECT_EQ(outcome.code, 1);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  const auto first = nlohmann::json::parse(lines[0], nullptr, false);
  ASSERT_TRUE(first.is_object()) << lines[0];
  EXPECT_EQ(first["line"], 1);
  EXPECT_EQ(first["text"], expected()[0].french);
  EXPECT_NEAR(first["score"].get<double>(), expected()[0].score, 1e-3);
  EXPECT_EQ(join_ids(first["ids"], 0), expected()[0].french_ids);
  EXPECT_EQ(nlohmann::json::parse(lines[1])["text"], "");
  EXPECT_EQ(nlohmann::json::parse(lines[2])["error"]["code"], "invalid argument");
}

TEST(CliDevice, SeveralSequences) {
  const Outcome outcome = translate({"--json", "--nbest", "4", "--beam", "4", expected()[2].text});
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << outcome.out << outcome.err;
  const auto& sequences = json["sequences"];
  ASSERT_EQ(sequences.size(), 4u);
  EXPECT_EQ(sequences[0]["text"], expected()[2].french);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_GE(sequences[i - 1]["score"], sequences[i]["score"]);
    EXPECT_NE(sequences[i - 1]["ids"], sequences[i]["ids"]);
  }
  const Outcome too_many = translate({"--json", "--nbest", "5", "--beam", "4", "Hello."});
  EXPECT_EQ(too_many.code, 2);
  EXPECT_TRUE(contains(too_many.err, "--nbest: 5")) << too_many.err;
}

TEST(CliDevice, ScoresOfTokens) {
  const Outcome outcome = translate({"--json", "--scores", expected()[0].text});
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << outcome.out << outcome.err;
  ASSERT_EQ(json["token_scores"].size(), json["ids"].size());
  for (const auto& score : json["token_scores"]) EXPECT_LE(score.get<double>(), 0.0);
  EXPECT_EQ(translate({"--scores", "Hello."}).code, 2);
}

// ---- sentences, streaming, other commands ----

TEST(CliDevice, LinesOfSeveralSentences) {
  const std::string line = expected()[0].text + "  " + expected()[1].text + " " + expected()[2].text,
                    french = expected()[0].french + "  " + expected()[1].french + " " + expected()[2].french;
  EXPECT_EQ(translate({line}).out, french + "\n");
  const Outcome json = translate({"--json", line});
  const auto parsed = nlohmann::json::parse(json.out, nullptr, false);
  ASSERT_TRUE(parsed.is_object()) << json.out << json.err;
  ASSERT_EQ(parsed["parts"].size(), 3u);
  EXPECT_EQ(parsed["parts"][1]["text"], expected()[1].french);
  EXPECT_EQ(parsed["parts"][1]["source_bytes"][0], expected()[0].text.size() + 2);
  EXPECT_FALSE(nlohmann::json::parse(translate({"--json", "--no-split", line}).out).contains("parts"));
  const std::string two = expected()[0].text + " " + expected()[1].text;
  EXPECT_FALSE(nlohmann::json::parse(translate({"--json", "--no-split", two}).out).contains("parts"));
  EXPECT_EQ(nlohmann::json::parse(translate({"--json", two}).out)["parts"].size(), 2u);
  EXPECT_EQ(translate({"--split", "--no-split", two}).code, 2);
}

TEST(CliDevice, StreamedTextIsTheSame) {
  std::string input, french;
  for (size_t i = 0; i < 5; ++i) {
    input += expected()[i].text + (i % 2 ? "\n\n" : " ");
    french += expected()[i].french + (i % 2 ? "\n\n" : " ");
  }
  const Outcome plain = translate({}, input), streamed = translate({"--stream"}, input);
  EXPECT_EQ(streamed.code, 0) << streamed.err;
  EXPECT_EQ(streamed.out, plain.out);
  EXPECT_EQ(translate({"--stream", "--beam", "1", expected()[2].text}).out, expected()[2].greedy + "\n");
  EXPECT_EQ(translate({"--stream", "--json", "Hello."}).code, 2);
  const Outcome bad = translate({"--stream"}, expected()[0].text + "\n\xff\n" + expected()[1].text + "\n");
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.out, expected()[0].french + "\n\n" + expected()[1].french + "\n");
}

TEST(CliDevice, GenerateTakesTextsWhole) {
  TemporaryFolder folder;
  const std::string file = folder.file("two.txt", expected()[0].text + "\n" + expected()[1].text + "\n");
  const Outcome whole = run(lapilli({"generate", "--quiet", "--json", file}));
  EXPECT_EQ(lines_of(whole.out).size(), 1u) << whole.out << whole.err;
  const Outcome lines = run(lapilli({"generate", "--quiet", "--lines", file}));
  EXPECT_EQ(lines.out, expected()[0].french + "\n" + expected()[1].french + "\n");
  const Outcome ids = run(lapilli({"generate", "--quiet", "--ids", expected()[0].ids}));
  EXPECT_EQ(ids.out, expected()[0].french_ids + "\n");
}

TEST(CliDevice, AModelForTranslationsDoesNotSummarize) {
  const Outcome summary = run(lapilli({"summarize", "--quiet", expected()[0].text}));
  EXPECT_EQ(summary.code, 2);
  EXPECT_EQ(summary.out, "");
  EXPECT_TRUE(contains(summary.err, "is a model for translations and cannot summarize")) << summary.err;
}

TEST(CliDevice, LanguagesOfAModelOfTwo) {
  for (const char* english : {"en", "eng", "en-GB"}) {
    const Outcome outcome = translate({"--from", english, "--to", "fr", expected()[0].text});
    EXPECT_EQ(outcome.out, expected()[0].french + "\n") << english << outcome.err;
  }
  const Outcome to = translate({"--from", "en", "--to", "de", "Hello."});
  EXPECT_EQ(to.code, 2);
  EXPECT_EQ(to.out, "");
  EXPECT_TRUE(contains(to.err, "from \"en\" to \"fr\", not to \"de\"") && contains(to.err, "lapilli models")) << to.err;
  const Outcome from = translate({"--from", "fr", "Bonjour."});
  EXPECT_EQ(from.code, 2);
  EXPECT_TRUE(contains(from.err, "not from \"fr\"")) << from.err;
}

TEST(CliDevice, MemoryLimit) {
  const Outcome outcome = translate({"--memory-limit", "1", "Hello."});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_TRUE(contains(outcome.err, "memory limit")) << outcome.err;
  EXPECT_EQ(translate({"--memory-limit", "500", expected()[0].text}).out, expected()[0].french + "\n");
}

TEST(CliDevice, Dtype) {
  for (const char* dtype : {"bf16", "fp16", "int8", "int4"}) {
    const Outcome outcome = translate({"--dtype", dtype, "--stats", "--json", expected()[0].text});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, expected()[0].french)) << outcome.out;
    EXPECT_TRUE(contains(outcome.err, std::string("\"dtype\":\"") + dtype + "\"")) << outcome.err;
  }
  const Outcome wrong = translate({"--dtype", "fp8", "Hello."});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.err, "fp8") && contains(wrong.err, "bf16")) << wrong.err;
}

TEST(CliDevice, KvDtype) {
  for (const char* dtype : {"fp32", "fp16"}) {
    const Outcome outcome = translate({"--kv-dtype", dtype, "--stats", "--json", expected()[0].text});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, expected()[0].french)) << outcome.out;
    EXPECT_TRUE(contains(outcome.err, std::string("\"kv_dtype\":\"") + dtype + "\"")) << outcome.err;
  }
  const Outcome wrong = translate({"--kv-dtype", "int8", "Hello."});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.err, "int8") && contains(wrong.err, "fp16")) << wrong.err;
  // A step's dispatches say which.
  const Outcome plan = run(lapilli({"plan", "--shape", "tiny", "--kv-dtype", "fp16", "--json"}));
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_TRUE(contains(plan.out, "self_kv.0") && contains(plan.out, "f16")) << plan.err;
}

TEST(CliDevice, Trace) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/trace.json";
  const Outcome outcome = translate({"--trace", path, expected()[0].text});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected()[0].french + "\n");
  std::ifstream from(path);
  std::set<std::string> names;
  const auto trace = nlohmann::json::parse(from);
  for (const auto& event : trace.at("traceEvents")) names.insert(event.at("name"));
  for (const char* name : {"step", "encode", "submit", "make pipelines", "read the tokenizer"})
    EXPECT_TRUE(names.contains(name)) << name;
  const Outcome wrong = translate({"--trace", directory.path() + "/no/such/folder/trace.json", "Hello."});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.err, "--trace: there is no folder ")) << wrong.err;
  EXPECT_TRUE(contains(wrong.err, "no/such/folder/trace.json")) << wrong.err;
  const std::string input = directory.write("in.txt", "Hello.\n"), output = directory.path() + "/out.txt";
  const Outcome over = translate({"--file", "--trace", input, input});
  EXPECT_EQ(over.code, 2);
  EXPECT_TRUE(contains(over.err, "in.txt is an input")) << over.err;
  const Outcome beside = translate({"--file", "--trace", output, "-o", output, input});
  EXPECT_EQ(beside.code, 2);
  EXPECT_TRUE(contains(beside.err, "out.txt is the output")) << beside.err;
}

void expect_bench_tells_of_a_full_disk(const std::vector<std::string>& more) {
  std::vector<std::string> bench{"bench", "--trace", "/dev/full", "--shape", "tiny,layers=1", "--batch", "1", "--beam"};
  bench.insert(bench.end(), {"1", "--runs", "1", "--source", "4", "--target", "2"});
  bench.insert(bench.end(), more.begin(), more.end());
  const Outcome figures = run(lapilli(bench));
  EXPECT_EQ(figures.code, 6) << figures.err;
  EXPECT_TRUE(contains(figures.err, "--trace: cannot write the trace to /dev/full")) << figures.err;
  EXPECT_FALSE(figures.out.empty());
}

TEST(CliDevice, ATraceOnAFullDiskIsTold) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const Outcome text = translate({"-q", "--trace", "/dev/full", expected()[0].text});
  EXPECT_EQ(text.out, expected()[0].french + "\n");  // all the same
  EXPECT_EQ(text.code, 6);
  EXPECT_EQ(text.err, "lapilli: --trace: cannot write the trace to /dev/full: No space left on device\n");
  expect_bench_tells_of_a_full_disk({});
}

// Measures the device's limits, too, which takes a CPU driver ten seconds.
TEST(CliDeviceSlowBench, ATraceOnAFullDiskIsTold) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  expect_bench_tells_of_a_full_disk({"--per-op"});
}

// A packed model loads as the model does with that dtype: the same text, by the same ids.
TEST(CliDevice, PackedModels) {
  const TemporaryFolder folder;
  for (const std::string dtype : {"int8", "int4"}) {
    const std::string packed = (folder.path() / dtype).string();
    const Outcome made = run(lapilli({"pack", bundled_model(), packed, "--dtype", dtype}));
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(contains(made.out, "matrices in " + dtype)) << made.out;
    std::vector<std::string> texts;
    for (size_t i = 0; i < 8; ++i) texts.push_back(expected()[i].text);
    std::vector<std::string> from_model{"--dtype", dtype, "--json", "--scores"}, from_packed{"--json", "--scores"};
    from_model.insert(from_model.end(), texts.begin(), texts.end());
    from_packed.insert(from_packed.end(), texts.begin(), texts.end());
    const Outcome at_load = translate(from_model);
    from_packed.insert(from_packed.begin(), {"translate", "--quiet", "--model", packed});
    const Outcome before = run(lapilli(from_packed));
    EXPECT_EQ(before.code, 0) << before.err;
    EXPECT_EQ(before.out, at_load.out);
    for (const char* other : {"fp32", "bf16"}) {
      const Outcome refused = run(lapilli({"translate", "--model", packed, "--dtype", other, "Hello."}));
      EXPECT_EQ(refused.code, 2) << other << refused.err;
      EXPECT_TRUE(contains(refused.err, "packed as " + dtype)) << refused.err;
    }
    const Outcome seen = run(lapilli({"inspect", packed}));
    EXPECT_TRUE(seen.code == 0 && contains(seen.out, dtype)) << seen.out << seen.err;
  }
  const Outcome again = run(lapilli({"pack", bundled_model(), (folder.path() / "int8").string(), "--dtype", "int8"}));
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(contains(again.err, "is there already")) << again.err;
}

TEST(CliDevice, SamplingArgumentsReachTheModel) {
  EXPECT_EQ(translate({"--temperature", "0.5", "Hello."}).code, 2);  // not without --sample
  const Outcome wrong = translate({"--sample", "--top-p", "7", "--options", R"({"max_length": 9} )", "Hello."});
  EXPECT_NE(wrong.code, 0);
  EXPECT_TRUE(contains(wrong.err, "--top-p: 7")) << wrong.err;
}

TEST(CliDevice, SeedsRepeat) {
  const auto with = [](const char* seed) {
    const Outcome outcome = translate({"--sample", "--temperature", "3", "--seed", seed, "--max-length", "12",
                                       expected()[0].text, expected()[1].text, expected()[2].text});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(lines_of(outcome.out).size(), 3u);
    return outcome.out;
  };
  const std::string first = with("7");
  EXPECT_EQ(with("7"), first);
  EXPECT_NE(with("8"), first);
}

TEST(CliDevice, Statistics) {
  const Outcome people = translate({"--stats", expected()[0].text});
  EXPECT_EQ(people.out, expected()[0].french + "\n");
  for (const char* part : {"load", "encode", "decode", "per token", "pipelines", "memory"}) {
    EXPECT_TRUE(contains(people.err, part)) << people.err;
  }
  EXPECT_FALSE(contains(people.err, "tuned")) << people.err;  // nothing was
  const Outcome programs = translate({"--stats", "--json", expected()[0].text, expected()[1].text});
  const auto stats = nlohmann::json::parse(programs.err, nullptr, false);
  ASSERT_TRUE(stats.is_object()) << programs.err;
  EXPECT_EQ(stats["batches"], 2);  // each argument is answered at once
  EXPECT_GT(stats["load_ms"], 0);
  EXPECT_GT(stats["encode_ms"], 0);
  EXPECT_GT(stats["decode_ms"], 0);
  EXPECT_GT(stats["pipelines"], 0);
  EXPECT_EQ(stats["tuned_nodes"], 0);
  EXPECT_GT(stats["device_bytes_peak"], 20 << 20);
  EXPECT_EQ(stats["source_tokens"], 12);
}

// ---- options ----

TEST(CliDevice, Options) {
  const std::string text = expected()[2].text;
  EXPECT_EQ(translate({"--beam", "1", text}).out, expected()[2].greedy + "\n");
  EXPECT_EQ(translate({"--options", R"({"num_beams": 1})", text}).out, expected()[2].greedy + "\n");
  // max_length counts start and end.
  const Outcome cut = translate({"--ids", "--max-length", "5", expected()[2].ids});
  const std::string ids = lines_of(cut.out).at(0);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), ' '), 3) << ids;

  const Outcome unknown = translate({"--options", R"({"volcano": 1})", text});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "volcano")) << unknown.err;
  for (const char* broken : {"{", "[1]", R"({"num_beams": "many"})", R"({"num_beams": 1e999})"}) {
    const Outcome outcome = translate({"--options", broken, text});
    EXPECT_EQ(outcome.code, 2) << broken << ": " << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "--options")) << outcome.err;
  }
  const Outcome contrastive = translate({"--options", R"({"penalty_alpha": 0.6})", text});
  EXPECT_EQ(contrastive.out, "");
  EXPECT_TRUE(contains(contrastive.err, "penalty_alpha")) << contrastive.err;
}

TEST(CliDevice, DeviceAndMask) {
  const std::string text = expected()[0].text, french = expected()[0].french + "\n";
  EXPECT_EQ(translate({"--device", "0", text}).out, french);
  EXPECT_EQ(translate({"--caps", "floor", text}).out, french);
  const Outcome none = translate({"--device", "no such device", text});
  EXPECT_EQ(none.code, 4);
  EXPECT_TRUE(contains(none.err, "no such device")) << none.err;
  const Outcome mask = translate({"--caps", "no-such-mask", text});
  EXPECT_NE(mask.code, 0);
  EXPECT_TRUE(contains(mask.err, "no-such-mask")) << mask.err;
}

TEST(CliDevice, Messages) {
  const Outcome quiet = run(lapilli({"translate", "-q", expected()[0].text}));
  EXPECT_EQ(quiet.err, "");
  const Outcome verbose = run(lapilli({"translate", expected()[0].text, "--verbose"}));
  EXPECT_EQ(verbose.out, expected()[0].french + "\n");
  EXPECT_TRUE(contains(verbose.err, "marian")) << verbose.err;
}

TEST(CliDevice, Devices) {
  const Outcome table = run(lapilli({"devices"}));
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(contains(table.out, "* 0")) << table.out;
  const Outcome none = run(lapilli({"devices", "--device", "77"}));
  EXPECT_EQ(none.code, 4);
  EXPECT_TRUE(contains(none.out, "  0") && !contains(none.out, "* ")) << none.out;
  EXPECT_TRUE(contains(none.err, "no device has the index '77'")) << none.err;
  const Outcome text = run(lapilli({"devices", "--json"}));
  const auto json = nlohmann::json::parse(text.out, nullptr, false);
  ASSERT_TRUE(json.is_array()) << text.out;
  EXPECT_EQ(json[0]["chosen"], true);
  EXPECT_TRUE(json[0]["capabilities"].contains("max_storage_range"));
}

// ---- models ----

TEST(CliDevice, ModelOfTheEnvironment) {
  TemporaryFolder folder;
  Spawn spawn = lapilli({"translate", "-q", "Hello."});
  spawn.environment = {"LAPILLI_MODEL=" + (folder.path() / "nothing").string()};
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "LAPILLI_MODEL") && contains(outcome.err, "nothing")) << outcome.err;
}

// The program's limits are the library's.
TEST(CliDevice, LimitsOfTheLibrary) {
  const Outcome beams = translate({"--options", R"({"num_beams": 33})", "Hello."});
  EXPECT_EQ(beams.code, 2);
  EXPECT_TRUE(contains(beams.err, "num_beams: 33 is not between 1 and 32")) << beams.err;
  const Outcome drawn =
      translate({"--json", "--sample", "--beam", "1", "--options", R"({"num_return_sequences": 257})", "Hello."});
  EXPECT_TRUE(contains(drawn.err, "num_return_sequences: 257 is not between 1 and 256")) << drawn.err;
  const Outcome length = translate({"--options", R"({"max_length": 1048577})", "Hello."});
  EXPECT_TRUE(contains(length.err, "at most 1048576")) << length.err;
}

TEST(CliDevice, MessagesNameOptionsAsTyped) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--json", "--beam", "2", "--nbest", "5"}, "lapilli: --nbest: 5 is not between 1 and the number of beams, 2"},
      {{"--max-length", "1"}, "--max-length: 1 "},
      {{"--sample", "--temperature", "0"},
       "lapilli: --temperature: 0 is not above 1e-06; for the most likely ids leave --sample away"},
      {{"--sample", "--top-p", "2"}, "lapilli: --top-p: 2 "},
      {{"--options", "{"}, "lapilli: --options is not valid JSON"},
      {{"--options", R"({"nonsense": 1})"}, "lapilli: --options: nonsense is not known"},
  };
  for (auto [arguments, message] : cases) {
    arguments.emplace_back("Hello.");
    const Outcome outcome = translate(arguments);
    EXPECT_NE(outcome.code, 0) << message;
    EXPECT_TRUE(contains(outcome.err, message)) << message << ": " << outcome.err;
  }
}

TEST(CliDevice, OptionsOfAFile) {
  TemporaryFolder folder;
  const std::string good = folder.file("good.json", "\xef\xbb\xbf{\"num_beams\": 1}\n");
  EXPECT_EQ(translate({"--options", "@" + good, expected()[0].text}).out, expected()[0].greedy + "\n");
  // Options for sampling add to those of the file.
  const Outcome drawn = translate({"--options", "@" + good, "--sample", "--top-k", "1", expected()[0].text});
  EXPECT_EQ(drawn.out, expected()[0].greedy + "\n") << drawn.err;
  const Outcome bad = translate({"--options", "@" + folder.file("bad.json", "{\"num_beams\": 1"), "Hello."});
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "bad.json is not valid JSON")) << bad.err;
}

TEST(CliDevice, ModelWithoutTokenizer) {
  TemporaryFolder folder;
  const std::string model = folder.model_copy();
  fs::remove(model + "/source.spm");
  const Outcome text = translate({"--model", model, "Hello."});
  EXPECT_EQ(text.code, 3);
  EXPECT_TRUE(contains(text.err, "source.spm")) << text.err;
  EXPECT_EQ(translate({"--model", model, "--ids", expected()[0].ids}).out, expected()[0].french_ids + "\n");
}

// ---- pipes, terminals, signals ----

TEST(CliDevice, PipeIsAnsweredWhileItStaysOpen) {
  Process process(lapilli({"translate", "-q"}));
  process.write(expected()[0].text + "\n");
  ASSERT_TRUE(process.wait_for_lines(1)) << process.err();
  process.write(expected()[1].text + "\n");
  ASSERT_TRUE(process.wait_for_lines(2)) << process.err();
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, expected()[0].french + "\n" + expected()[1].french + "\n");
}

TEST(CliTerminal, IsAnsweredLineByLine) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  Spawn spawn = lapilli({"translate"});
  spawn.terminal_in = spawn.terminal_err = true;
  Process process(spawn);
  ASSERT_TRUE(process.wait_for_err("Ctrl-D ends")) << process.err();
  process.write(expected()[0].text + "\n");
  ASSERT_TRUE(process.wait_for_lines(1)) << process.err();
  process.write(expected()[1].text + "\n");
  ASSERT_TRUE(process.wait_for_lines(2)) << process.err();
  process.write("\x04");
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, expected()[0].french + "\n" + expected()[1].french + "\n");
}

// Sentences enough for seconds.
std::string long_input(size_t lines) {
  std::string input;
  for (size_t i = 0; i < lines; ++i) input += expected()[i % expected().size()].text + "\n";
  return input;
}

TEST(CliTerminal, ProgressBarOnATerminalOnly) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  TemporaryFolder folder;
  const std::string file = folder.file("letter.txt", long_input(48));
  Spawn spawn = lapilli({"translate", "--beam", "1", "--batch", "4", file});
  spawn.terminal_err = true;
  const Outcome shown = run(spawn);
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(lines_of(shown.out).size(), 48u);
  EXPECT_TRUE(contains(shown.err, " %") && contains(shown.err, "lines")) << shown.err;
  spawn.terminal_err = false;
  EXPECT_FALSE(contains(run(spawn).err, " %"));
  spawn.terminal_err = true;
  spawn.arguments.push_back("--quiet");
  EXPECT_EQ(run(spawn).err, "");
}

// The output is a whole number of lines, the first ones of an undisturbed run.
void expect_first_lines(const std::string& out) {
  if (out.empty()) return;
  EXPECT_EQ(out.back(), '\n');
  const auto lines = lines_of(out);
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(lines[i], expected()[i % expected().size()].french) << "line " << i;
}

TEST(CliDevice, InterruptedAtWork) {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    TemporaryFolder folder;
    Process process(lapilli({"translate", "-q", "--batch", "4", folder.file("letter.txt", long_input(20000))}));
    ASSERT_TRUE(process.wait_for_lines(1)) << process.err();
    process.signal(signal);
    const Outcome outcome = process.finish();
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.err, "");
    EXPECT_LT(lines_of(outcome.out).size(), 20000u);
    expect_first_lines(outcome.out);
  }
}

TEST(CliDevice, InterruptedWhileWaitingForInput) {
  Process process(lapilli({"translate", "-q"}));
  process.write(expected()[0].text + "\n");
  ASSERT_TRUE(process.wait_for_lines(1)) << process.err();
  process.signal(SIGINT);
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.out, expected()[0].french + "\n");
}

TEST(CliDevice, ReaderThatGoesAway) {
  TemporaryFolder folder;
  Process process(lapilli({"translate", "-q", "--batch", "4", folder.file("letter.txt", long_input(20000))}));
  ASSERT_TRUE(process.wait_for_lines(1)) << process.err();
  process.close_output();
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 141);
  EXPECT_EQ(outcome.err, "");
}

TEST(CliDevice, OutputThatCannotBeWritten) {
  Spawn spawn = lapilli({"translate", "-q", expected()[0].text});
  spawn.stdout_path = "/dev/full";
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.code, 6);
  EXPECT_TRUE(contains(outcome.err, "cannot be written")) << outcome.err;
}

TEST(CliDevice, Sample) {
  Spawn spawn = lapilli({expected()[0].text, expected()[1].text});
  spawn.arguments[0] = LAPILLI_BINARY_DIR "/sample_minimal";
  EXPECT_EQ(run(spawn).out, expected()[0].french + "\n" + expected()[1].french + "\n");
  spawn.arguments[0] = LAPILLI_BINARY_DIR "/sample_minimal_c";
  spawn.arguments.pop_back();
  EXPECT_EQ(run(spawn).out, expected()[0].french + "\n");
}

// Run on a device whose heap is smaller than the model (tests.cmake).
TEST(CliSmallMemory, OutOfMemory) {
  const Outcome outcome = translate({expected()[0].text});
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "memory")) << outcome.err;
}

}  // namespace
}  // namespace lapilli::test
