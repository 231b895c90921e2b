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
  for (const char* graph : {"encode", "init", "step"}) {
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
  for (const char* graph : {"encode", "init", "step"}) {
    const Outcome picture = run(plan({"--graph", graph, "--dot"}));
    EXPECT_EQ(picture.code, 0) << picture.err;
    EXPECT_EQ(picture.out.rfind("digraph ", 0), 0u) << picture.out.substr(0, 100);
    EXPECT_EQ(std::count(picture.out.begin(), picture.out.end(), '{'),
              std::count(picture.out.begin(), picture.out.end(), '}'));
    EXPECT_TRUE(contains(picture.out, "->") || std::string(graph) == "init");
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

}  // namespace
}  // namespace lapilli::test
