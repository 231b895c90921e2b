#include "graph/print.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "graph/random_plan.hpp"

namespace lapilli::graph {
namespace {

using namespace testing_aid;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Whole {
  Graph graph;
  Placement placement;
  std::vector<Command> commands;
  Schedule schedule;

  [[nodiscard]] PlanPicture picture() const { return {graph, placement, commands, schedule, "a plan", {}, {}}; }
};

Whole make(Graph graph, uint64_t seed, double segment_cost) {
  Whole w;
  w.graph = std::move(graph);
  w.placement = place(w.graph, {}).value();
  w.commands = lower(w.graph, w.placement, seed);
  ScheduleOptions options;
  options.segment_cost = segment_cost;
  w.schedule = schedule(w.commands, options);
  return w;
}

Graph chain() {
  Graph g;
  const TensorId a = g.activation("a", 3, 5), b = g.activation("b \"quoted\\", 7, 9), c = g.updated("c", b);
  for (auto [label, in, out] : {std::tuple{"make", kNone, a}, {"use\n", a, b}, {"change", b, c}}) {
    Node n;
    n.label = label;
    n.inputs = {in};
    n.outputs = {out};
    g.add_node(n);
  }
  return g;
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Print, DotHasNodesLevelsSegmentsAndFlow) {
  const Whole w = make(chain(), 1, 1e-3);
  PlanPicture p = w.picture();
  p.op_name = [](NodeId n) { return n == 0 ? std::string("embed") : std::string("add"); };
  const std::string dot = to_dot(p);
  EXPECT_THAT(dot, HasSubstr("n0 [label=\"embed\\nmake\\n3 x 5"));
  EXPECT_THAT(dot, HasSubstr("n1 [label=\"add\\nuse \\n7 x 9"));
  EXPECT_THAT(dot, HasSubstr("n0 -> n1 [tooltip=\"a\""));
  EXPECT_THAT(dot, HasSubstr("n1 -> n2 [tooltip=\"b \\\"quoted\\\\\""));
  EXPECT_THAT(dot, Not(HasSubstr("n0 -> n2")));
  EXPECT_EQ(count(dot, "subgraph cluster_"), w.schedule.segments.size());
  EXPECT_EQ(count(dot, "rank=same"), w.schedule.levels.size());
  EXPECT_EQ(count(dot, "style=invis"), w.schedule.levels.size() - 1);
}

TEST(Print, DotOfRandomPlansIsBalancedAndNamesEveryNodeOnce) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Whole w = make(random_graph(random), seed, static_cast<double>(random.in(1, 400)));
    std::string dot = to_dot(w.picture());
    dot = std::regex_replace(dot, std::regex("\"[^\"]*\""), "");
    EXPECT_EQ(count(dot, "{"), count(dot, "}"));
    EXPECT_EQ(count(dot, "\""), 0u);
    for (NodeId n = 0; n < w.graph.nodes().size(); ++n)
      EXPECT_EQ(count(dot, format(" n%u [label=", n)), 1u) << "seed " << seed;
  }
}

TEST(Print, JsonSaysWhereEverythingLies) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const Whole w = make(random_graph(random), seed, static_cast<double>(random.in(1, 400)));
    PlanPicture p = w.picture();
    p.op_name = [](NodeId n) { return format("op%u", n); };
    p.command_name = [](uint32_t c) { return format("kernel%u", c); };
    const json j = json::parse(to_json(p));
    EXPECT_EQ(j["arena"]["bytes"], w.placement.arena_bytes);
    for (const json& block : j["arena"]["map"]) {
      const TensorId id = block["tensor"];
      EXPECT_EQ(block["begin"], w.placement.offset[id]);
      EXPECT_EQ(block["end"], w.placement.offset[id] + w.graph.tensor(id).bytes());
    }
    ASSERT_EQ(j["tensors"].size(), w.graph.tensors().size());
    ASSERT_EQ(j["nodes"].size(), w.graph.nodes().size());
    ASSERT_EQ(j["commands"].size(), w.commands.size());
    ASSERT_EQ(j["levels"].size(), w.schedule.levels.size());
    ASSERT_EQ(j["segments"].size(), w.schedule.segments.size());
    const auto level = level_of(w.schedule);
    for (size_t c = 0; c < w.commands.size(); ++c) {
      EXPECT_EQ(j["commands"][c]["level"], level[c]);
      EXPECT_EQ(j["commands"][c]["name"], format("kernel%zu", c));
      EXPECT_EQ(j["commands"][c]["node"], w.commands[c].node);
      EXPECT_EQ(j["commands"][c]["ranges"].size(), w.commands[c].ranges.size());
    }
    double levels = 0, segments = 0;
    uint64_t commands = 0, opening = 0;
    for (const json& l : j["levels"]) {
      levels += l["cost"].get<double>();
      commands += l["commands"].size();
      opening += l["barrier_before"] == "opening";
    }
    for (const json& s : j["segments"]) segments += s["cost"].get<double>();
    EXPECT_EQ(commands, w.commands.size());
    EXPECT_EQ(opening, w.schedule.segments.size());
    EXPECT_DOUBLE_EQ(levels, j["summary"]["cost"]);
    EXPECT_DOUBLE_EQ(segments, j["summary"]["cost"]);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Print, DotSaysHowFarANodeOfSeveralCommandsReaches) {
  Whole w;
  Node n;
  n.label = "sliced";
  w.graph.add_node(n);
  Command c;
  c.node = 0;
  c.ranges = {{Space::state, 1, 0, 4, Access::write, 0}};
  w.commands = {c, c, c};
  w.schedule = schedule(w.commands, {});
  EXPECT_THAT(to_dot(w.picture()), HasSubstr("n0 [label=\"sliced\\n3 commands to level 2\"]"));
}

TEST(Print, NamesThatAreNoTextDoNoHarm) {
  Graph g = chain();
  g.tensor(0).name = "\xff\xfe\"\\\n";
  const Whole w = make(std::move(g), 1, 1e9);
  const json j = json::parse(to_json(w.picture()));
  EXPECT_THAT(j["tensors"][0]["name"].get<std::string>(), HasSubstr("\"\\\n"));
  EXPECT_EQ(count(to_dot(w.picture()), "\n\""), 0u);
}

TEST(Print, NothingIsAPlanToo) {
  const Whole w;
  EXPECT_EQ(json::parse(to_json(w.picture()))["summary"]["commands"], 0);
  EXPECT_THAT(to_dot(w.picture()), HasSubstr("0 commands"));
}

TEST(Print, CommandsWithoutANodeAreShown) {
  Whole w;
  Command c;
  c.ranges = {{Space::state, 1, 0, 4, Access::write, 0}};
  w.commands = {c};
  w.schedule = schedule(w.commands, {});
  PlanPicture p = w.picture();
  p.command_name = [](uint32_t) { return std::string("fill"); };
  EXPECT_THAT(to_dot(p), HasSubstr("c0 [label=\"fill\"]"));
  EXPECT_TRUE(json::parse(to_json(p))["commands"][0]["node"].is_null());
}

}  // namespace
}  // namespace lapilli::graph
