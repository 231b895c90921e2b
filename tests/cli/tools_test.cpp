// plan and bench: pictures, JSON and figures of a small shape.
#include <algorithm>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

using nlohmann::json;

json parsed(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json value = json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(value.is_discarded()) << outcome.out.substr(0, 300);
  return value;
}

Spawn plan(std::vector<std::string> arguments) {
  std::vector<std::string> all = {"plan", "--shape", "tiny,layers=1"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  Spawn spawn = lapilli(all);
  spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
  return spawn;
}

TEST(CliPlan, EachGraphAsJson) {
  std::vector<std::string> labels;
  for (const char* graph : {"encode", "admit", "step", "given"}) {
    const json p = parsed(run(plan({"--graph", graph, "--json"})));
    ASSERT_TRUE(p.is_object()) << graph;
    EXPECT_TRUE(contains(p["title"], graph)) << p["title"];
    ASSERT_FALSE(p["nodes"].empty()) << graph;
    EXPECT_EQ(p["nodes"].size(), p["summary"]["nodes"]);
    EXPECT_EQ(p["commands"].size(), p["summary"]["commands"]);
    EXPECT_EQ(p["levels"].size(), p["summary"]["levels"]);
    labels.push_back(p["nodes"].dump());
  }
  EXPECT_TRUE(contains(labels[0], "encoder.0") && !contains(labels[0], "decoder.0.self")) << labels[0];
  EXPECT_TRUE(contains(labels[2], "decoder.0") && !contains(labels[2], "encoder.0.self")) << labels[2];
}

TEST(CliPlan, EachGraphAsAPicture) {
  for (const char* graph : {"encode", "admit", "step", "given"}) {
    const Outcome picture = run(plan({"--graph", graph, "--dot"}));
    EXPECT_EQ(picture.code, 0) << picture.err;
    EXPECT_EQ(picture.out.rfind("digraph ", 0), 0u) << picture.out.substr(0, 100);
    EXPECT_EQ(std::count(picture.out.begin(), picture.out.end(), '{'),
              std::count(picture.out.begin(), picture.out.end(), '}'));
    EXPECT_TRUE(contains(picture.out, "->") || std::string(graph) == "admit");
    EXPECT_EQ(run(plan({"--graph", graph})).out, picture.out) << "the default";
  }
}

TEST(CliPlan, SizesCount) {
  const json small = parsed(run(plan({"--json"}))),
             large = parsed(run(plan({"--json", "--batch", "8", "--beam", "5"})));
  EXPECT_GT(large["summary"]["arena_bytes"], small["summary"]["arena_bytes"]);
  EXPECT_TRUE(contains(large["title"], "batch 8, beams 5")) << large["title"];
}

TEST(CliPlan, NumbersAreDecimal) {
  const json p = parsed(run(plan({"--json", "--beam", "010"})));
  EXPECT_TRUE(contains(p["title"], "beams 10")) << p["title"] << ": ten, and not eight";
}

TEST(CliPlan, WhatIsWrong) {
  const Outcome graph = run(plan({"--graph", "middle"}));
  EXPECT_EQ(graph.code, 2);
  const Outcome both = run(plan({"--dot", "--json"}));
  EXPECT_EQ(both.code, 2);
  const Outcome shape = run(lapilli({"plan", "--shape", "nonsense"}));
  EXPECT_EQ(shape.code, 2);
  EXPECT_TRUE(contains(shape.err, "transformer-base")) << shape.err;  // the names there are
  for (const Outcome* o : {&graph, &both, &shape}) EXPECT_EQ(o->out, "");
}

TEST(CliDevicePlan, OfTheDevice) {
  const json p = parsed(run(lapilli({"plan", "--shape", "tiny", "--json"})));
  const json least = parsed(run(lapilli({"plan", "--shape", "tiny", "--json", "--caps", "floor"})));
  EXPECT_EQ(p["summary"]["nodes"], least["summary"]["nodes"]);
  EXPECT_NE(p["nodes"], least["nodes"]);  // other variants
}

TEST(CliDeviceBench, AnEncoderOfPicturesAlone) {
  const char* shape = "vit-base,d=64,heads=4,ffn=96,encoder=2,picture=48";
  const json b = parsed(run(lapilli({"bench", "--shape", shape, "--batch", "1,3", "--runs", "1", "--json"})));
  ASSERT_EQ(b["rows"].size(), 2u) << b;
  for (const json& row : b["rows"])
    for (const char* name : {"encode_ms", "first_ms", "device_bytes"}) EXPECT_GT(row[name], 0) << name;
  EXPECT_GT(b["rows"][1]["device_bytes"], b["rows"][0]["device_bytes"]);
  const Outcome text = run(lapilli({"bench", "--shape", shape, "--batch", "1", "--runs", "1"}));
  EXPECT_TRUE(contains(text.out, "an encoder alone")) << text.out << text.err;
}

// Sources are as many rows as the model wants, then ids as for all.
TEST(CliDeviceBench, PicturesToWords) {
  const std::string model = LAPILLI_SOURCE_DIR "/tests/data/models/donut/model";
  const json b =
      parsed(run(lapilli({"bench", model, "--batch", "2", "--beam", "1", "--runs", "1", "--target", "8", "--json"})));
  ASSERT_EQ(b["rows"].size(), 1u) << b;
  for (const char* name : {"encode_ms", "step_ms"}) EXPECT_GT(b["rows"][0][name], 0) << name;
}

TEST(CliDeviceBench, OneRunOfASmallShape) {
  const std::vector<std::string> common = {"bench", "--shape", "tiny", "--batch",  "1", "--beam",
                                           "1",     "--runs",  "1",    "--target", "8"};
  const auto with = [&](const char* flag) {
    std::vector<std::string> all = common;
    if (*flag) all.emplace_back(flag);
    return run(lapilli(all));
  };
  const json b = parsed(with("--json"));
  ASSERT_EQ(b["rows"].size(), 1u) << b;
  const json& row = b["rows"][0];
  EXPECT_EQ(row["batch"], 1);
  EXPECT_EQ(row["beams"], 1);
  EXPECT_EQ(b["target_ids"], 8);
  for (const char* name : {"encode_ms", "step_ms", "total_ms", "first_ms"}) EXPECT_GT(row[name], 0) << name;
  EXPECT_GE(row["cpu_ms"], 0);
  EXPECT_GT(row["dispatches_per_step"], 0);
  EXPECT_GT(b["pipelines"], 0);
  EXPECT_FALSE(b["device"].get<std::string>().empty());
  const Outcome table = with("");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(contains(table.out, "dispatches")) << table.out;
  const Outcome tsv = with("--tsv");
  EXPECT_EQ(tsv.code, 0) << tsv.err;
  EXPECT_EQ(lines_of(tsv.out).size(), 1u) << tsv.out;
}

// The plan that `lapilli plan` prints for the same search: label and shader of each dispatch, in program order.
std::vector<std::string> planned(const char* graph) {
  const json p =
      parsed(run(lapilli({"plan", "--shape", "tiny", "--graph", graph, "--batch", "2", "--beam", "2", "--json"})));
  std::vector<std::string> dispatches;
  for (const json& c : p["commands"])
    dispatches.push_back(p["nodes"][c["node"].get<size_t>()]["label"].get<std::string>() + " " +
                         c["name"].get<std::string>());
  return dispatches;
}

class CliDeviceBenchPerOp : public testing::Test {
 protected:
  static Outcome bench(std::vector<std::string> more) {
    std::vector<std::string> all = {"bench", "--shape", "tiny", "--per-op", "--batch", "2",        "--beam",
                                    "2",     "--runs",  "2",    "--source", "32",      "--target", "8"};
    all.insert(all.end(), more.begin(), more.end());
    return run(lapilli(all));
  }
  // Every dispatch of the plan has its figures, and the sums are theirs.
  static void check(const json& plan) {
    const auto want = planned(plan["plan"].get<std::string>().c_str());
    std::vector<std::string> got;
    double us = 0;
    for (const json& d : plan["dispatches"]) {
      got.push_back(d["label"].get<std::string>() + " " + d["shader"].get<std::string>());
      for (const char* name : {"us", "bytes", "operations", "groups", "gb_per_s", "gop_per_s", "percent_of_limit"})
        EXPECT_GT(d[name], 0) << name << " of " << d;
      us += d["us"].get<double>();
    }
    EXPECT_EQ(got, want);
    double by_op = 0;
    size_t counted = 0;
    for (const json& o : plan["ops"]) {
      by_op += o["us"].get<double>();
      counted += o["dispatches"].get<size_t>();
    }
    EXPECT_EQ(counted, want.size());
    EXPECT_NEAR(by_op, us, 1e-6 * us);
    EXPECT_NEAR(plan["us"].get<double>(), us, 1e-6 * us);
  }
};

TEST_F(CliDeviceBenchPerOp, EveryDispatchOfBothPlans) {
  const json b = parsed(bench({"--json"}));
  ASSERT_EQ(b["profiles"].size(), 1u) << b;
  const json& plans = b["profiles"][0]["plans"];
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0]["plan"], "encode");
  EXPECT_EQ(plans[0]["rows"], 2 * 32);
  EXPECT_EQ(plans[1]["plan"], "step");
  EXPECT_EQ(plans[1]["rows"], 2 * 2);
  for (const json& plan : plans) check(plan);
  EXPECT_GT(b["limits"]["bytes"]["bytes_per_s"], 0);
  EXPECT_GT(b["limits"]["operations"]["operations_per_s"], 0);
  EXPECT_GT(b["least_us"], 0);
}

// Rows of the encoder: positions of sound, places of the last map.
TEST_F(CliDeviceBenchPerOp, ModelsOfSoundAndPictures) {
  const struct {
    const char* name;
    unsigned rows;
  } models[] = {{"whisper", 64}, {"donut", 35}};
  for (const auto& m : models) {
    const Outcome out =
        run(lapilli({"bench", LAPILLI_SOURCE_DIR "/tests/data/models/" + std::string(m.name) + "/model", "--per-op",
                     "--json", "--batch", "2", "--beam", "1", "--runs", "1", "--target", "4"}));
    const json b = parsed(out);
    const json& plans = b["profiles"][0]["plans"];
    ASSERT_EQ(plans.size(), 2u) << m.name;
    EXPECT_EQ(plans[0]["rows"], 2 * m.rows) << m.name;
    for (const json& d : plans[0]["dispatches"]) EXPECT_GT(d["us"], 0) << m.name << d;
  }
  const Outcome alone = run(lapilli({"bench", LAPILLI_SOURCE_DIR "/tests/data/models/vit/model", "--per-op"}));
  EXPECT_EQ(alone.code, 3);
  EXPECT_TRUE(contains(alone.err, "an encoder alone")) << alone.err;
}

TEST_F(CliDeviceBenchPerOp, ALineForEach) {
  const Outcome table = bench({});
  ASSERT_EQ(table.code, 0) << table.err;
  for (const char* graph : {"encode", "step"}) {
    auto labels = planned(graph);
    for (std::string& l : labels) l = l.substr(0, l.find(' ')) + " ";
    size_t next = 0;  // the labels in order, other lines between them
    for (const std::string& line : lines_of(table.out))
      if (next < labels.size() && line.rfind(labels[next], 0) == 0) ++next;
    EXPECT_EQ(next, labels.size()) << table.out;
  }
}

TEST_F(CliDeviceBenchPerOp, WithoutTimestampsTheHostsClockAndSaysSo) {
  const json b = parsed(bench({"--json", "--caps", "floor"}));
  EXPECT_TRUE(contains(b["timed_by"], "host")) << b["timed_by"];
  for (const json& plan : b["profiles"][0]["plans"]) {
    ASSERT_FALSE(plan["dispatches"].empty());
    for (const json& d : plan["dispatches"]) EXPECT_GT(d["us"], 0) << d;
  }
}

TEST(CliBench, PerOpHasNoUseForOptionsOfWholeJobs) {
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--tsv"}, {"--steps-in-flight", "2"}}) {
    std::vector<std::string> all = {"bench", "--shape", "tiny", "--per-op"};
    all.insert(all.end(), other.begin(), other.end());
    EXPECT_EQ(run(lapilli(all)).code, 2) << other.front();
  }
}

}  // namespace
}  // namespace lapilli::test
