// The program shows its progress on a terminal, and stays silent elsewhere.
#include "cli/program.hpp"

namespace lapilli::test {
namespace {

// The program with a terminal for its messages, behind a line of shell that ends with exec "$@".
Spawn at_terminal(const std::string& line, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", line, "sh", program(), "translate"});
  Spawn spawn;
  spawn.arguments = std::move(arguments);
  spawn.environment = {"LAPILLI_MODEL", "LAPILLI_CONFIG", "XDG_CONFIG_HOME=/nowhere", "LAPILLI_NO_CACHE=1"};
  spawn.terminal_err = true;
  return spawn;
}

std::string progress_lines(size_t lines) {
  std::string input;
  for (size_t i = 0; i < lines; ++i) input += expected()[i % expected().size()].text + "\n";
  return input;
}

// The lines that were drawn: each replaces the one before it.
std::vector<std::string> drawn(const std::string& err) {
  const std::string clear = "\r\033[K";
  std::vector<std::string> all;
  for (size_t at = err.find(clear); at != std::string::npos;) {
    const size_t begin = at + clear.size();
    at = err.find(clear, begin);
    all.push_back(err.substr(begin, at == std::string::npos ? at : at - begin));
  }
  return all;
}

TEST(CliTerminal, ProgressFitsNarrowTerminals) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  TemporaryFolder folder;
  const std::string file = folder.file("letter", progress_lines(48));
  const Outcome outcome =
      run(at_terminal("stty cols 20 <&2; exec \"$@\"", {"--beam", "1", "--batch", "4", "--no-unsure", file}));
  EXPECT_EQ(outcome.code, 0);
  const auto all = drawn(outcome.err);
  ASSERT_GT(all.size(), 1u) << outcome.err;
  EXPECT_EQ(all.back(), "") << "nothing stays at the end";
  for (const std::string& one : all) {
    EXPECT_LT(one.size(), 20u);
    EXPECT_EQ(one.find('\n'), std::string::npos) << one;
    EXPECT_TRUE(one.empty() || (contains(one, " %") && contains(one, " line"))) << one;
  }
}

TEST(CliTerminal, ProgressCountsLinesOfPipes) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  const Outcome outcome = run(at_terminal("exec \"$@\"", {"--beam", "1", "--batch", "4"}), progress_lines(48));
  EXPECT_EQ(outcome.code, 0);
  const auto all = drawn(outcome.err);
  ASSERT_GT(all.size(), 1u) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, "%"));
  bool counted = false;
  for (const std::string& one : all) counted = counted || contains(one, " lines, ");
  EXPECT_TRUE(counted) << outcome.err;
}

TEST(CliTerminal, ProgressWithinALongLine) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  TemporaryFolder folder;
  std::string line;
  for (size_t i = 0; i < 40; ++i) line += (i == 0 ? "" : " ") + expected()[i].text;
  const std::string file = folder.file("letter", line + "\n");
  const Outcome outcome =
      run(at_terminal("exec \"$@\"", {"--batch", "2", file, "-o", (folder.path() / "out").string()}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, " sentences")) << outcome.err;
}

// A pager shows lines on the terminal that the progress would be drawn on.
TEST(CliTerminal, ProgressIsSilentUnderPagers) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  TemporaryFolder folder;
  const std::string file = folder.file("letter", progress_lines(32)), out = (folder.path() / "out").string();
  const std::vector<std::string> arguments{"--beam", "1", "--batch", "4", file};
  const Outcome paged = run(at_terminal("\"$@\" | cat >&2", arguments));
  EXPECT_TRUE(contains(paged.err, expected()[0].greedy)) << paged.err;
  EXPECT_TRUE(drawn(paged.err).empty()) << paged.err;
  const Outcome tee = run(at_terminal("\"$@\" | tee /dev/null | cat >&2", arguments));
  EXPECT_TRUE(drawn(tee.err).empty()) << tee.err;
  const Outcome filtered = run(at_terminal("\"$@\" | cat > '" + out + "'", arguments));
  EXPECT_FALSE(drawn(filtered.err).empty()) << filtered.err;
}

}  // namespace
}  // namespace lapilli::test
