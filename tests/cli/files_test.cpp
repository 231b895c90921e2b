// lapilli translate from files to files: -o, --suffix, folders, --resume, kinds of files.
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

const std::string& english(size_t i) { return expected()[i].text; }
const std::string& french(size_t i) { return expected()[i].french; }

// ---- one output ----

TEST(CliDevice, FilesToOneFile) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.ids", english(0) + "\n\n"), b = folder.file("b", english(1));
  const std::string to = (folder.path() / "out").string();
  const Outcome outcome = translate({"-o", to, a, b});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(read_file(to), french(0) + "\n\n" + french(1) + "\n");
  EXPECT_EQ(names_in(folder.path()), (Names{"a.ids", "b", "out"}));

  // A text, standard input; - is standard output.
  const std::string other = (folder.path() / "other.txt").string();
  EXPECT_EQ(translate({"-o", other, english(2)}).code, 0);
  EXPECT_EQ(read_file(other), french(2) + "\n");
  EXPECT_EQ(translate({"-o", other, "--force"}, english(0) + "\n").code, 0);
  EXPECT_EQ(read_file(other), french(0) + "\n");
  EXPECT_EQ(translate({"-o", "-", english(0)}).out, french(0) + "\n");
}

TEST(CliDevice, PartsOfALineThatFailedStay) {
  TemporaryFolder folder;
  const std::string file = folder.file("a", english(0) + "\nbad \xff\n"), to = (folder.path() / "out").string();
  const Outcome outcome = translate({"-o", to, file});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "a:2: ")) << outcome.err;
  EXPECT_EQ(read_file(to), french(0) + "\n\n");
}

TEST(CliDevice, OutputsThatCannotBeWritten) {
  TemporaryFolder folder;
  const std::string file = folder.file("a", english(0) + "\n");
  const Outcome full = translate({"-o", "/dev/full", file});
  EXPECT_EQ(full.code, 6);
  EXPECT_TRUE(contains(full.err, "/dev/full cannot be written: No space left")) << full.err;
  // Output that was written before the disk was full stays, and a later run continues it.
  const std::string big = folder.file("big", std::string(1 << 17, '\n')), to = (folder.path() / "out").string();
  Spawn limited = lapilli({"translate", "-q", "-o", to, big});
  const std::string shell[] = {"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"};
  limited.arguments.insert(limited.arguments.begin(), std::begin(shell), std::end(shell));
  const Outcome outcome = run(limited);
  EXPECT_EQ(outcome.code, 6) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "out.part cannot be written: File too large") && contains(outcome.err, "--resume"))
      << outcome.err;
  EXPECT_FALSE(fs::exists(to));
  const Outcome resumed = translate({"-o", to, big, "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file(to), std::string(1 << 17, '\n'));
}

// ---- what is in the way is said before a model is loaded ----

Outcome no_device(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {"translate", "--quiet"});
  Spawn spawn = lapilli(std::move(arguments));
  spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
  return run(spawn, input);
}

TEST(CliFiles, NothingIsWrittenOver) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.txt", "Hello.\n"), to = folder.file("out.txt", "mine");
  const auto refused = [](const Outcome& outcome, const std::string& why) {
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, why)) << outcome.err;
  };
  refused(no_device({"-o", to, a}), "out.txt is there already; --force");
  refused(no_device({"-o", to, a, "--resume"}), "nothing is left of a run to resume");
  EXPECT_EQ(no_device({"-o", to, a, "--force"}).code, 4);
  EXPECT_EQ(read_file(to), "mine");
  refused(no_device({"-o", a, a, "--force"}), "is an input");
  fs::create_symlink(a, folder.path() / "link.txt");
  refused(no_device({"-o", (folder.path() / "link.txt").string(), a, "--force"}), "is an input");
  for (const std::string& nowhere : {a + "/out.txt", (folder.path() / "mistyped/out.txt").string()})
    refused(no_device({"-o", nowhere, a}), "there is no folder " + nowhere.substr(0, nowhere.rfind('/') + 1));
  refused(no_device({"-o", a + "/", a}), "cannot be the folder of");
  folder.file("new.txt.part", "half");
  const std::string fresh = (folder.path() / "new.txt").string();
  refused(no_device({"-o", fresh, a}), "new.txt.part is left of an earlier run: --force");
  refused(no_device({"-o", fresh, a, "--resume"}), "cannot be resumed");
  folder.file("new.txt.part.journal", "lapilli journal 1\n");
  refused(no_device({"-o", fresh, a}), "--resume goes on with it, --force begins anew");
}

TEST(CliFiles, ContradictionsAreSaid) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.txt", "Hello.\n"), b = folder.file("b.tsv", "Hello.\n");
  fs::create_directories(folder.path() / "sub");
  folder.file("sub/a.txt", "Hello.\n");
  const std::string to = (folder.path() / "to").string(), here = folder.path().string();
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{a, "--resume"}, "--resume needs -o"},
      {{a, "--force"}, "--force needs -o"},
      {{a, "--format", "word"}, "\"word\""},
      {{a, "--format", "tsv"}, "--column"},
      {{b, "--suffix", ".fr"}, "--column"},
      {{a, "--suffix", "/fr"}, "--suffix"},
      {{a, "--suffix", ".fr", "-o", to}, "folder"},
      {{a, "--stream", "-o", to}, "--stream"},
      {{a, "--json", "--format", "text"}, "take lines"},
      {{"Hello.", "--suffix", ".fr"}, "\"Hello.\" is no file"},
      {{"--suffix", ".fr"}, "standard input is no file"},
      {{a, "--column", "1"}, "--column is for tables"},
      {{"--column", "1", "--json"}, "--column is for tables"},
      {{b, "--column", "1", "--json"}, "--column is for tables"},
      {{a, "--field", "title"}, "--field is for JSON lines"},
      {{a, "--format", "jsonl", "--field", ""}, "--field: it names nothing"},
      {{a, "--format", "jsonl", "--to-field", ""}, "--to-field: it names nothing"},
      {{a, "--suffix", ""}, "--suffix: it names nothing"},
      {{"Hello.", "--field", "title", "--format", "tsv", "--column", "1"}, "--field is for JSON lines"},
      {{"--resume", "-o", to}, "all must be files"},
      {{a, here + "/sub/a.txt", "-o", to + "/"}, "two inputs"},
      {{a, "-o", here}, "is an input"},
      {{here, "-o", to + ".txt"}, "is a directory"},
  };
  for (const auto& [arguments, why] : cases) {
    const Outcome outcome = no_device(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, why)) << outcome.err;
  }
  fs::create_directories(folder.path() / "empty");
  EXPECT_EQ(no_device({here + "/empty", "--suffix", ".fr"}).code, 3);
  const Outcome summary = run(lapilli({"summarize", "--format", "html", a}));
  EXPECT_EQ(summary.code, 2) << summary.err;
}

// ---- places that are named in a hurry ----

TEST(CliFiles, EndingsOfOtherVectorsAreRefused) {
  for (const char* name : {"v.npz", "v.csv", "v.parquet"}) {
    const Outcome outcome = run(lapilli({"embed", "--model", "nowhere", "-o", name, "Hello."}));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "ends in .npy")) << outcome.err;
  }
  const Outcome meant = run(lapilli({"embed", "--model", "nowhere", "--vectors", "f32", "-o", "v.bin", "Hello."}));
  EXPECT_TRUE(contains(meant.err, "nowhere is not a directory")) << meant.err;
}

// Once, and before any work: by the first lines of a file.
TEST(CliFiles, AColumnThatIsNotThereIsSaidOnce) {
  TemporaryFolder folder;
  const std::string table = folder.file("a.tsv", "1\tHello.\n2\tThanks.\n3\tWhy?\n");
  for (const char* column : {"9", "title"}) {
    const Outcome outcome = no_device({table, "--column", column});
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, table + ": ")) << outcome.err;
  }
  EXPECT_TRUE(contains(no_device({table, "--column", "9"}).err, "its first lines have 2 columns"));
  EXPECT_EQ(no_device({table, "--column", "2"}).code, 4);
  // A title in front has no columns; nor does a long line tell whether it has.
  const std::string titled = folder.file("b.tsv", "My words\n1\tHello.\n");
  EXPECT_EQ(no_device({titled, "--column", "2"}).code, 4);
  const std::string wide = folder.file("c.tsv", std::string(10000, 'x') + "\tHello.\n");
  EXPECT_EQ(no_device({wide, "--column", "2"}).code, 4);
}

TEST(CliDevice, AColumnOfAPipeThatIsNotThereIsSaidOnce) {
  const Outcome outcome = translate({"--column", "9"}, "1\tHello.\n2\tThanks.\n");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "standard input: there is no column 9 (--column)")) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "line 2")) << outcome.err;
}

// A member or a column says what comes through a pipe; without them a note does.
TEST(CliDevice, RecordsThroughAPipe) {
  const std::string records = "{\"text\":\"" + english(0) + "\"}\n{\"text\":\"" + english(1) + "\"}\n";
  const std::string titled = "{\"title\":\"" + english(0) + "\"}\n";
  EXPECT_EQ(translate({"--field", "title"}, titled).out,
            "{\"title\":\"" + english(0) + "\",\"translation\":\"" + french(0) + "\"}\n");
  EXPECT_EQ(translate({"--field", "text", "--to-field", "text"}, "{\"text\":\"" + english(1) + "\"}\n").out,
            "{\"text\":\"" + french(1) + "\"}\n");
  EXPECT_EQ(translate({"--column", "2"}, "1\t" + english(1) + "\n").out, "1\t" + french(1) + "\n");
  const auto told = [](std::vector<std::string> arguments, const std::string& input) {
    arguments.insert(arguments.begin(), "translate");
    const Outcome outcome = run(lapilli(arguments), input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.err;
  };
  EXPECT_TRUE(contains(told({}, records), "note: standard input: the lines look like JSON"));
  EXPECT_TRUE(contains(told({}, "1\t" + english(0) + "\n2\t" + english(1) + "\n"), "look like a table"));
  for (const char* meant : {"--format=lines", "--format=jsonl", "--quiet", "--json"})
    EXPECT_FALSE(contains(told({meant}, records), "look like")) << meant;
  for (const std::string& text : {english(0) + "\n", "1\t" + english(0) + "\n", "{" + english(0) + "}\n"})
    EXPECT_FALSE(contains(told({}, text), "look like")) << text;
}

TEST(CliDevice, PlacesAreMeantAsTyped) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "letters");
  folder.file("letters/a.txt", english(0) + "\n");
  const std::string letters = (folder.path() / "letters").string(), to = (folder.path() / "fr2").string();
  EXPECT_EQ(translate({letters, "-o", to}).code, 0);
  EXPECT_EQ(names_in(to), Names{"a.txt"});
  EXPECT_EQ(translate({letters, "--suffix", "fr"}).code, 0);
  EXPECT_EQ(names_in(letters), (Names{"a.fr.txt", "a.txt"}));
  EXPECT_EQ(translate({letters + "/a.txt", "--suffix", "-2"}).code, 0);
  EXPECT_EQ(names_in(letters), (Names{"a-2.txt", "a.fr.txt", "a.txt"}));
}

// ---- files of their own ----

TEST(CliDevice, FoldersToFilesOfTheirOwn) {
  TemporaryFolder folder;
  for (const char* name : {"in/deep/er", "in/.git", "to"}) fs::create_directories(folder.path() / name);
  const std::string json = "{\"text\":\"" + english(1) + "\"}\n";
  folder.file("in/a.jsonl", json);
  folder.file("in/deep/er/b.NDJSON", json);
  folder.file("in/a.fr.jsonl.part.old", "x");
  folder.file("in/old.fr.jsonl", "{}\n");
  folder.file("in/.git/c.jsonl", "{}\n");
  folder.file("in/.hidden.jsonl", "{}\n");
  folder.file("in/picture.png", "x");
  folder.file("in/table.tsv", "x\n");
  fs::create_directory_symlink(folder.path() / "in", folder.path() / "in" / "loop");
  const std::string in = (folder.path() / "in").string(), to = (folder.path() / "to").string();
  const Outcome beside = run(lapilli({"translate", in, "--suffix", ".fr"}));
  EXPECT_EQ(beside.code, 0) << beside.err;
  EXPECT_TRUE(contains(beside.err, "2 of 2 files written")) << beside.err;
  const std::string made = "{\"text\":\"" + english(1) + "\",\"translation\":\"" + french(1) + "\"}\n";
  EXPECT_EQ(read_file(in + "/a.fr.jsonl"), made);
  EXPECT_EQ(read_file(in + "/deep/er/b.fr.NDJSON"), made);
  EXPECT_EQ(translate({in, "--suffix", ".fr"}).code, 2) << "they are there";
  // Into a folder, with other options; the folder itself is none of the inputs.
  const Outcome into = translate({in, "-o", to, "--suffix", ".fr", "--to-field", "text"});
  EXPECT_EQ(into.code, 0) << into.err;
  EXPECT_EQ(names_in(to), (Names{"a.fr.jsonl", "deep/er/b.fr.NDJSON"}));
  EXPECT_EQ(read_file(to + "/a.fr.jsonl"), "{\"text\":\"" + french(1) + "\"}\n");
}

// One file that cannot be read does not stop the others, and --resume does what is left.
TEST(CliDevice, AFileThatCannotBeTranslatedDoesNotStopTheOthers) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.tsv", "none\n"),
                    b = folder.file("b.tsv", "id\ttext\r\n1\t" + english(0) + "\r\n");
  const std::vector<std::string> arguments{a, b, "--suffix", ".fr", "--column", "text"};
  const Outcome outcome = translate(arguments);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "a.tsv: no column")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "it begins with \"none\"")) << outcome.err;
  const std::string b_fr = (folder.path() / "b.fr.tsv").string();
  EXPECT_EQ(read_file(b_fr), "id\ttext\r\n1\t" + french(0) + "\r\n");
  EXPECT_EQ(names_in(folder.path()), (Names{"a.tsv", "b.fr.tsv", "b.fr.tsv.part.journal", "b.tsv"}));
  folder.file("a.tsv", "text\n" + english(1));
  const auto before = fs::last_write_time(b_fr);
  std::vector<std::string> again = arguments;
  again.push_back("--resume");
  const Outcome resumed = translate(again);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file((folder.path() / "a.fr.tsv").string()), "text\n" + french(1));
  EXPECT_EQ(fs::last_write_time(b_fr), before);
  EXPECT_EQ(names_in(folder.path()), (Names{"a.fr.tsv", "a.tsv", "b.fr.tsv", "b.tsv"}));
}

// ---- lines with structure ----

TEST(CliDevice, JsonLinesKeepTheirMembers) {
  const std::string input =
      "\xef\xbb\xbf{\"n\": 1e3, \"text\": \"" + english(0) + "\"}\r\n\nHello.\n{\"text\":[]}\n{\"text\":\" \"}";
  const Outcome outcome = translate({"--format", "jsonl"}, input);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "\xef\xbb\xbf{\"n\": 1e3, \"text\": \"" + english(0) + "\", \"translation\": \"" + french(0) +
                             "\"}\r\n\nHello.\n{\"text\":[],\"error\":\"\\\"text\\\" holds no string\"}\n"
                             "{\"text\":\" \",\"translation\":\"\"}");
  ASSERT_EQ(lines_of(outcome.err).size(), 2u) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "line 3: ") && contains(outcome.err, "line 4: ")) << outcome.err;
  const Outcome other = translate({"--format", "jsonl", "--field", "title", "--to-field", "titre"},
                                  "{\"title\":\"" + english(1) + "\"}\n");
  EXPECT_EQ(other.out, "{\"title\":\"" + english(1) + "\",\"titre\":\"" + french(1) + "\"}\n");
  // Records of many texts: every line of a file is one for the other commands, too.
  const Outcome generated =
      run(lapilli({"generate", "-q", "--format", "jsonl"}), "{\"text\":\"" + english(1) + "\"}\n{}\n");
  EXPECT_EQ(lines_of(generated.out).size(), 2u) << generated.err;
  EXPECT_TRUE(contains(generated.out, "\"output\":\"" + french(1) + "\"")) << generated.out;
}

// ---- documents ----

TEST(CliDevice, DocumentsKeepTheirStructure) {
  TemporaryFolder folder;
  const std::string text = "\t- " + english(0) + "\r\n\r\n  * " + english(1) + "  \r\n";
  const std::string html =
      "<!-- <p> -->\n<p class=\"x\">" + english(0) + "</p>\n<pre>x = 1</pre>\n<h1><b>" + english(1) + "</b></h1>\n";
  const std::string srt =
      "1\n00:00:01,000 --> 00:00:02,000\n" + english(0) + "\n\n2\n00:00:03,000 --> 00:00:04,000\n" + english(1) + "\n";
  const auto translated = [](std::string document) {
    for (const size_t i : {0, 1}) document.replace(document.find(english(i)), english(i).size(), french(i));
    return document;
  };
  const std::vector<std::pair<std::string, std::string>> documents = {
      {"a.txt", text},
      {"a.html", html},
      {"a.srt", srt},
      {"a.vtt",
       "WEBVTT\n\n00:01.000 --> 00:02.000\n" + english(0) + "\n\n00:03.000 --> 00:04.000\n" + english(1) + "\n"}};
  std::vector<std::string> arguments{"--suffix", ".fr"};
  for (const auto& [name, content] : documents) arguments.push_back(folder.file(name, content));
  const Outcome outcome = translate(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const auto& [name, content] : documents) {
    const std::string made = "a.fr" + name.substr(1);
    EXPECT_EQ(read_file((folder.path() / made).string()), translated(content)) << name;
  }
  // From standard input; line by line where nobody asked for more.
  EXPECT_EQ(translate({"--format", "html"}, html).out, translated(html));
  EXPECT_NE(translate({(folder.path() / "a.txt").string()}).out, translated(text));
}

// Its text stays where it was; the other passages are translated.
TEST(CliDevice, PassagesThatFailStay) {
  TemporaryFolder folder;
  std::string long_text;
  for (int i = 0; i < 400; ++i) long_text += i == 0 ? "Stone" : " stone";
  const std::string file = folder.file("a.txt", english(0) + "\n\n" + long_text + "\n" + english(1) + "\n");
  const std::string to = (folder.path() / "out.txt").string();
  const Outcome outcome = translate({"--no-split", "-o", to, file});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "a.txt:3: ") && contains(outcome.err, "256")) << outcome.err;
  EXPECT_EQ(read_file(to), french(0) + "\n\n" + long_text + "\n" + french(1) + "\n");
  const Outcome none = translate({"-o", to, "--force", folder.file("b.txt", "Hello.\n\xff\n")});
  EXPECT_EQ(none.code, 3);
  EXPECT_TRUE(contains(none.err, "b.txt: ") && contains(none.err, "line 2")) << none.err;
}

// The tag goes with its word, which alignment alone can tell.
TEST(CliDevice, TagsFollowTheirWords) {
  const Outcome outcome = translate({"--format", "html"}, "<p>The <b>black</b> dog eats the red apple.</p>");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "<b>noir</b>")) << outcome.out;
}

// ---- resuming ----

constexpr size_t kLines = 40;

std::string many_lines(size_t lines) {
  std::string input;
  for (size_t i = 0; i < lines; ++i) input += english(i % expected().size()) + (i % 7 == 6 ? "\n\n" : "\n");
  return input;
}

// Waits until something is done, and a little longer; kills.
void kill_at_work(const std::vector<std::string>& arguments, const std::string& journal, int after_ms) {
  std::vector<std::string> all{"translate", "--quiet"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Process process(lapilli(all));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    if (fs::exists(journal) && contains(read_file(journal), "\ndone ")) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
  process.signal(SIGKILL);
  EXPECT_EQ(process.finish().code, 256 + SIGKILL) << "it ended before it was killed";
}

int tokens_of(const Outcome& outcome) {
  const auto json = nlohmann::json::parse(outcome.err, nullptr, false);
  return json.is_object() ? json.value("generated_tokens", -1) : -1;
}

void expect_resumed_as_uninterrupted(const std::string& name, const std::string& content,
                                     const std::vector<int>& killed_after_ms, const std::vector<std::string>& more) {
  TemporaryFolder folder;
  const std::string file = folder.file(name, content);
  const std::string whole = (folder.path() / "whole.out").string(), parts = (folder.path() / "parts.out").string();
  const auto arguments = [&](const std::string& to) {
    std::vector<std::string> all{"-o", to, file, "--beam", "1", "--batch", "2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  EXPECT_EQ(translate(arguments(whole)).code, 0);
  auto interrupted = arguments(parts);
  for (const int after_ms : killed_after_ms) {
    kill_at_work(interrupted, parts + ".part.journal", after_ms);
    EXPECT_FALSE(fs::exists(parts));
    if (interrupted.back() != "--resume") interrupted.push_back("--resume");
  }
  // As if the journal's last line had not reached the disk whole.
  std::ofstream(parts + ".part.journal", std::ios::app) << "done 0 99";
  std::ofstream(parts + ".part", std::ios::app) << "half a li";
  EXPECT_EQ(translate(interrupted).code, 0);
  EXPECT_EQ(read_file(parts), read_file(whole));
  EXPECT_EQ(names_in(folder.path()), (Names{name, "parts.out", "whole.out"}));
}

TEST(CliDeviceResume, ResumedLinesAreThoseOfAnUninterruptedRun) {
  expect_resumed_as_uninterrupted("letter", many_lines(kLines), {0, 300}, {});
}

TEST(CliDeviceResume, ResumedDocumentsAreThoseOfAnUninterruptedRun) {
  expect_resumed_as_uninterrupted("letter.txt", many_lines(kLines), {0}, {});
}

TEST(CliDeviceResume, ResumedDrawingIsThatOfAnUninterruptedRun) {
  expect_resumed_as_uninterrupted("letter", many_lines(kLines), {100},
                                  {"--sample", "--seed", "7", "--max-length", "20"});
}

// Finished files are not done again, and failed ones stay failed.
TEST(CliDeviceResume, InterruptedFilesAreResumed) {
  TemporaryFolder folder;
  const std::string file = folder.file("letter", "\xff\n" + many_lines(kLines)), to = (folder.path() / "out").string();
  const std::vector<std::string> arguments{"translate", "-o",      to,  file,      "--beam",
                                           "1",         "--batch", "2", "--stats", "--json"};
  Process process(lapilli(arguments));
  while (!fs::exists(to + ".part") || fs::file_size(to + ".part") < 300)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  process.signal(SIGTERM);
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 143);
  EXPECT_TRUE(contains(outcome.err, "0 of 1 files written") && contains(outcome.err, "--resume goes on"))
      << outcome.err;
  EXPECT_FALSE(fs::exists(to));
  // Only with the same input, model, options.
  const auto refused = [&](std::vector<std::string> more, const std::string& why) {
    more.insert(more.begin(), arguments.begin() + 1, arguments.end());
    const Outcome other = translate(more);
    EXPECT_EQ(other.code, 2) << other.err;
    EXPECT_TRUE(contains(other.err, why)) << other.err;
  };
  refused({"--resume", "--max-length", "30"}, "was begun with another --max-length");
  refused({"--resume", "--model", folder.model_copy()}, "was begun with another model");
  folder.file("letter", "\xff\n" + many_lines(kLines + 1));
  refused({"--resume"}, "was begun with another input");
  folder.file("letter", "\xff\n" + many_lines(kLines));
  std::vector<std::string> resume = arguments;
  resume.insert(resume.end(), {"-q", "--resume"});
  const Outcome resumed = run(lapilli(resume));
  EXPECT_EQ(resumed.code, 1) << "a line failed in the first run; " << resumed.err;
  const int less = tokens_of(resumed);
  const std::string made = read_file(to);
  resume.back() = "--force";
  const Outcome anew = run(lapilli(resume));
  EXPECT_EQ(anew.code, 1);
  EXPECT_EQ(read_file(to), made);
  EXPECT_GT(less, 0) << resumed.err;
  EXPECT_LT(less, tokens_of(Outcome{0, "", lines_of(anew.err).back()})) << anew.err;
}

}  // namespace
}  // namespace lapilli::test
