#include "graph/graph.hpp"

namespace lapilli::graph {
namespace {

using ull = unsigned long long;

std::string tensor_name(const Graph& graph, TensorId id) {
  return format("tensor %u \"%s\"", id, graph.tensor(id).name);
}

std::string node_name(const Graph& graph, NodeId id) { return format("node %u \"%s\"", id, graph.node(id).label); }

Status check_tensor(const Graph& graph, TensorId id) {
  const Tensor& t = graph.tensor(id);
  if (t.rows == 0 || t.cols == 0 || t.ld < t.cols)
    return fail(ErrorCode::invalid_argument,
                "%s has %u rows of %u elements, %u apart: rows must hold something and fit", tensor_name(graph, id),
                ull{t.rows}, ull{t.cols}, ull{t.ld});
  uint64_t elements = 0, bytes = 0;
  if (!checked_mul(t.rows, t.ld, elements) || !checked_mul(elements, element_bytes(t.dtype), bytes))
    return fail(ErrorCode::invalid_argument, "%s: the size of %u rows of %u elements overflows", tensor_name(graph, id),
                ull{t.rows}, ull{t.ld});
  if (t.alias == kNone) return {};
  if (t.alias >= id)
    return fail(ErrorCode::invalid_argument, "%s is an alias of tensor %u, which does not come before it",
                tensor_name(graph, id), t.alias);
  const Tensor& of = graph.tensor(t.alias);
  if (of.bytes() != bytes)
    return fail(ErrorCode::invalid_argument, "%s has %u bytes, but is an alias of %s, which has %u",
                tensor_name(graph, id), ull{bytes}, tensor_name(graph, t.alias), ull{of.bytes()});
  if (of.space != t.space || of.id != t.id)
    return fail(ErrorCode::invalid_argument, "%s is an alias of %s, but names other memory (space or id)",
                tensor_name(graph, id), tensor_name(graph, t.alias));
  return {};
}

// Walks the nodes and tracks, for each root, which tensor's value its bytes hold.
class ValueWalk {
 public:
  explicit ValueWalk(const Graph& graph)
      : graph_(graph),
        written_(graph.tensors().size(), false),
        holds_(graph.tensors().size(), kNone),
        was_there_(graph.tensors().size(), false) {
    for (const Node& node : graph.nodes())
      for (TensorId id : node.outputs)
        if (id != kNone) written_[id] = true;
    for (TensorId id = 0; id < holds_.size(); ++id) {
      if (graph.tensor(id).space == Space::arena || graph.tensor(id).alias != kNone) continue;
      holds_[id] = id;  // its value exists before the plan runs
      was_there_[id] = true;
    }
  }

  Status visit(NodeId n) {
    const Node& node = graph_.node(n);
    for (TensorId id : node.inputs)
      if (id != kNone) LAPILLI_CHECK(readable(id, node_name(graph_, n) + " reads"));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (id == kNone) continue;
      for (size_t j = 0; j < i; ++j)
        if (node.outputs[j] != kNone && graph_.root(node.outputs[j]) == graph_.root(id))
          return fail(ErrorCode::invalid_argument, "%s writes %s and %s, which share their bytes", node_name(graph_, n),
                      tensor_name(graph_, node.outputs[j]), tensor_name(graph_, id));
      holds_[graph_.root(id)] = id;
      was_there_[id] = true;
    }
    return {};
  }

  // `who` begins the message.
  Status readable(TensorId id, const std::string& who) const {
    const TensorId want = value(id), have = holds_[graph_.root(id)];
    if (have == want) return {};
    const std::string name = tensor_name(graph_, id);
    if (!was_there_[want]) return fail(ErrorCode::invalid_argument, "%s %s before any node has written it", who, name);
    return fail(ErrorCode::invalid_argument, "%s %s after %s was written over it in place", who, name,
                tensor_name(graph_, have));
  }

 private:
  // An alias that no node writes is a view: its value is that of the tensor it views.
  TensorId value(TensorId id) const {
    while (!written_[id] && graph_.tensor(id).alias != kNone) id = graph_.tensor(id).alias;
    return id;
  }

  const Graph& graph_;
  std::vector<bool> written_;    // by TensorId: some node writes it
  std::vector<TensorId> holds_;  // by root: the tensor whose value is there now
  std::vector<bool> was_there_;  // by TensorId: its value existed at some time
};

}  // namespace

Status Graph::validate() const {
  if (tensors_.size() >= kNone || nodes_.size() >= kNone)
    return fail(ErrorCode::invalid_argument, "a graph of %u tensors and %u nodes is too large", tensors_.size(),
                nodes_.size());
  for (TensorId id = 0; id < tensors_.size(); ++id) LAPILLI_CHECK(check_tensor(*this, id));
  for (NodeId n = 0; n < nodes_.size(); ++n)
    for (const auto* list : {&nodes_[n].inputs, &nodes_[n].outputs})
      for (TensorId id : *list)
        if (id != kNone && id >= tensors_.size())
          return fail(ErrorCode::invalid_argument, "%s names tensor %u, but the graph has %u tensors",
                      node_name(*this, n), id, tensors_.size());
  ValueWalk walk(*this);
  for (NodeId n = 0; n < nodes_.size(); ++n) LAPILLI_CHECK(walk.visit(n));
  for (TensorId id = 0; id < tensors_.size(); ++id)
    if (tensors_[id].keep) LAPILLI_CHECK(walk.readable(id, "the end of the plan keeps"));
  return {};
}

}  // namespace lapilli::graph
