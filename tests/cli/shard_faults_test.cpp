// Shards whose program is killed between two files, that lie where nothing can be locked, or whose rows a device cannot
// hold.
#include <csignal>
#include <map>

#include "cli/sentence_models.hpp"
#include "cli/shard_folder.hpp"

namespace lapilli::test {
namespace {

// Twenty sentences in one line, which run as one text.
std::string large_row() {
  std::string row;
  for (int i = 0; i < 20; ++i) row += "I have two brothers and one sister in the house, ";
  return row + "end.\n";
}

// Its shard would end there at every start.
TEST(CliDeviceShardsFaults, ARowThatTheDeviceCannotHold) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", "Good morning.\n" + large_row() + "Thank you.\n\nHe sleeps.\n");
  const Arguments small = {"--memory-limit", "33", "--no-split", a};
  const Outcome made = f.shard("0/1", small);
  EXPECT_EQ(made.code, 1) << made.err;
  const auto rejected = lines_of(read_file(f.out + "part-0-of-1.rejected.jsonl"));
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(nlohmann::json::parse(rejected[0])["row"], 2);
  for (const char* why : {"device memory are needed", "alone it does not fit either"})
    EXPECT_TRUE(contains(rejected[0], why)) << rejected[0];
  EXPECT_EQ(f.join("joined.txt").code, 1);
  EXPECT_EQ(f.content("joined.txt"), "Bonjour.\n\nMerci.\n\nIl dort.\n");
}

// The row is not at fault: another process may have the memory. The next start goes on.
TEST(CliDeviceShardsFaults, ADeviceThatHoldsNothing) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", "bad \xff\nGood morning.\nThank you.\n");
  const Outcome full = f.shard("0/1", {"--batch", "1", "--memory-limit", "29", a});
  EXPECT_EQ(full.code, 5) << full.err;
  EXPECT_TRUE(contains(full.err, "the same command goes on there")) << full.err;
  EXPECT_FALSE(fs::exists(f.out + "part-0-of-1.json"));
  EXPECT_EQ(f.shard("0/1", {"--batch", "1", a}).code, 1);
  EXPECT_EQ(lines_of(read_file(f.out + "part-0-of-1.rejected.jsonl")).size(), 1u);
  EXPECT_EQ(read_file(f.out + "part-0-of-1.txt"), "\nBonjour.\nMerci.\n");
}

// The bundled model is one as well, though nobody names it.
TEST(CliDeviceShardsFaults, OfAnotherModelAreRefused) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", "Good morning.\n"), other = f.folder.model_copy();
  std::ofstream(other + "/notes.txt") << "other\n";
  EXPECT_EQ(f.shard("0/2", {"--model", other, a}).code, 0);
  const Outcome bundled = f.shard("0/2", {a}, kNoDriver);
  EXPECT_EQ(bundled.code, 2);
  EXPECT_TRUE(contains(bundled.err, "was made with another model")) << bundled.err;
  EXPECT_EQ(f.shard("1/2", {a}).code, 0);
  EXPECT_EQ(f.shard("1/2", {"--model", other, a}, kNoDriver).code, 2);
}

TEST(CliDeviceShardsFaults, ForceForgetsWhatWasRejected) {
  ShardFolder f;
  const std::string a = f.folder.file("a.md", "Thank you.\n"), b = f.folder.file("b.md", "bad \xff\n");
  const Arguments files = {"--suffix", ".fr", a, b};
  EXPECT_EQ(f.shard("0/1", files).code, 1);
  f.folder.file("b.md", "Good.\n");
  Arguments anew = files;
  anew.insert(anew.begin(), "--force");
  EXPECT_EQ(f.shard("0/1", anew).code, 0);
  EXPECT_FALSE(fs::exists(f.out + "part-0-of-1.rejected.jsonl"));
  EXPECT_EQ(run_with({"join", f.out}).code, 0);
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::string faults() { return "LD_PRELOAD=" LAPILLI_BINARY_DIR "/tests/libfaults.so"; }

struct KilledShard {
  ShardFolder f;
  Arguments command;

  explicit KilledShard(const Arguments& how) {
    const std::string a = f.folder.file("a.txt", "The model works.\nbad \xff\nGood.\n");
    command = {"embed", "--quiet", "--model", sentence_model("bert-several"),       "--shard", "0/1",
               "-o",    f.out,     a,         f.folder.file("b.txt", "So it is.\n")};
    command.insert(command.begin() + 1, how.begin(), how.end());
  }
  [[nodiscard]] Outcome killed_at(int step) const {
    return run_with(command, {faults(), "KILL_AT=" + std::to_string(step), "KILL_IN=" + f.out});
  }
  // It gives their contents; of the record, which has the time, and the rejected rows, which name the input, the lines.
  [[nodiscard]] std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const std::string& name : f.left()) {
      const std::string text = read_file(f.out + name);
      const bool whole = name != "part-0-of-1.json" && name != "part-0-of-1.rejected.jsonl";
      all[name] = whole ? text : std::to_string(lines_of(text).size());
    }
    return all;
  }
};

// The program is killed before each of them in turn; the next start leaves what an undisturbed run leaves.
void expect_whole_after_each_kill(const Arguments& how, int least_steps) {
  const KilledShard whole(how);
  EXPECT_EQ(run_with(whole.command).code, 1);
  for (int step = 1;; ++step) {
    const KilledShard shard(how);
    const Outcome killed = shard.killed_at(step);
    if (killed.code == 1) {
      EXPECT_GE(step, least_steps);
      return;
    }
    ASSERT_EQ(killed.code, 256 + SIGKILL) << step << ": " << killed.err;
    const Outcome again = run_with(shard.command);
    EXPECT_EQ(again.code, 1) << step << ": " << again.err;
    EXPECT_EQ(shard.files(), whole.files()) << step;
    EXPECT_EQ(run_with({"join", shard.f.out, "-o", shard.f.out + "../joined", "--max-rejected", "1"}).code,
              how.empty() ? 0 : 2)
        << step;
  }
}

TEST(CliDeviceShardsFaults, KilledBetweenTheirFiles) { expect_whole_after_each_kill({}, 6); }

TEST(CliDeviceShardsFaults, KilledBetweenTheFilesOfEachInput) {
  expect_whole_after_each_kill({"--suffix", ".jsonl"}, 8);
}

TEST(CliShards, WhereNothingCanBeLocked) {
  const ShardFolder f;
  const Outcome outcome = without_driver({"translate", "--shard", "0/1", "-o", f.out, f.folder.file("a.txt", "Yes.\n")},
                                         {faults(), "NO_LOCKS=1"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "Lustre mounted with -o flock")) << outcome.err;
}
#endif

}  // namespace
}  // namespace lapilli::test
