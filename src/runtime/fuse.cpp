#include "runtime/fuse.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "ops/choose.hpp"
#include "ops/layer_norm.hpp"
#include "ops/tuning.hpp"

namespace lapilli {
namespace {

bool is(const graph::Node& node, const char* op) { return std::string_view(node.op->name) == op; }

// A graph whose nodes are replaced.
class Fusing {
 public:
  Fusing(graph::Graph& graph, const Capabilities& caps, const CompileOptions& options)
      : graph_(graph), caps_(caps), options_(options) {}

 protected:
  [[nodiscard]] size_t dispatches(const graph::Node& node) const {
    const LowerContext context{graph_, caps_, options_.work.value_or(WorkLimit::finest(caps_))};
    std::vector<Dispatch> list;
    const auto lowered = lower_node(context, node, choose_variant(caps_, graph_, node, options_), list);
    return lowered ? list.size() : kNever;
  }
  // The nodes stand at the place of the last of them, if there are fewer dispatches then.
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

  static constexpr size_t kNever = size_t{1} << 30;  // dispatches of what cannot be lowered
  graph::Graph& graph_;
  const Capabilities& caps_;
  const CompileOptions& options_;
  std::map<graph::NodeId, std::optional<graph::Node>> replaced_;  // by nothing: it is a part of another
};

class FusingNorms : Fusing {
 public:
  using Fusing::Fusing;
  graph::Graph run() {
    for (graph::NodeId n = 0; n < graph_.nodes().size(); ++n)
      if (is(graph_.node(n), "layer_norm")) consider(n);
    return rebuilt();
  }

 private:
  [[nodiscard]] bool names(const std::vector<graph::TensorId>& list, graph::TensorId id) const {
    const auto same = [&](graph::TensorId other) {
      return other != graph::kNone && graph_.root(other) == graph_.root(id);
    };
    return std::any_of(list.begin(), list.end(), same);
  }
  [[nodiscard]] bool multiplies(graph::NodeId n, graph::TensorId rows) const {
    return is(graph_.node(n), "matmul") && graph_.node(n).inputs[0] == rows;
  }
  // The first node behind `norm` that reads its rows; none if x is written before, or if there is none.
  [[nodiscard]] std::optional<graph::NodeId> first_reader(graph::NodeId norm, const RowNorm& rows) const {
    for (graph::NodeId n = norm + 1; n < graph_.nodes().size(); ++n) {
      if (names(graph_.node(n).inputs, rows.y)) return n;
      if (names(graph_.node(n).outputs, rows.x)) return std::nullopt;
    }
    return std::nullopt;
  }
  // The rows of the norm are read, or kept, beside by the product `except`.
  [[nodiscard]] bool read_by_others(graph::TensorId rows, graph::NodeId except) const {
    if (graph_.tensor(rows).keep) return true;
    for (graph::NodeId n = except + 1; n < graph_.nodes().size(); ++n)
      if (names(graph_.node(n).inputs, rows)) return true;
    return false;
  }
  [[nodiscard]] bool is_only_product(graph::NodeId product, graph::TensorId rows) const {
    for (graph::NodeId n = product + 1; n < graph_.nodes().size(); ++n)
      if (multiplies(n, rows)) return false;
    return true;
  }

  void consider(graph::NodeId norm) {
    const RowNorm rows = norm_of(graph_.node(norm));
    const auto product = first_reader(norm, rows);
    if (!product || !multiplies(*product, rows.y) || !is_only_product(*product, rows.y)) return;
    const bool was_scratch = graph_.tensor(rows.y).scratch;
    graph_.tensor(rows.y).scratch = !read_by_others(rows.y, *product);
    if (!replace({norm, *product}, normalizing(graph_.node(*product), rows)))
      graph_.tensor(rows.y).scratch = was_scratch;
  }
};

class FusingTail : Fusing {
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

graph::Graph fuse_tail(graph::Graph graph, const Capabilities& caps, const CompileOptions& options) {
  return FusingTail(graph, caps, options).run();
}

}  // namespace lapilli
