// The program with pipes, closed streams, signals and read errors, and its numbering of lines.
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

// The program behind a line of shell that ends with exec "$@".
Spawn behind_shell(const std::string& line, std::vector<std::string> arguments) {
  Spawn spawn = lapilli(std::move(arguments));
  const std::string shell[] = {"/bin/sh", "-c", line, "sh"};
  spawn.arguments.insert(spawn.arguments.begin(), std::begin(shell), std::end(shell));
  return spawn;
}

// ---- signals ----

// Lines without text are answered at once and, as JSON, with many bytes.
TEST(CliDevice, InterruptedWhileNobodyReads) {
  Process process(lapilli({"translate", "-q", "--json", "--batch", "2000"}));
  process.write("\n");
  ASSERT_TRUE(process.wait_for_lines(1)) << process.err();
  process.write(std::string(4000, '\n'));
  ASSERT_TRUE(process.wait_for_full_output()) << process.err();
  process.signal(SIGINT);
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.back(), '\n');
  const auto lines = lines_of(outcome.out);
  EXPECT_GT(lines.size(), 20u);
  EXPECT_LT(lines.size(), 4001u);
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto json = nlohmann::json::parse(lines[i], nullptr, false);
    ASSERT_TRUE(json.is_object()) << lines[i];
    EXPECT_EQ(json["line"], i + 1);
  }
}

// A driver that is read from a pipe never finishes loading.
TEST(CliDevice, InterruptedWhileLoading) {
  TemporaryFolder folder;
  const std::string driver = (folder.path() / "driver.json").string();
  ASSERT_EQ(mkfifo(driver.c_str(), 0600), 0);
  Spawn spawn = lapilli({"translate", "-q", "Hello."});
  spawn.environment.insert(spawn.environment.end(), {"VK_ICD_FILENAMES=" + driver, "VK_DRIVER_FILES=" + driver});
  Process process(spawn);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  process.signal(SIGINT);
  EXPECT_EQ(process.finish("", 30).code, 256 + SIGINT);
}

TEST(CliDevice, AnInterruptedStreamEndsItsLine) {
  Spawn spawn = lapilli({"translate", "-q", "--stream", "--beam", "1", "--max-length", "256", "--options",
                         R"({"min_length": 256, "no_repeat_ngram_size": 3})"});
  spawn.arguments.insert(spawn.arguments.end(), 50, expected()[2].text);
  Process process(spawn);
  ASSERT_TRUE(process.wait_for_out(" ")) << process.err();
  process.signal(SIGINT);
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.out.back(), '\n');
  EXPECT_LT(lines_of(outcome.out).size(), 50u);
}

// A line that never ends gives no read that waits.
TEST(CliDevice, InterruptedInALineWithoutEnd) {
  for (const char* command : {"translate", "summarize"}) {
    Process process(lapilli({command, "-v", "--file", "/dev/zero"}));
    ASSERT_TRUE(process.wait_for_err("loaded in")) << process.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    process.signal(SIGTERM);
    const Outcome outcome = process.finish("", 30);
    EXPECT_EQ(outcome.code, 143) << command;
    EXPECT_EQ(outcome.out, "");
  }
}

// As nohup and a shell's "&" start programs.
TEST(CliDevice, IgnoredSignalsStayIgnored) {
  Process process(behind_shell("trap '' INT; exec \"$@\"", {"translate", "-q"}));
  process.write(expected()[0].text + "\n");
  ASSERT_TRUE(process.wait_for_lines(1)) << process.err();
  process.signal(SIGINT);
  const Outcome outcome = process.finish(expected()[1].text + "\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, expected()[0].french + "\n" + expected()[1].french + "\n");
}

// ---- pipes and closed streams ----

TEST(CliDevice, NamedPipeIsOpenedOnce) {
  TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Process process(lapilli({"translate", "-q", pipe}));
  std::thread writer([&pipe] {
    std::ofstream(pipe) << expected()[0].text << "\n" << std::flush << expected()[1].text << "\n";
  });
  const Outcome outcome = process.finish("", 60);
  if (outcome.code != 0) close(open(pipe.c_str(), O_RDONLY | O_NONBLOCK));  // lets a writer go that nobody reads
  writer.join();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected()[0].french + "\n" + expected()[1].french + "\n");
}

TEST(CliDevice, ClosedStreamsAreErrors) {
  const Outcome in = run(behind_shell("exec \"$@\" <&-", {"translate", "-q"}));
  EXPECT_EQ(in.code, 3);
  EXPECT_TRUE(contains(in.err, "standard input: Bad file descriptor")) << in.err;
  const Outcome out = run(behind_shell("exec \"$@\" >&-", {"translate", "-q", "Hello."}));
  EXPECT_EQ(out.code, 6);
  EXPECT_TRUE(contains(out.err, "cannot be written: Bad file descriptor")) << out.err;
  const Outcome all = run(behind_shell("exec \"$@\" <&- >&- 2>&-", {"translate", "-q", "Hello."}));
  EXPECT_EQ(all.code, 6);
}

// A read that is filled to the last byte says nothing of what follows.
TEST(CliDevice, LinesThatAreThereDoNotWaitForMore) {
  Process process(lapilli({"translate", "-q", "--batch", "1000"}));
  process.write(std::string(1 << 16, '\n'));
  EXPECT_TRUE(process.wait_for_lines(1 << 16, 30)) << lines_of(process.out()).size();
  EXPECT_EQ(process.finish().code, 0);
}

// ---- files ----

TEST(CliDevice, FilesThatCannotBeRead) {
  for (const char* command : {"translate", "summarize"}) {
    const Outcome outcome = run(lapilli({command, "-q", "--file", "/proc/self/mem"}));
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.err, "/proc/self/mem: Input/output error")) << outcome.err;
  }
}

// One message for the file, not one for each line.
TEST(CliDevice, FilesOfOtherKindsAreNamed) {
  TemporaryFolder folder;
  const std::pair<std::string, const char*> kinds[] = {{std::string("\xff\xfeH\0i\0\n\0\n\0", 10), "UTF-16"},
                                                       {std::string("\xfe\xff\0H\0i\0\n", 8), "UTF-16"},
                                                       {"\x1f\x8b\n\n\n\n", "gzip"},
                                                       {"PK\x03\x04\x14\n\n", "ZIP archive"},
                                                       {"\xd0\xcf\x11\xe0\n\n", ".doc"},
                                                       {"%PDF-1.7\n\n", "PDF"}};
  for (const auto& [content, kind] : kinds) {
    const Outcome file = translate({folder.file("some.txt", content)});
    EXPECT_EQ(file.code, 3) << kind;
    EXPECT_EQ(file.out, "") << kind;
    ASSERT_EQ(lines_of(file.err).size(), 1u) << file.err;
    EXPECT_TRUE(contains(file.err, "some.txt: it is ") && contains(file.err, kind)) << file.err;
  }
  const Outcome input = run(lapilli({"summarize", "-q"}), kinds[0].first);
  EXPECT_EQ(input.code, 3);
  EXPECT_TRUE(contains(input.err, "standard input: it is text in UTF-16")) << input.err;
}

// A file is one text and gives one line, so that the lines stay with their files.
TEST(CliDevice, EmptyFilesGiveEmptyLines) {
  TemporaryFolder folder;
  const std::string empty = folder.file("empty.txt", ""), some = folder.file("some.txt", expected()[0].text);
  EXPECT_EQ(run(lapilli({"generate", "-q", empty, some})).out, "\n" + expected()[0].french + "\n");
  EXPECT_EQ(run(lapilli({"generate", "-q"})).out, "\n");
  EXPECT_EQ(run(lapilli({"generate", "-q", "--lines", empty})).out, "");
}

// ---- lines ----

TEST(CliDevice, LinesOfSeveralArgumentsAreCounted) {
  const Outcome text = translate({"", "\n\xff", "\xff"});
  EXPECT_EQ(text.code, 1);
  const auto messages = lines_of(text.err);
  ASSERT_EQ(messages.size(), 2u) << text.err;
  EXPECT_TRUE(contains(messages[0], "line 3: ")) << messages[0];
  EXPECT_TRUE(contains(messages[1], "line 4: ")) << messages[1];
  const auto json = lines_of(translate({"--json", "", ""}).out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(nlohmann::json::parse(json[1])["line"], 2);
}

TEST(CliDevice, WhatIsDrawnDoesNotDependOnTheWindows) {
  std::string input;
  for (size_t i = 0; i < 5; ++i) input += expected()[2].text + (i % 2 ? "\n\n" : "\n");
  const Outcome one = translate({"--sample", "--seed", "7", "--beam", "1"}, input);
  EXPECT_EQ(one.code, 0) << one.err;
  const auto lines = lines_of(one.out);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_NE(lines[0], lines[1]);
  EXPECT_EQ(translate({"--sample", "--seed", "7", "--beam", "1", "--batch", "1"}, input).out, one.out);
  EXPECT_EQ(translate({"--sample", "--seed", "7", "--beam", "1", "--stream"}, input).out, one.out);
}

TEST(CliDevice, EverySequenceThatWasMadeIsPrinted) {
  const std::string text = expected()[2].text;
  for (const auto& arguments :
       {std::vector<std::string>{"--nbest", "3"}, {"--options", R"({"num_return_sequences": 3})"}}) {
    std::vector<std::string> all{"--json", "--sample", "--beam", "1", text};
    all.insert(all.begin(), arguments.begin(), arguments.end());
    const Outcome outcome = translate(all);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(nlohmann::json::parse(outcome.out, nullptr, false)["sequences"].size(), 3u) << outcome.out;
  }
}

TEST(CliDevice, TextsOfPlusSigns) {
  const Outcome outcome = translate({"--json", "++", "Hello."});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).size(), 2u) << outcome.out;
}

}  // namespace
}  // namespace lapilli::test
