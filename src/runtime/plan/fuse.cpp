#include "runtime/plan/fuse.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "ops/core/tuning.hpp"
#include "ops/products/row_parts.hpp"
#include "ops/search/choose.hpp"

namespace lapilli {
namespace {

bool is(const graph::Node& node, const char* op) { return std::string_view(node.op->name) == op; }

// Replaces nodes of a graph.
class Fusing {
 public:
  Fusing(graph::Graph& graph, const Capabilities& caps, const CompileOptions& options)
      : graph_(graph), caps_(caps), options_(options) {}

 protected:
  // None if the node cannot be lowered.
  [[nodiscard]] std::optional<std::vector<Dispatch>> lowered(const graph::Node& node,
                                                             const CompileOptions& options) const {
    const LowerContext context{graph_, caps_, options_.work.value_or(WorkLimit::finest(caps_))};
    std::vector<Dispatch> list;
    if (!lower_node(context, node, choose_variant(caps_, graph_, node, options), list)) return std::nullopt;
    return list;
  }
  [[nodiscard]] size_t dispatches(const graph::Node& node) const {
    const auto list = lowered(node, options_);
    return list ? list->size() : kNever;
  }
  // Replaces the nodes, at the place of the last of them, if that takes fewer dispatches.
  bool replace(std::initializer_list<graph::NodeId> nodes, const graph::Node& together) {
    size_t apart = 0;
    for (const graph::NodeId n : nodes) apart += dispatches(graph_.node(n));
    if (!together.op->infer(graph_, together) || dispatches(together) >= apart) return false;
    for (const graph::NodeId n : nodes) replaced_.emplace(n, std::nullopt);
    replaced_.at(*(nodes.end() - 1)) = together;
    return true;
  }
  graph::Graph rebuilt() {
    if (replaced_.empty()) return std::move(graph_);
    graph::Graph fused;
    for (const graph::Tensor& t : graph_.tensors()) fused.add_tensor(t);
    for (graph::NodeId n = 0; n < graph_.nodes().size(); ++n) {
      const auto at = replaced_.find(n);
      if (at == replaced_.end())
        fused.add_node(graph_.node(n));
      else if (at->second)
        fused.add_node(*at->second);
    }
    return fused;
  }

  static constexpr size_t kNever = size_t{1} << 30;  // dispatches of a node that cannot be lowered
  graph::Graph& graph_;
  const Capabilities& caps_;
  const CompileOptions& options_;
  std::map<graph::NodeId, std::optional<graph::Node>> replaced_;  // empty: the node became part of another
};

// For nodes that derive rows from x for products.
class FusingRows : public Fusing {
 public:
  using Fusing::Fusing;

 protected:
  [[nodiscard]] bool names(const std::vector<graph::TensorId>& list, graph::TensorId id) const {
    const auto same = [&](graph::TensorId other) {
      return other != graph::kNone && graph_.root(other) == graph_.root(id);
    };
    return std::any_of(list.begin(), list.end(), same);
  }
  [[nodiscard]] bool multiplies(graph::NodeId n, graph::TensorId rows) const {
    return is(graph_.node(n), "matmul") && graph_.node(n).inputs[0] == rows;
  }
  // The first node after `from` that reads the rows; none if x is overwritten first, or if no node does.
  [[nodiscard]] std::optional<graph::NodeId> first_reader(graph::NodeId from, graph::TensorId x,
                                                          graph::TensorId rows) const {
    for (graph::NodeId n = from + 1; n < graph_.nodes().size(); ++n) {
      if (names(graph_.node(n).inputs, rows)) return n;
      if (names(graph_.node(n).outputs, x)) return std::nullopt;
    }
    return std::nullopt;
  }
  // True if the rows are read, or kept, by anything besides the product `except`.
  [[nodiscard]] bool read_by_others(graph::TensorId rows, graph::NodeId except) const {
    if (graph_.tensor(rows).keep) return true;
    for (graph::NodeId n = except + 1; n < graph_.nodes().size(); ++n)
      if (names(graph_.node(n).inputs, rows)) return true;
    return false;
  }
  // Merges the node `from`, whose rows are `rows`, into the product if that pays.
  void take_over(graph::NodeId from, graph::NodeId product, const graph::Node& together, graph::TensorId rows) {
    const bool was_scratch = graph_.tensor(rows).scratch;
    graph_.tensor(rows).scratch = !read_by_others(rows, product);
    if (!replace({from, product}, together)) graph_.tensor(rows).scratch = was_scratch;
  }
};

class FusingNorms : FusingRows {
 public:
  using FusingRows::FusingRows;
  graph::Graph run() {
    for (graph::NodeId n = 0; n < graph_.nodes().size(); ++n)
      if (is(graph_.node(n), "layer_norm")) consider(n);
    return rebuilt();
  }

 private:
  [[nodiscard]] bool is_only_product(graph::NodeId product, graph::TensorId rows) const {
    for (graph::NodeId n = product + 1; n < graph_.nodes().size(); ++n)
      if (multiplies(n, rows)) return false;
    return true;
  }

  void consider(graph::NodeId norm) {
    const RowNorm rows = norm_of(graph_.node(norm));
    const auto product = first_reader(norm, rows.x, rows.y);
    if (!product || !multiplies(*product, rows.y) || !is_only_product(*product, rows.y)) return;
    take_over(norm, *product, normalizing(graph_.node(*product), rows), rows.y);
  }
};

class FusingGates : FusingRows {
 public:
  using FusingRows::FusingRows;
  graph::Graph run() {
    for (graph::NodeId n = 0; n < graph_.nodes().size(); ++n)
      if (is(graph_.node(n), "gate")) consider(n);
    return rebuilt();
  }

 private:
  // Each workgroup of the product gates its rows again. With more rows, or with more workgroups than run at once, this
  // soon takes longer than a dispatch and its barrier. Tunings are ignored: a graph is fused before tuning.
  static constexpr uint64_t kMostRows = 4;
  [[nodiscard]] bool had_better_gate(const graph::Node& product) const {
    CompileOptions untuned = options_;
    untuned.tunings = nullptr;
    const auto list = lowered(product, untuned);
    return graph_.tensor(product.inputs[0]).rows <= kMostRows && list && list->size() == 1 &&
           list->front().groups <= groups_at_once(caps_);
  }
  void consider(graph::NodeId gate) {
    const RowGate rows = gate_of(graph_.node(gate));
    const auto product = first_reader(gate, rows.x, rows.y);
    if (!product || !multiplies(*product, rows.y) || read_by_others(rows.y, *product)) return;
    if (had_better_gate(graph_.node(*product))) take_over(gate, *product, gating(graph_.node(*product), rows), rows.y);
  }
};

class FusingSampler : Fusing {
 public:
  using Fusing::Fusing;
  graph::Graph run() {
    for (graph::NodeId n = 0; wants_few_dispatches(caps_) && n + 2 < graph_.nodes().size(); ++n) {
      const graph::Node together = chosen_together(graph_.node(n), graph_.node(n + 1), graph_.node(n + 2));
      if (together.op) replace({n, n + 1, n + 2}, together);
    }
    return rebuilt();
  }
};

}  // namespace

graph::Graph fuse_norms(graph::Graph graph, const Capabilities& caps, const CompileOptions& options) {
  return FusingNorms(graph, caps, options).run();
}

graph::Graph fuse_gates(graph::Graph graph, const Capabilities& caps, const CompileOptions& options) {
  return FusingGates(graph, caps, options).run();
}

graph::Graph fuse_sampler(graph::Graph graph, const Capabilities& caps, const CompileOptions& options) {
  return FusingSampler(graph, caps, options).run();
}

}  // namespace lapilli
