#include "graph/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lapilli::graph {
namespace {

using testing::HasSubstr;

Node node(std::string label, std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  Node n;
  n.label = std::move(label);
  n.inputs = std::move(inputs);
  n.outputs = std::move(outputs);
  return n;
}

Tensor state(std::string name, uint32_t id) {
  Tensor t;
  t.name = std::move(name);
  t.rows = 2;
  t.cols = t.ld = 8;
  t.space = Space::state;
  t.id = id;
  return t;
}

// The message must hold all of these.
void expect_refused(const Graph& g, std::initializer_list<const char*> words) {
  const Status s = g.validate();
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().code, ErrorCode::invalid_argument);
  for (const char* w : words) EXPECT_THAT(s.error().message, HasSubstr(w));
}

TEST(GraphRows, LiveRowsStayLive) {
  Graph g;
  const TensorId all = g.activation("all", 3, 5), live = g.activation("live", 3, 5);
  EXPECT_FALSE(g.tensor(all).live_rows);
  g.tensor(live).live_rows = true;
  const TensorId wide = g.rows_like("wide", live, 9, DType::u32);
  EXPECT_TRUE(g.tensor(wide).live_rows);
  EXPECT_EQ(g.tensor(wide).rows, 3u);
  EXPECT_EQ(g.tensor(wide).cols, 9u);
  EXPECT_EQ(g.tensor(wide).ld, 12u);
  EXPECT_EQ(g.tensor(wide).dtype, DType::u32);
  EXPECT_TRUE(g.tensor(g.updated("sum", wide)).live_rows);
  EXPECT_FALSE(g.tensor(g.rows_like("all too", all, 9)).live_rows);
}

TEST(GraphValidate, AcceptsAChainWithInPlaceUpdateAndAbsentOperand) {
  Graph g;
  const TensorId kv = g.add_tensor(state("kv", 3));
  const TensorId x = g.activation("x", 3, 5);
  const TensorId y = g.activation("y", 3, 5);
  const TensorId y2 = g.updated("y2", y);
  g.tensor(y2).keep = true;
  g.add_node(node("load", {kv, kNone}, {x}));
  g.add_node(node("copy", {x}, {y}));
  g.add_node(node("add", {x, y}, {y2, kv}));
  EXPECT_TRUE(g.validate().ok()) << g.validate().error().message;
  EXPECT_TRUE(Graph().validate().ok());
}

TEST(GraphValidate, ViewsReadTheValueOfWhatTheyView) {
  Graph g;
  const TensorId x = g.activation("x", 4, 8);
  const TensorId view = g.updated("view", x);
  const TensorId out = g.activation("out", 1, 1);
  g.tensor(view).rows = 8;
  g.tensor(view).cols = g.tensor(view).ld = 4;
  g.add_node(node("make", {}, {x}));
  g.add_node(node("use", {view}, {out}));
  EXPECT_TRUE(g.validate().ok()) << g.validate().error().message;
  const TensorId over = g.updated("over", x);
  g.add_node(node("change", {x}, {over}));
  g.add_node(node("late", {view}, {out}));
  expect_refused(g, {"late", "view", "after", "over"});
}

TEST(GraphValidate, RefusesIdsOutOfRange) {
  Graph g;
  g.add_node(node("bad", {7}, {}));
  expect_refused(g, {"bad", "tensor 7", "0 tensors"});
}

TEST(GraphValidate, RefusesReadBeforeWrite) {
  Graph g;
  const TensorId x = g.activation("x", 1, 4), y = g.activation("y", 1, 4);
  g.add_node(node("early", {x}, {y}));
  g.add_node(node("make", {}, {x}));
  expect_refused(g, {"early", "\"x\"", "before any node"});
}

TEST(GraphValidate, RefusesReadOfAnUpdateBeforeIt) {
  Graph g;
  const TensorId x = g.activation("x", 1, 4), y = g.activation("y", 1, 4), x2 = g.updated("x2", x);
  g.add_node(node("make", {}, {x}));
  g.add_node(node("early", {x2}, {y}));
  g.add_node(node("update", {x}, {x2}));
  expect_refused(g, {"early", "\"x2\"", "before any node"});
}

TEST(GraphValidate, RefusesReadOfAnOverwrittenValue) {
  for (const bool persistent : {false, true}) {
    Graph g;
    const TensorId x = persistent ? g.add_tensor(state("x", 1)) : g.activation("x", 2, 8);
    const TensorId y = g.activation("y", 1, 4), x2 = g.updated("x2", x);
    if (!persistent) g.add_node(node("make", {}, {x}));
    g.add_node(node("update", {x}, {x2}));
    g.add_node(node("late", {x}, {y}));
    expect_refused(g, {"late", "\"x\"", "after", "\"x2\""});
  }
}

TEST(GraphValidate, RefusesAKeptValueThatIsOverwrittenOrNeverWritten) {
  Graph g;
  const TensorId x = g.activation("x", 1, 4), x2 = g.updated("x2", x);
  g.tensor(x).keep = true;
  expect_refused(g, {"end of the plan", "\"x\"", "before any node"});
  g.add_node(node("make", {}, {x}));
  EXPECT_TRUE(g.validate().ok());
  g.add_node(node("update", {x}, {x2}));
  expect_refused(g, {"end of the plan", "\"x\"", "\"x2\""});
}

TEST(GraphValidate, RefusesBadAliases) {
  {
    Graph g;
    Tensor t = state("self", 1);
    t.alias = 0;
    g.add_tensor(t);
    expect_refused(g, {"self", "does not come before"});
  }
  {
    Graph g;
    const TensorId x = g.activation("x", 1, 4), y = g.updated("y", x);
    g.tensor(y).rows = 2;
    expect_refused(g, {"\"y\"", "32 bytes", "\"x\"", "16"});
  }
  {
    Graph g;
    const TensorId x = g.add_tensor(state("x", 1)), y = g.updated("y", x);
    g.tensor(y).id = 2;
    expect_refused(g, {"\"y\"", "\"x\"", "other memory"});
  }
}

TEST(GraphValidate, RefusesTwoOutputsOfOneNodeOnTheSameBytes) {
  Graph g;
  const TensorId x = g.activation("x", 1, 4), y = g.updated("y", x);
  g.add_node(node("twice", {}, {x, y}));
  expect_refused(g, {"twice", "\"x\"", "\"y\""});
}

TEST(GraphValidate, RefusesSizesThatOverflowOrMakeNoSense) {
  Graph g;
  const TensorId x = g.activation("x", 1, 4);
  g.tensor(x).rows = uint64_t{1} << 61;
  expect_refused(g, {"\"x\"", "overflows"});
  g.tensor(x).rows = 0;
  expect_refused(g, {"\"x\"", "0 rows"});
  g.tensor(x).rows = 1;
  g.tensor(x).ld = 3;
  expect_refused(g, {"\"x\"", "3 apart"});
}

}  // namespace
}  // namespace lapilli::graph
