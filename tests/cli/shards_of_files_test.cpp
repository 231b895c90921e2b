// Shards of files that are rows by themselves: pictures, and recordings.
#include "cli/shard_folder.hpp"
#include "recordings/sounds.hpp"
#include "recordings/steady_sounds.hpp"

namespace lapilli::test {
namespace {

std::string record_model(const TemporaryFolder& folder, const std::string& name) {
  fs::copy(LAPILLI_TEST_DATA "/models/" + name + "/model", folder.path() / name);
  folder.file(name + "/preprocessor_config.json", R"({"image_processor_type": "ViTImageProcessor", "size": 32})");
  folder.file(name + "/tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})");
  return (folder.path() / name).string();
}

// Four pictures, of which one is none.
Arguments four_pictures(const TemporaryFolder& folder) {
  Arguments all;
  for (const char* name : {"plain.png", "plain.jpg", "grey.png"})
    all.push_back(folder.file(name, read_file(LAPILLI_TEST_DATA "/pictures/" + std::string(name))));
  all.insert(all.begin() + 1, folder.file("none.png", std::string(600, 'x')));
  return all;
}

Arguments joined_arguments(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(CliDeviceShardsOfFiles, Pictures) {
  for (const auto& [verb, name] : {std::pair("classify", "vit-image-classification"), std::pair("read", "trocr")}) {
    const ShardFolder f;
    const std::string model = record_model(f.folder, name);
    const Arguments pictures = four_pictures(f.folder);
    const Arguments how = {verb, "-q", "--model", model, verb[0] == 'r' ? "--max-length" : "--top", "4"};
    const Outcome single = run_with(joined_arguments(how, pictures));
    EXPECT_EQ(single.code, 1) << single.err;
    int failed = 0;
    for (const char* which : {"0/2", "1/2"}) {
      const Outcome made = run_with(joined_arguments(how, joined_arguments({"--shard", which, "-o", f.out}, pictures)));
      failed += made.code;
      EXPECT_TRUE(made.code == 0 || made.code == 1) << made.err;
    }
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(f.join("joined.txt").code, 1);
    EXPECT_EQ(f.content("joined.txt"), single.out) << verb;
    EXPECT_TRUE(contains(f.content("joined.txt.rejected.jsonl"), "none.png"));
  }
}

TEST(CliDeviceShardsOfFiles, Recordings) {
  const ShardFolder f;
  Arguments sounds;
  for (const int seconds : {1, 3, 2}) {
    const std::string name = std::to_string(seconds) + ".wav";
    sounds.push_back(f.folder.file(name, wav_of(glide(16000, seconds))));
  }
  sounds.push_back(f.folder.file("none.wav", std::string(600, 'x')));
  const Arguments how = {"transcribe",
                         "-q",
                         "--model",
                         LAPILLI_TEST_DATA "/models/whisper-long/model",
                         "--dtype",
                         "fp32",
                         "--max-new-tokens",
                         "12",
                         "--ids",
                         "--language",
                         "en"};
  const std::string single = (f.folder.path() / "single").string() + "/";
  EXPECT_EQ(run_with(joined_arguments(how, joined_arguments({"-o", single}, sounds))).code, 3);
  const auto shard = [&](const char* which) {
    return run_with(joined_arguments(how, joined_arguments({"--shard", which, "-o", f.out}, sounds)));
  };
  EXPECT_EQ(shard("0/2").code, 0);
  const Outcome early = run_with({"join", f.out});
  EXPECT_EQ(early.code, 3);
  EXPECT_TRUE(contains(early.err, "run again of 2 shards: 1")) << early.err;
  EXPECT_EQ(shard("1/2").code, 1);
  EXPECT_EQ(run_with({"join", f.out}).code, 1);
  for (const char* name : {"1.txt", "2.txt", "3.txt"})
    EXPECT_EQ(read_file(f.out + name), read_file(single + name)) << name;
  EXPECT_TRUE(contains(read_file(f.out + "part-1-of-2.rejected.jsonl"), "none.wav"));
}

}  // namespace
}  // namespace lapilli::test
