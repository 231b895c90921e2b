// Records of shards, and what keeps the shards in a folder from being joined.
#include "shards/folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "shards/lock.hpp"
#include "shards/model_hash.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::shards {
namespace {

Record record_of(uint32_t number, uint32_t count) {
  Record r;
  r.shard = {number, count};
  r.output = stem_of(r.shard) + ".txt";
  r.rows_in = r.rows_out = 2;
  r.bytes = 4;
  r.output_hash = "h";
  r.inputs_hash = "i";
  r.model_hash = "m";
  r.inputs = {{"a \"b\".txt", {number * 10ull, number * 10ull + 10, number * 2ull, 2, "x"}}};
  r.settings = {{"command", "translate"}, {"--beam", "4"}};
  r.version = "1.0";
  r.device = "a device";
  r.host = "node\xff";
  r.seconds = 1.5;
  return r;
}

void write(const TempDirectory& folder, const Record& record) {
  const std::string stem = stem_of(record.shard);
  folder.write(stem + ".json", json_of(record));
  if (!record.output.empty()) folder.write(record.output, "a\nb\n");
}

void write_all(const TempDirectory& folder, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) write(folder, record_of(i, count));
}

// The shards to run again, and the first problem.
std::string look(const TempDirectory& folder) {
  FolderOfShards found;
  const std::string wrong = look_into(folder.path(), found);
  if (!wrong.empty()) return wrong;
  const std::string problem = found.problems.empty() ? "" : ": " + found.problems[0];
  return as_array(found.to_run, 0) + problem;
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ShardRecords, AreReadBack) {
  const Record record = record_of(3, 10);
  const std::string line = json_of(record);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto read = record_in(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(json_of(*read), line);
  EXPECT_EQ(read->inputs[0].name, "a \"b\".txt");
  EXPECT_EQ(read->settings, record.settings);
  EXPECT_EQ(other_run(record, *read), "");
}

// An object of JSON holds each name once.
TEST(ShardRecords, SettingsHaveEachNameOnce) {
  const Settings settings = settled({{"--top", "1"}, {"--labels", ""}, {"--beam", "4"}, {"--top", "5"}});
  EXPECT_EQ(settings, (Settings{{"--top", "1 5"}, {"--beam", "4"}}));
  Record record = record_of(0, 1);
  record.settings = settings;
  EXPECT_EQ(other_run(record, *record_in(json_of(record))), "");
}

// Settings that have no value are in no record, so that one more moves those behind it.
TEST(ShardRecords, ASettingThatOneAloneHasIsNamed) {
  const Record record = record_of(0, 1);
  Record other = record;
  other.settings.insert(other.settings.begin(), {"--from", "en"});
  EXPECT_EQ(other_run(record, other), "--from");
  EXPECT_EQ(other_run(other, record), "--from");
  other.settings.erase(other.settings.begin() + 1);
  EXPECT_EQ(other_run(record, other), "command");
}

TEST(ShardRecords, HostileOnesAreNone) {
  const std::string line = json_of(record_of(3, 10));
  for (size_t cut = 0; cut + 2 < line.size(); cut += 3) EXPECT_FALSE(record_in(line.substr(0, cut)));
  for (const char* text : {"", "[]", "{}", "null", "3", "{\"shard\":-1,\"of\":10}", "\xff"})
    EXPECT_FALSE(record_in(text));
  EXPECT_FALSE(record_in(std::string(100'000, '[')));
  std::string other = line;
  other.replace(other.find("\"shard\":3"), 9, "\"shard\":10");
  EXPECT_FALSE(record_in(other));
  for (const char* text : {"{\"shards\":0,\"first\":0}", "{\"shards\":3}", "{\"shards\":3,\"first\":2}", "x"})
    EXPECT_FALSE(counting_in(text));
  EXPECT_EQ(counting_in(json_of(Counting{10, 1}))->first, 1u);
}

TEST(ShardFolders, WholeOnesAreJoined) {
  TempDirectory folder;
  write_all(folder, 3);
  EXPECT_EQ(look(folder), "");
  FolderOfShards found;
  ASSERT_EQ(look_into(folder.path(), found), "");
  ASSERT_EQ(found.records.size(), 3u);
  EXPECT_EQ(found.records[2].shard.number, 2u);
}

TEST(ShardFolders, WhatIsMissingOrBrokenIsNamed) {
  TempDirectory folder;
  expect_in(look(folder), "holds no shard");
  write_all(folder, 12);
  std::filesystem::remove(folder.path() + "/part-3-of-12.json");
  std::filesystem::remove(folder.path() + "/part-7-of-12.txt");
  folder.write("part-9-of-12.txt", "a\n");
  folder.write("part-10-of-12.json", "{");
  expect_in(look(folder), "3,7,9-10: shard 3: it is not finished");
  folder.write("part-0-of-2.txt", "");
  expect_in(look(folder), "holds shards of 2 and of 12");
}

TEST(ShardFolders, ShardsOfOtherRunsAreNamed) {
  TempDirectory folder;
  write_all(folder, 5);
  Record other = record_of(4, 5);
  other.settings[1].second = "1";
  write(folder, other);
  expect_in(look(folder), "4: shard 4: it was made with another --beam than shard 0");
  other = record_of(4, 5);
  other.model_hash = "n";
  write(folder, other);
  expect_in(look(folder), "another model");
  other = record_of(4, 5);
  other.inputs[0].piece.lines_before = 9;
  write(folder, other);
  expect_in(look(folder), "a \"b\".txt changed");
  other = record_of(4, 5);
  other.rows_out = 1;
  write(folder, other);
  expect_in(look(folder), "1 rows for 2");
  for (const char* path : {"../part-4-of-5.txt", "/etc/passwd", "part-3-of-5.txt"}) {
    other = record_of(4, 5);
    other.output = path;
    folder.write("part-4-of-5.json", json_of(other));
    expect_in(look(folder), "is no name of its output");
  }
}

// A long line of one shard reaches over the next ones.
TEST(ShardFolders, BordersAreCheckedAcrossEmptyShards) {
  TempDirectory folder;
  for (const uint64_t lines_before : {2u, 3u}) {
    write_all(folder, 4);
    for (const uint32_t number : {1u, 2u}) {
      Record empty = record_of(number, 4);
      empty.inputs.clear();
      write(folder, empty);
    }
    Record last = record_of(3, 4);
    last.inputs[0].piece = {10, 40, lines_before, 2, "x"};
    write(folder, last);
    expect_in(look(folder) + " ", lines_before == 2 ? " " : "3: shard 3: it does not begin where the one before ends");
    EXPECT_EQ(look(folder).empty(), lines_before == 2);
  }
}

TEST(ShardLocks, ASecondProcessIsToldWhoHoldsIt) {
  TempDirectory folder;
  const std::string path = folder.path() + "/part-0-of-1.lock";
  std::string why;
  auto first = Lock::take(path, why);
  ASSERT_TRUE(first) << why;
  EXPECT_FALSE(Lock::take(path, why));
  EXPECT_EQ(why, this_process() + " is at work on it");
  first.reset();  // as when its process dies; the file stays
  EXPECT_TRUE(std::filesystem::exists(path));
  auto second = Lock::take(path, why);
  ASSERT_TRUE(second);
  second->remove();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(Lock::take(folder.path() + "/nowhere/x.lock", why));
  expect_in(why, "cannot be locked: ");
}

TEST(ModelHash, TellsContentAndNamesApart) {
  TempDirectory one, two;
  const std::string large(size_t{3} << 20, 'w');
  for (const TempDirectory* folder : {&one, &two}) {
    folder->write("config.json", "{}");
    folder->write("model.safetensors", large);
    folder->write(".cache", folder == &one ? "1" : "2");  // hidden
  }
  EXPECT_EQ(hash_of_model(one.path()), hash_of_model(two.path()));
  std::string other = large;
  other.back() = 'v';
  two.write("model.safetensors", other);
  EXPECT_NE(hash_of_model(one.path()), hash_of_model(two.path()));
  two.write("model.safetensors", large);
  two.write("config.json", "[]");
  EXPECT_NE(hash_of_model(one.path()), hash_of_model(two.path()));
  EXPECT_EQ(hash_of_model(one.path() + "/config.json").size(), 16u);
}

// Both have the same tensors but a small one, which no sample at equal distances meets.
TEST(ModelHash, TellsApartWhatDiffersInOneTensor) {
  TempDirectory one, two;
  const std::string list = R"({"a":{"dtype":"F32","shape":[1000000],"data_offsets":[0,4000000]},)"
                           R"("b":{"dtype":"F32","shape":[4],"data_offsets":[4000000,4000016]},)"
                           R"("c":{"dtype":"F32","shape":[1000000],"data_offsets":[4000016,8000016]}})";
  std::string file = std::string(1, static_cast<char>(list.size())) + std::string(7, '\0') + list;
  ASSERT_LT(list.size(), 256u);
  const size_t data = file.size();
  file += std::string(8000016, 'w');
  const std::string before = hash_of_samples(one.write("model.safetensors", file));
  file[data + 4000008] = 'v';
  EXPECT_NE(hash_of_samples(two.write("model.safetensors", file)), before);
  // A list that leads out of the file.
  file.replace(file.find("8000016]"), 7, "9000016");
  EXPECT_NE(hash_of_samples(two.write("model.safetensors", file)), before);
}

TEST(ShardFolders, RejectedRowsAreCounted) {
  const TempDirectory folder;
  Record record = record_of(0, 1);
  record.rejected = 2;
  write(folder, record);
  expect_in(look(folder), "0: shard 0: part-0-of-1.rejected.jsonl is missing");
  folder.write("part-0-of-1.rejected.jsonl", "{}\n");
  expect_in(look(folder), "has 1 rows, and its record says 2");
  folder.write("part-0-of-1.rejected.jsonl", "{}\n{}\n");
  EXPECT_EQ(look(folder), "");
}

TEST(ShardRecords, TellOtherInputs) {
  const Record record = record_of(3, 10);
  Record other = record;
  EXPECT_EQ(other_input(record, other), "");
  other.inputs[0].piece.hash = "y";
  EXPECT_EQ(other_input(record, other), "a \"b\".txt");
  other.inputs.clear();
  EXPECT_EQ(other_input(record, other), "a \"b\".txt");
}

// Removing the file while it is held leaves none to a process that has it open.
TEST(ShardLocks, OfARemovedFileAreNone) {
  const TempDirectory folder;
  const std::string path = folder.path() + "/lock";
  std::string why;
  auto first = Lock::take(path, why);
  ASSERT_TRUE(first);
  first->remove();
  const auto second = Lock::take(path, why);
  ASSERT_TRUE(second) << why;
  first.reset();
  EXPECT_FALSE(Lock::take(path, why));
}

}  // namespace
}  // namespace lapilli::shards
