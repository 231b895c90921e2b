#include "runtime/fuse.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "ops/layer_norm.hpp"

namespace lapilli {
namespace {

bool is(const graph::Node& node, const char* op) { return std::string_view(node.op->name) == op; }

class Fusing {
 public:
  Fusing(graph::Graph& graph, const Capabilities& caps, const CompileOptions& options)
      : graph_(graph), caps_(caps), options_(options) {}

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
    const graph::Node& apart = graph_.node(*product);
    const graph::Node together = normalizing(apart, rows);
    const bool was_scratch = graph_.tensor(rows.y).scratch;
    graph_.tensor(rows.y).scratch = !read_by_others(rows.y, *product);
    if (together.op->infer(graph_, together) && fewer_dispatches(graph_.node(norm), apart, together)) {
      replaced_.emplace(norm, std::nullopt);
      replaced_.emplace(*product, together);
    } else {
      graph_.tensor(rows.y).scratch = was_scratch;
    }
  }

  [[nodiscard]] size_t dispatches(const graph::Node& node) const {
    const LowerContext context{graph_, caps_, options_.work.value_or(WorkLimit::finest(caps_))};
    std::vector<Dispatch> list;
    const auto lowered = node.op->lower(context, node, choose_variant(caps_, graph_, node, options_), list);
    return lowered ? list.size() : SIZE_MAX / 2;
  }
  [[nodiscard]] bool fewer_dispatches(const graph::Node& norm, const graph::Node& apart,
                                      const graph::Node& together) const {
    return dispatches(together) < dispatches(norm) + dispatches(apart);
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

  graph::Graph& graph_;
  const Capabilities& caps_;
  const CompileOptions& options_;
  std::map<graph::NodeId, std::optional<graph::Node>> replaced_;  // by nothing: it is a part of another
};

}  // namespace

graph::Graph fuse_norms(graph::Graph graph, const Capabilities& caps, const CompileOptions& options) {
  return Fusing(graph, caps, options).run();
}

}  // namespace lapilli
