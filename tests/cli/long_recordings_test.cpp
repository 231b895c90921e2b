// Recordings of an hour: memory that does not grow, an interruption, and how far it is.
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <thread>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

const std::string kFolder = LAPILLI_TEST_DATA "/models/whisper-long";

// The record's recording, again and again: samples of 16 bits.
std::string seconds_of_sound(size_t seconds) {
  const std::string wav = read_file(kFolder + "/audio/long.wav"), samples = wav.substr(wav.find("data") + 8);
  std::string all;
  while (all.size() < seconds * 32000) all += samples;
  all.resize(seconds * 32000);
  return all;
}

std::vector<std::string> transcripts_of(std::vector<std::string> more) {
  more.insert(more.begin(), {"transcribe", "--model", kFolder + "/model", "--dtype", "fp32", "--language", "en",
                             "--ids", "--raw", "s16le:16000"});
  return more;
}

// The same as a file, minute by minute: what this program has held at most counts for those that it starts as well.
std::string file_of_sound(const TemporaryFolder& folder, const std::string& name, size_t minutes) {
  const std::string path = (folder.path() / name).string(), minute = seconds_of_sound(60);
  std::ofstream out(path, std::ios::binary);
  for (size_t i = 0; i < minutes; ++i) out << minute;
  EXPECT_TRUE(out.good()) << path;
  return path;
}

struct Ended {
  int code = -1;
  uint64_t peak_mib = 0;
};

// Its standard input is the file, its output goes nowhere.
Ended run_and_measure(const std::vector<std::string>& arguments, const std::string& input) {
  Spawn spawn = lapilli(arguments);
  std::vector<char*> argv;
  for (std::string& a : spawn.arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  if (posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ) != 0) return {};
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage used{};
  if (wait4(pid, &status, 0, &used) != pid || !WIFEXITED(status)) return {};
  return {WEXITSTATUS(status), static_cast<uint64_t>(used.ru_maxrss) / 1024};
}

uint64_t own_peak_mib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<uint64_t>(used.ru_maxrss) / 1024;
}

// So many minutes take no more memory than one, but for `most_mib`. Few ids to a window, of which there are as many as
// seconds: 30 times as many as a published model has.
void expect_as_much_memory_as_a_minute(size_t minutes, uint64_t most_mib, bool pieces) {
  TemporaryFolder folder;
  const std::string minute = file_of_sound(folder, "minute.raw", 1), all = file_of_sound(folder, "all.raw", minutes);
  const std::vector<std::string> how{"--json", "--quiet", "--no-cache", "--max-new-tokens", "4"};
  const auto of = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = how;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run_and_measure(transcripts_of(arguments), file);
    EXPECT_EQ(ended.code, 0) << file;
    return ended.peak_mib;
  };
  std::vector<std::array<uint64_t, 2>> ways = {{of("/dev/null", {minute}), of("/dev/null", {all})},
                                               {of(minute, {"-"}), of(all, {"-"})}};
  if (pieces) ways.push_back({of("/dev/null", {"--batch", "16", minute}), of("/dev/null", {"--batch", "16", all})});
  for (const auto& peaks : ways) {
    std::printf("a minute: %llu MiB, %zu minutes: %llu MiB\n", static_cast<unsigned long long>(peaks[0]), minutes,
                static_cast<unsigned long long>(peaks[1]));
    EXPECT_GT(peaks[0], own_peak_mib()) << "what is measured is this program's own";
    EXPECT_LE(peaks[1], peaks[0] + most_mib);
  }
}

// Three more minutes of samples would be 11 MiB.
TEST(CliDeviceFourMinutes, TakeAsMuchMemoryAsAMinute) { expect_as_much_memory_as_a_minute(4, 8, false); }
// Ten minutes of samples would be 37 MiB. A minute is too short to fill a batch of 16 pieces, which is most of the
// rest.
TEST(CliDeviceTenMinutes, TakeAsMuchMemoryAsAMinute) { expect_as_much_memory_as_a_minute(10, 25, true); }
TEST(CliDeviceHour, TakesAsMuchMemoryAsAMinute) { expect_as_much_memory_as_a_minute(60, 50, true); }

TEST(CliDeviceLongRecording, AnInterruptionLeavesCompleteSubtitles) {
  TemporaryFolder folder;
  const std::string sound = folder.file("talk.raw", seconds_of_sound(600)), srt = (folder.path() / "talk.srt").string();
  Process running(lapilli(transcripts_of({"--srt", "-o", srt, sound})));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::error_code none_yet;
  while ((!fs::exists(srt + ".part", none_yet) || fs::file_size(srt + ".part") < 400) &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  running.signal(SIGINT);
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "talk.srt.part")) << outcome.err;
  EXPECT_FALSE(fs::exists(srt));
  const std::string text = read_file(srt + ".part");
  EXPECT_TRUE(text.starts_with("1\n00:00:0")) << text.substr(0, 100);
  EXPECT_TRUE(text.ends_with("\n\n")) << text;
  size_t number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(line, std::to_string(++number));
    ASSERT_TRUE(std::getline(lines, line) && contains(line, " --> ")) << line;
    ASSERT_TRUE(std::getline(lines, line) && !line.empty());
    ASSERT_TRUE(std::getline(lines, line) && line.empty()) << line;
  }
  EXPECT_GT(number, 2u);
}

// A pipe whose writer has nothing to say just now ends as well.
TEST(CliDeviceLongRecording, AnInterruptionEndsAPipe) {
  Process running(lapilli(transcripts_of({"--json", "--live"})));
  running.write(seconds_of_sound(3));
  ASSERT_TRUE(running.wait_for_out("\"final\":true")) << running.err();
  running.signal(SIGINT);
  const auto before = std::chrono::steady_clock::now();
  running.wait_for_lines(1'000'000, 30);  // until its end, with the pipe still open
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
  const Outcome outcome = running.finish();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("}\n")) << outcome.out;
}

TEST(CliTerminalTranscribe, SaysHowFarItIs) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  TemporaryFolder folder;
  Spawn spawn = lapilli(transcripts_of({"-o", (folder.path() / "x.txt").string(), file_of_sound(folder, "x.raw", 20)}));
  spawn.terminal_err = true;
  Process running(spawn);
  // Before there is a word.
  ASSERT_TRUE(running.wait_for_err("reading the file: "));
  EXPECT_TRUE(running.wait_for_err(" %  "));
  EXPECT_TRUE(contains(running.err(), " of 1200 s of sound"));
  running.signal(SIGINT);
  EXPECT_EQ(running.finish().code, 130);
}

TEST(CliTerminalTranscribe, AnInterruptionEndsTheFirstReading) {
  if (!have_terminals()) GTEST_SKIP() << "SKIPPED: there are no pseudo-terminals here";
  TemporaryFolder folder;
  const std::string file = file_of_sound(folder, "x.raw", 60);
  for (const char* batch : {"0", "4"}) {
    Spawn spawn = lapilli(transcripts_of({"--batch", batch, file}));
    spawn.terminal_err = true;
    Process running(spawn);
    ASSERT_TRUE(running.wait_for_err("reading the file: "));
    running.signal(SIGINT);
    const Outcome outcome = running.finish();
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace lapilli::test
