// Shards of a run over many machines, how they are joined, rows that are rejected, packed inputs and lists of files.
#include <sys/file.h>

#include "cli/sentence_models.hpp"
#include "cli/shard_folder.hpp"

namespace lapilli::test {
namespace {

void expect_refused(const Outcome& outcome, int code, const std::string& why) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, why)) << outcome.err;
}

// ---- before anything is loaded ----

TEST(CliShards, ContradictionsAreSaid) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.txt", "Hello.\n"), page = folder.file("a.html", "<p>Hello.</p>");
  const std::string out = (folder.path() / "out/").string();
  const auto refused = [&](Arguments arguments, const std::string& why) {
    arguments.insert(arguments.begin(), {"translate", "--quiet"});
    expect_refused(without_driver(arguments), 2, why);
  };
  refused({"--shard", "0/2", a}, "--shard needs the folder of the shards: -o OUT/");
  refused({"--shard", "2/2", "-o", out, a}, "K/N with K from 0 to N-1");
  refused({"--shard", "0/2", "-o", a, a}, "is a file; -o names the folder");
  refused({"--shard", "0/2", "-o", out, "--resume", a}, "goes on where it ended by itself");
  refused({"--shard", "0/2", "-o", out, "Hello there."}, "a shard is a part of files");
  refused({"--shard", "0/2", "-o", out, page}, "is a document");
  refused({"--max-rejected", "3", a}, "--max-rejected needs --shard");
  refused({"--shard", "auto", "-o", out, a}, "SLURM_ARRAY_TASK_ID is not set");
  EXPECT_FALSE(fs::exists(out));
}

// The tasks 3 and 7 of ten must not become two shards of two.
TEST(CliShards, PartialArraysAreRefused) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.txt", "Hello.\n"), out = (folder.path() / "out/").string();
  const std::vector<std::string> task = {"SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_COUNT=2", "SLURM_ARRAY_TASK_MIN=3",
                                         "SLURM_ARRAY_TASK_MAX=7"};
  const Arguments automatic = {"translate", "--shard", "auto", "-o", out, a};
  expect_refused(without_driver(automatic, task), 2, "--shard auto/N");
  expect_refused(without_driver({"translate", "--shard", "auto/10", "-o", out, a}, task), 4, "");
  EXPECT_EQ(read_json(out + "shards.json"), nlohmann::json({{"shards", 10}, {"first", 0}}));
  // The folder tells it from now on.
  expect_refused(without_driver(automatic, task), 4, "");
  expect_refused(without_driver({"translate", "--shard", "3/4", "-o", out, a}), 2, "the folder holds shards of 10");
}

TEST(CliShards, ASecondProcessStops) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.txt", "Hello.\n"), out = (folder.path() / "out/").string();
  fs::create_directories(out);
  const std::string lock = folder.file("out/part-0-of-2.lock", "process 77 on node5\n");
  const int fd = open(lock.c_str(), O_RDWR);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  expect_refused(without_driver({"translate", "--shard", "0/2", "-o", out, a}), 6,
                 "shard 0 of 2: process 77 on node5 is at work on it");
  close(fd);
  // Its process is gone: the lock is taken over.
  expect_refused(without_driver({"translate", "--shard", "0/2", "-o", out, a}), 4, "");
}

TEST(CliShards, JoinNeedsShards) {
  TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string(), to = (folder.path() / "all.txt").string();
  expect_refused(without_driver({"join", out, "-o", to}), 3, "is no folder of shards");
  fs::create_directories(out);
  expect_refused(without_driver({"join", out, "-o", to}), 3, "holds no shard");
  folder.file("out/shards.json", "{\"shards\":12,\"first\":1}");
  expect_refused(without_driver({"join", out, "-o", to}), 3, "run again of 12 shards: 0-11, which are the tasks 1-12");
  EXPECT_FALSE(fs::exists(to));
}

TEST(CliShards, DamagedPackedInputs) {
  TemporaryFolder folder;
  const std::string gz = folder.file("a.txt.gz", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff", 12));
  for (const Arguments& arguments :
       {Arguments{"translate", gz}, Arguments{"translate", "--shard", "0/1", "-o", "out/", gz}})
    expect_refused(without_driver(arguments), arguments.size() == 2 ? 4 : 3,
                   arguments.size() == 2 ? "" : "it is packed by gzip, and damaged");
}

// ---- with the bundled model ----

TEST(CliDeviceShards, JoinedTheyAreTheSingleRun) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", some_lines(23)), b = f.folder.file("b.txt", some_lines(4) + "\r\n");
  const std::string all = (f.folder.path() / "single.txt").string();
  ASSERT_EQ(run_with({"translate", "-q", "--format", "lines", "-o", all, a, b}).code, 0);
  for (const char* which : {"2/3", "0/3"}) {
    const Outcome made = f.shard(which, {a, b});
    EXPECT_EQ(made.code, 0) << made.err;
  }
  expect_refused(f.join("joined.txt"), 3, "run again of 3 shards: 1");
  EXPECT_EQ(f.shard("1/3", {a, b}).code, 0);
  const auto record = read_json(f.out + "part-1-of-3.json");
  EXPECT_EQ(record["rows_in"], record["rows_out"]);
  EXPECT_EQ(record["rejected"], 0);
  EXPECT_EQ(record["inputs"][0]["name"], "a.txt");
  const Outcome joined = f.join("joined.txt");
  EXPECT_EQ(joined.code, 0) << joined.err;
  EXPECT_EQ(f.content("joined.txt"), f.content("single.txt"));
  EXPECT_EQ(f.left(),
            (std::vector<std::string>{"part-0-of-3.json", "part-0-of-3.txt", "part-1-of-3.json", "part-1-of-3.txt",
                                      "part-2-of-3.json", "part-2-of-3.txt", "shards.json"}));
  // A finished shard stays, and is not loaded for; one of other options is refused.
  EXPECT_EQ(f.shard("1/3", {a, b}, kNoDriver).code, 0);
  expect_refused(f.shard("1/3", {"--beam", "1", a, b}, kNoDriver), 2, "was made with another --beam");
  expect_refused(f.shard("1/3", {b, a}, kNoDriver), 2, "was made with another list of inputs");
  expect_refused(f.shard("1/3", {"--from", "en", a, b}, kNoDriver), 2, "was made with another --from");
  EXPECT_FALSE(fs::exists(f.out + "part-1-of-3.lock"));
  std::ofstream(f.out + "part-0-of-3.txt", std::ios::app) << "more\n";
  expect_refused(f.join("again.txt"), 3, "bytes, and its record says");
}

TEST(CliDeviceShards, LinesAreNumberedAsInTheFile) {
  ShardFolder f;
  const std::string a = f.folder.file("a.tsv", "id\ttext\n1\tGood morning.\n2\tThank you.\n3\tHe sleeps.\n");
  for (const char* which : {"0/3", "1/3", "2/3"}) EXPECT_EQ(f.shard(which, {"--column", "text", a}).code, 0);
  EXPECT_EQ(f.join("joined.tsv").code, 0);
  EXPECT_EQ(f.content("joined.tsv"), run_with({"translate", "-q", "--column", "text", a}).out);
  ShardFolder json;
  const std::string lines = json.folder.file("a.txt", some_lines(8));
  for (const char* which : {"0/2", "1/2"}) EXPECT_EQ(json.shard(which, {"--json", lines}).code, 0);
  EXPECT_EQ(json.join("joined.jsonl").code, 0);
  const auto made = lines_of(json.content("joined.jsonl"));
  ASSERT_EQ(made.size(), 8u);
  for (size_t i = 0; i < made.size(); ++i) EXPECT_EQ(nlohmann::json::parse(made[i])["line"], i + 1);
}

TEST(CliDeviceShards, RejectedRowsAreTold) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", some_lines(5) + "\nbad \xff\n" + some_lines(3) + "\nworse \xfe\n");
  EXPECT_EQ(f.shard("0/1", {a}).code, 1);
  const auto rejected = lines_of(read_file(f.out + "part-0-of-1.rejected.jsonl"));
  ASSERT_EQ(rejected.size(), 2u);
  EXPECT_EQ(nlohmann::json::parse(rejected[0])["row"], 6);
  EXPECT_EQ(nlohmann::json::parse(rejected[1])["row"], 10);
  EXPECT_TRUE(contains(rejected[0], "UTF-8")) << rejected[0];
  EXPECT_EQ(read_json(f.out + "part-0-of-1.json")["rejected"], 2);
  EXPECT_EQ(f.shard("0/1", {a}).code, 1);
  EXPECT_EQ(f.shard("0/1", {"--max-rejected", "2", a}).code, 0);
  EXPECT_EQ(f.join("joined.txt").code, 1);
  EXPECT_EQ(lines_of(f.content("joined.txt")).size(), 10u);
  EXPECT_EQ(lines_of(f.content("joined.txt.rejected.jsonl")), rejected);
  EXPECT_EQ(f.join("again.txt", {"--max-rejected", "2"}).code, 0);
}

TEST(CliDeviceShards, TooManyRejectedRowsStopAShard) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", "bad \xff\nbad \xff\nGood morning.\nThank you.\n");
  const Arguments strict = {"--batch", "1", "--max-rejected", "1", a};
  expect_refused(f.shard("0/1", strict), 1, "more than --max-rejected allows");
  EXPECT_FALSE(fs::exists(f.out + "part-0-of-1.txt"));
  EXPECT_TRUE(fs::exists(f.out + "part-0-of-1.txt.part"));
  // A requeue does not finish it.
  expect_refused(f.shard("0/1", strict), 1, "more than --max-rejected allows");
  EXPECT_FALSE(fs::exists(f.out + "part-0-of-1.txt"));
  expect_refused(f.join("joined.txt"), 3, "run again of 1 shards: 0");
  EXPECT_EQ(f.shard("0/1", {"--batch", "1", "--max-rejected", "2", a}).code, 0);
  EXPECT_EQ(lines_of(read_file(f.out + "part-0-of-1.rejected.jsonl")).size(), 2u);
  EXPECT_EQ(f.join("joined.txt", {"--max-rejected", "2"}).code, 0);
  EXPECT_EQ(lines_of(f.content("joined.txt")).size(), 4u);
}

// Its windows are larger then, and the place where the first run ended is inside one of them.
TEST(CliDeviceShards, GoOnWithAnotherNumberOfDevices) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", some_lines(5) + "\nbad \xff\n" + some_lines(20) + "\n");
  const Arguments one = {"--batch", "1", "--device", "0", "--max-rejected", "0", a};
  EXPECT_EQ(f.shard("0/1", one).code, 1);
  EXPECT_EQ(lines_of(read_file(f.out + "part-0-of-1.txt.part")).size(), 6u);
  const Outcome two = f.shard("0/1", {"--batch", "1", "--device", "0,0", "--max-rejected", "1", a});
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(read_file(f.out + "part-0-of-1.txt"), run_with({"translate", "-q", a}).out);
  EXPECT_EQ(f.join("joined.txt", {"--max-rejected", "1"}).code, 0);
}

// Nothing is loaded for them.
TEST(CliDeviceShards, FinishedOnesAreSkipped) {
  const std::string sentiment = sentence_model("distilbert__distilbert-base-uncased-finetuned-sst-2-english");
  for (const Arguments& verb : {Arguments{"translate"}, Arguments{"embed", "--model", sentence_model("bert-several")},
                                Arguments{"classify", "--model", sentiment}}) {
    TemporaryFolder folder;
    Arguments command = verb;
    command.insert(command.end(), {"--shard", "0/1", "-o", (folder.path() / "out/").string(),
                                   folder.file("a.txt", "The model works.\nGood.\n")});
    const Outcome made = run_with(command);
    EXPECT_EQ(made.code, 0) << verb[0] << ": " << made.err;
    expect_refused(without_driver(command), 0, "shard 0 of 1 is finished already");
  }
}

// Every row ends with a line end, the last one of a file too.
TEST(CliDeviceShards, RowsEndWithoutALastLineEnd) {
  ShardFolder f;
  const std::string a = f.folder.file("a.jsonl", "{\"text\":\"Hello.\"}\r\n{\"text\":\"No.\"}"),
                    b = f.folder.file("b.jsonl", "{\"text\":\"Good morning.\"}\n\n{\"text\":\"Thank you.\"}");
  for (const char* which : {"0/2", "1/2"}) EXPECT_EQ(f.shard(which, {a, b}).code, 0);
  EXPECT_EQ(f.join("joined.jsonl").code, 0);
  const auto rows = lines_of(f.content("joined.jsonl"));
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_TRUE(f.content("joined.jsonl").ends_with("}\n"));
  for (const size_t i : {0, 1, 2, 4}) EXPECT_TRUE(nlohmann::json::parse(rows[i]).contains("translation")) << rows[i];
  ShardFolder tabs;
  const std::string table = tabs.folder.file("a.tsv", "id\ttext\r\n1\tGood morning.\r\n2\tThank you.");
  for (const char* which : {"0/3", "1/3", "2/3"}) EXPECT_EQ(tabs.shard(which, {"--column", "text", table}).code, 0);
  EXPECT_EQ(tabs.join("joined.tsv").code, 0);
  EXPECT_EQ(tabs.content("joined.tsv"), "id\ttext\r\n1\tBonjour.\r\n2\tMerci.\n");
}

// A header and blank lines have none.
TEST(CliDeviceShards, VectorsOfRecords) {
  const std::string model = sentence_model("bert-several");
  for (const char* format : {"npy", "f32"}) {
    ShardFolder f;
    const std::string table = f.folder.file("a.tsv", "id\ttext\n1\tThe model works.\n\n2\tGood.\n3\tSo it is.\n");
    const Arguments how = {"--column", "text", "--vectors", format, table};
    for (const char* which : {"0/2", "1/2"}) {
      Arguments all = {"embed", "--quiet", "--model", model, "--shard", which, "-o", f.out};
      all.insert(all.end(), how.begin(), how.end());
      const Outcome made = run_with(all);
      EXPECT_EQ(made.code, 0) << made.err;
    }
    const Outcome joined = f.join("joined");
    EXPECT_EQ(joined.code, 0) << joined.err;
    Arguments single = {"embed", "--quiet", "--model", model, "-o", (f.folder.path() / "single").string()};
    single.insert(single.end(), how.begin(), how.end());
    EXPECT_EQ(run_with(single).code, 0);
    EXPECT_EQ(f.content("joined"), f.content("single")) << format;
  }
}

TEST(CliDeviceShards, OfOtherContentAreRefused) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", "Hello.\nYes.\nNo.\n");
  EXPECT_EQ(f.shard("0/2", {a}).code, 0);
  f.folder.file("a.txt", "Good..\nYes.\nNo.\n");
  expect_refused(f.shard("0/2", {a}, kNoDriver), 2, "--force makes it anew");
  EXPECT_EQ(f.shard("1/2", {a}).code, 0);
  expect_refused(f.join("joined.txt"), 3, "it was made with another list of inputs, or content of one");
  EXPECT_EQ(f.shard("0/2", {"--force", a}).code, 0);
  EXPECT_EQ(f.join("joined.txt").code, 0);
}

TEST(CliDeviceShards, JoinSparesTheShards) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", "Good morning.\nbad \xff\n");
  EXPECT_EQ(f.shard("0/1", {a}).code, 1);
  const std::string before = read_file(f.out + "part-0-of-1.txt");
  for (const char* name : {"part-0-of-1.txt", "part-0-of-1.json", "part-0-of-1"})
    expect_refused(f.join("out/" + std::string(name), {"--force"}), 2, "is an input; it cannot be the output");
  EXPECT_EQ(read_file(f.out + "part-0-of-1.txt"), before);
  expect_refused(run_with({"join", f.out, "-o", "-"}), 2, "the output is a file");
  f.folder.file("joined.txt.rejected.jsonl", "old\n");
  expect_refused(f.join("joined.txt"), 2, "is there already");
  EXPECT_FALSE(fs::exists(f.folder.path() / "joined.txt"));
  // The same command makes lost files of a finished shard again.
  fs::remove(f.out + "part-0-of-1.rejected.jsonl");
  expect_refused(f.join("joined.txt", {"--force"}), 3, "part-0-of-1.rejected.jsonl is missing");
  EXPECT_EQ(f.shard("0/1", {a}).code, 1);
  EXPECT_EQ(f.join("joined.txt", {"--force"}).code, 1);
  EXPECT_EQ(lines_of(f.content("joined.txt.rejected.jsonl")).size(), 1u);
}

// As after a power cut, which may leave an output without a record.
TEST(CliDeviceShards, AnOutputWithoutARecordIsMadeAnew) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", "Good morning.\n");
  fs::create_directories(f.out);
  f.folder.file("out/part-0-of-1.txt", "half a");
  EXPECT_EQ(f.shard("0/1", {a}).code, 0);
  EXPECT_EQ(read_file(f.out + "part-0-of-1.txt"), "Bonjour.\n");
}

// The disk is full, and later it is not; nothing is lost or doubled.
TEST(CliDeviceShards, GoOnWhereTheyEnded) {
  ShardFolder f;
  const std::string big = f.folder.file("big.txt", std::string(1 << 18, '\n') + "bad \xff\n");
  Spawn limited = lapilli({"translate", "-q", "--shard", "1/2", "-o", f.out, big});
  const std::string shell[] = {"/bin/sh", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"};
  limited.arguments.insert(limited.arguments.begin(), std::begin(shell), std::end(shell));
  const Outcome full = run(limited);
  EXPECT_EQ(full.code, 6) << full.err;
  EXPECT_FALSE(fs::exists(f.out + "part-1-of-2.json"));
  EXPECT_GT(fs::file_size(f.out + "part-1-of-2.txt.part"), 0u);
  EXPECT_EQ(f.shard("1/2", {big}).code, 1);
  EXPECT_EQ(f.shard("0/2", {big}).code, 0);
  EXPECT_EQ(f.join("joined.txt").code, 1);
  EXPECT_EQ(f.content("joined.txt"), std::string((1 << 18) + 1, '\n'));
  EXPECT_EQ(lines_of(f.content("joined.txt.rejected.jsonl")).size(), 1u);
}

TEST(CliDeviceShards, PackedInputs) {
  ShardFolder f;
  const std::string a = f.folder.file("a.txt", some_lines(12));
  const Outcome plain = run_with({"translate", "-q", a});
  for (const auto& [tool, ending] : {std::pair("gzip", ".gz"), std::pair("zstd -q", ".zst")}) {
    const std::string command = std::string("exec ") + tool + " -k -c '" + a + "' > '" + a + ending + "'";
    if (std::system(command.c_str()) != 0) continue;  // the tool is not there
    const Outcome packed = run_with({"translate", "-q", a + ending});
    if (contains(packed.err, "was built without")) continue;
    EXPECT_EQ(packed.out, plain.out) << packed.err;
    const std::string out = (f.folder.path() / ("out" + std::string(ending))).string() + "/";
    std::string joined;
    for (const char* which : {"0/2", "1/2"}) {
      const Outcome made = run_with({"translate", "-q", "--shard", which, "-o", out, a + ending});
      EXPECT_EQ(made.code, 0) << made.err;
      joined += read_file(out + "part-" + which[0] + "-of-2.txt");
    }
    EXPECT_EQ(joined, plain.out);
    EXPECT_EQ(run_with({"translate", "-q", "--suffix", ".fr", a + ending, "--format", "lines", "--force"}).code, 0);
    EXPECT_EQ(f.content("a.fr.txt"), plain.out);
  }
}

// Documents are divided by files, each of which has an output of its own.
TEST(CliDeviceShards, OfWholeFiles) {
  ShardFolder f;
  const std::string a = f.folder.file("a.md", "# Good morning.\n" + std::string(20, '\n')),
                    b = f.folder.file("b.md", "Thank you.\n\nbad \xff\n"), c = f.folder.file("c.txt", "He sleeps.\n");
  expect_refused(f.shard("0/2", {a, b, c}, kNoDriver), 2, "--suffix makes shards of whole files");
  EXPECT_EQ(f.shard("0/2", {"--suffix", ".fr", a, b, c}).code, 0);
  expect_refused(run_with({"join", f.out}), 3, "run again of 2 shards: 1");
  EXPECT_EQ(f.shard("1/2", {"--suffix", ".fr", a, b, c}).code, 1);
  EXPECT_TRUE(read_file(f.out + "a.fr.md").starts_with("# Bonjour.\n"));
  EXPECT_EQ(run_with({"join", f.out}).code, 1);
  expect_refused(f.join("all.txt"), 2, "an output for each input");
  fs::remove(f.out + "c.fr.txt");
  expect_refused(run_with({"join", f.out}), 3, "c.fr.txt is missing");
}

// Names come while the program runs; each file is done before the next name comes.
TEST(CliDeviceShards, FilesFromAListThatGrows) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.txt", "Good morning.\n"), b = folder.file("b.txt", "Thank you.\n");
  Process program(lapilli({"translate", "-q", "--files-from", "-"}));
  program.write(a + "\n");
  EXPECT_TRUE(program.wait_for_lines(1)) << program.err();
  program.write((folder.path() / "missing.txt").string() + "\n\n" + b + "\n");
  EXPECT_TRUE(program.wait_for_lines(2)) << program.err();
  const Outcome outcome = program.finish();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "missing.txt: No such file")) << outcome.err;
  EXPECT_EQ(outcome.out, "Bonjour.\nMerci.\n");
  const std::string list = folder.file("list", b + "\r\n" + a + "\n");
  EXPECT_EQ(run_with({"translate", "-q", "--files-from", list}).out, "Merci.\nBonjour.\n");
  const std::string to = (folder.path() / "french/").string();
  EXPECT_EQ(run_with({"translate", "-q", "--files-from", "-", "-o", to}, {}, a + "\n" + b + "\n").code, 0);
  EXPECT_EQ(read_file(to + "b.txt"), "Merci.\n");
  // Shards are parts of all of it.
  ShardFolder f;
  EXPECT_EQ(run_with({"translate", "-q", "--shard", "1/2", "--suffix", ".fr", "-o", f.out, "--files-from", "-"}, {},
                     a + "\n" + b + "\n")
                .code,
            0);
  EXPECT_EQ(f.left(), (std::vector<std::string>{"b.fr.txt", "part-1-of-2.json", "shards.json"}));
}

}  // namespace
}  // namespace lapilli::test
