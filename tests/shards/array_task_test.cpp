// The shard of a task: typed, told by Slurm, and known from the folder.
#include "shards/array_task.hpp"

#include <gtest/gtest.h>

#include <map>

namespace lapilli::shards {
namespace {

struct Task {
  const char *id, *count, *least, *most;
};

// "3 of 10", or the error.
std::string chosen(const std::string& given, const Task& task = {"", "", "", ""}, Counting folder = {}) {
  const std::map<std::string, std::string> set = {{"SLURM_ARRAY_TASK_ID", task.id},
                                                  {"SLURM_ARRAY_TASK_COUNT", task.count},
                                                  {"SLURM_ARRAY_TASK_MIN", task.least},
                                                  {"SLURM_ARRAY_TASK_MAX", task.most}};
  ChosenShard shard;
  const std::string wrong = choose_shard(
      given, [&](const char* name) { return set.at(name); }, folder, shard);
  return wrong.empty() ? text_of(shard.shard) : wrong;
}

void expect_refused(const std::string& answer, const std::string& why) {
  EXPECT_NE(answer.find(why), std::string::npos) << answer;
}

TEST(ArrayTask, TypedShards) {
  EXPECT_EQ(chosen("3/10"), "3 of 10");
  EXPECT_EQ(chosen("0/1"), "0 of 1");
  for (const char* wrong : {"", "3", "10/10", "3/0", "-1/10", "3/10/2", "a/b", "3/", "/10", "auto/", "auto/0", "auto/x",
                            "autos/3", "3/1000001", "0x3/10", " 3/10", "99999999999999999999/3"})
    expect_refused(chosen(wrong), "K/N with K from 0 to N-1");
  expect_refused(chosen("3/12", {"", "", "", ""}, {10, 0}), "the folder holds shards of 10");
}

TEST(ArrayTask, WholeArrays) {
  EXPECT_EQ(chosen("auto", {"7", "10", "0", "9"}), "7 of 10");
  // 1-10 is 0 to 9.
  EXPECT_EQ(chosen("auto", {"1", "10", "1", "10"}), "0 of 10");
  EXPECT_EQ(chosen("auto", {"10", "10", "1", "10"}), "9 of 10");
  EXPECT_EQ(chosen("auto/10", {"10", "10", "1", "10"}), "9 of 10");
}

// The tasks 3 and 7 of ten, run again, must not become 0 and 1 of 2.
TEST(ArrayTask, PartsOfArrays) {
  expect_refused(chosen("auto", {"3", "2", "3", "7"}), "say of how many shards: --shard auto/N");
  EXPECT_EQ(chosen("auto/10", {"3", "2", "3", "7"}), "3 of 10");
  EXPECT_EQ(chosen("auto/10", {"7", "2", "3", "7"}), "7 of 10");
  EXPECT_EQ(chosen("auto", {"7", "2", "3", "7"}, {10, 0}), "7 of 10");
  EXPECT_EQ(chosen("auto", {"7", "2", "3", "7"}, {10, 1}), "6 of 10");
  expect_refused(chosen("auto", {"4", "10", "0", "18"}), "may be some of a larger one");  // 0-18:2
  expect_refused(chosen("auto", {"3", "3", "3", "5"}), "may be some of a larger one");
  EXPECT_EQ(chosen("auto", {"0", "1", "0", "0"}, {10, 0}), "0 of 10");  // one task again
  expect_refused(chosen("auto/10", {"12", "2", "3", "12"}), "task 12 has no shard");
  expect_refused(chosen("auto", {"0", "1", "0", "0"}, {10, 1}), "task 0 has no shard");
  expect_refused(chosen("auto", {"10", "10", "1", "10"}, {10, 0}), "tasks 0 to 9, as shards.json in the folder");
}

TEST(ArrayTask, WithoutASchedulerItSaysWhatIsMissing) {
  expect_refused(chosen("auto"), "SLURM_ARRAY_TASK_ID is not set");
  expect_refused(chosen("auto/10"), "SLURM_ARRAY_TASK_ID is not set");
  expect_refused(chosen("auto", {"x", "1", "0", "0"}), "SLURM_ARRAY_TASK_ID is \"x\"");
}

}  // namespace
}  // namespace lapilli::shards
