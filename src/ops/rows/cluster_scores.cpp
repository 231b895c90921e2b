// "cluster_scores": see cluster_scores.hpp.
#include "ops/rows/cluster_scores.hpp"

#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace cluster_scores_impl {
namespace {

enum Input : size_t { kX, kHead, kY };

struct Push {
  LAPILLI_PUSH(uint32_t groups, ids, x_cols, head_cols, x_ld4, head_ld4, y_ld, x_begin4, head_begin4, y_begin, first,
               entry, y_end;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<ClusterAttributes>();
  LAPILLI_CHECK(expect_input(g, node, kX, {"x"}));
  const auto& x = g.tensor(node.inputs[kX]);
  LAPILLI_CHECK(expect_input(g, node, kHead, {"head", x.rows}));
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows}));
  const auto &head = g.tensor(node.inputs[kHead]), &y = g.tensor(node.outputs[0]);
  if (x.ld % 4 || head.ld % 4) return node_error(node, "rows are not whole vectors");
  if (std::max(x.cols, head.cols) > kMostClusterIds)
    return node_error(node, "clusters of %u and %u ids; at most %u are supported", x.cols, head.cols, kMostClusterIds);
  if (a.ids == 0 || a.ids > x.cols || uint64_t{a.first} + a.ids > y.cols || a.entry >= head.cols)
    return node_error(node, "%u ids from %u on, entry %u: not of %u, %u and %u columns", a.ids, a.first, a.entry,
                      x.cols, head.cols, y.cols);
  const auto into = operand(node.inputs, kY);
  const bool in_place = into != graph::kNone && g.root(into) == g.root(node.outputs[0]);
  return in_place == (a.entry != 0) ? Status() : node_error(node, "only the first cluster makes y");
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto a = node.attributes.as<ClusterAttributes>();
  const auto &x = context.graph.tensor(node.inputs[kX]), &head = context.graph.tensor(node.inputs[kHead]),
             &y = context.graph.tensor(node.outputs[0]);
  LAPILLI_TRY(const auto slices, row_slices(context, node, y.rows, {std::max({x.ld, head.ld, y.ld}) * 4, 1}));
  const uint64_t end = uint64_t{a.first} + a.ids == y.cols ? y.ld : uint64_t{a.first} + a.ids;
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = a.entry ? ShaderId::cluster_tail : ShaderId::cluster_head;
    d.constants = {v.numbers.local};
    d.groups = s.end - s.begin;
    if (y.live_rows && d.groups == y.rows) follow_live_rows(d, 1, 1);
    uint32_t dx = 0, dh = 0, dy = 0;
    const auto range = [&](graph::TensorId t, uint64_t ld, graph::Access access) {
      return ByteSpan{t, s.begin * ld * 4, s.end * ld * 4, access};
    };
    d.operands.push_back(bind_range(context, 0, range(node.inputs[kX], x.ld, graph::Access::read), dx));
    d.operands.push_back(bind_range(context, 1, range(node.outputs[0], y.ld, graph::Access::write), dy));
    if (a.entry)
      d.operands.push_back(bind_range(context, 2, range(node.inputs[kHead], head.ld, graph::Access::read), dh));
    d.set_push(Push{static_cast<uint32_t>(d.groups), a.ids, static_cast<uint32_t>(x.cols),
                    static_cast<uint32_t>(head.cols), static_cast<uint32_t>(x.ld / 4),
                    static_cast<uint32_t>(head.ld / 4), static_cast<uint32_t>(y.ld), dx / 4, dh / 4, dy, a.first,
                    a.entry, static_cast<uint32_t>(end)});
    d.cost = 8.0 * static_cast<double>(d.groups * (x.ld + (a.entry ? head.ld : 0)));
    out.push_back(std::move(d));
  }
  return {};
}

double log_sum(const double* row, uint64_t columns) {
  const double most = *std::max_element(row, row + columns);
  double sum = 0;
  for (uint64_t c = 0; c < columns; ++c) sum += std::exp(row[c] - most);
  return most + std::log(sum);
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ClusterAttributes>();
  const auto &x = g.tensor(node.inputs[kX]), &head = g.tensor(node.inputs[kHead]), &y = g.tensor(node.outputs[0]);
  auto& out = values.at(node.outputs[0]).f;
  for (uint64_t r = 0; r < y.rows; ++r) {
    const double *own = values.at(node.inputs[kX]).f.data() + r * x.ld,
                 *of_head = values.at(node.inputs[kHead]).f.data() + r * head.ld;
    double less = log_sum(own, x.cols);
    if (a.entry) less += log_sum(of_head, head.cols) - of_head[a.entry];
    double* to = out.data() + r * y.ld;
    for (uint64_t c = 0; c < a.ids; ++c) to[a.first + c] = own[c] - less;
    if (uint64_t{a.first} + a.ids == y.cols) std::fill(to + y.cols, to + y.ld, 0.0);
  }
}

graph::TensorId add_rows(OpCase& c, const char* name, uint64_t rows, uint64_t columns, CaseRandom& random) {
  const auto x = c.graph.activation(name, rows, columns);
  c.graph.tensor(x).live_rows = c.live_rows != 0;
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 9));
  return x;
}

OpCase make_head(uint64_t rows, uint32_t ids, uint32_t entries, uint64_t live = 0) {
  OpCase c;
  c.name = format("%u rows, head of %u and %u%s", rows, ids, entries, live ? ", live" : "");
  if (live) c.live_rows = live;
  CaseRandom random(rows * 131 + ids);
  const auto head = add_rows(c, "head", rows, uint64_t{ids} + entries, random);
  ops::cluster_head(c.graph, "scores", head, ids, ids);
  return c;
}

// A cluster of `ids` that begin at `first` of `columns`, the last of those with entries behind `head` ids.
struct TailCase {
  uint64_t rows;
  uint32_t head, entries, first, ids, columns;
  uint64_t live = 0;
};
OpCase make_tail(const TailCase& s) {
  OpCase c;
  c.name = format("%u rows, ids %u to %u of %u, head of %u and %u%s", s.rows, s.first, s.first + s.ids, s.columns,
                  s.head, s.entries, s.live ? ", live" : "");
  if (s.live) c.live_rows = s.live;
  CaseRandom random(s.rows * 131 + s.ids);
  const auto x = add_rows(c, "x", s.rows, s.ids, random);
  const auto head = add_rows(c, "head", s.rows, uint64_t{s.head} + s.entries, random);
  const auto y = add_rows(c, "y", s.rows, s.columns, random);
  ops::cluster_tail(c.graph, "scores", {x, head, y}, {s.first, s.ids, s.head + s.entries - 1});
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_head(1, 1, 0));
  all.push_back(make_head(3, 20, 3));
  all.push_back(make_head(13, 31, 1));
  all.push_back(make_head(5, 1033, 2, 3));
  all.push_back(make_head(2, 16001, 3));
  all.push_back(make_tail({1, 1, 1, 1, 1, 2}));
  all.push_back(make_tail({3, 20, 3, 50, 40, 150}));
  all.push_back(make_tail({13, 31, 2, 71, 49, 120}));
  all.push_back(make_tail({7, 33, 1, 35, 1030, 1065, 4}));
  all.push_back(make_tail({2, 2001, 3, 20003, 65001, 90001}));
  return all;
}

constexpr OpDef op{"cluster_scores",   infer, only_variant<Tuned::row_sums, "workgroup a row">, lower, reference, cases,
                   {output_tuning_key}};

}  // namespace
}  // namespace cluster_scores_impl

constinit const OpDef cluster_scores_op = cluster_scores_impl::op;

graph::TensorId ops::cluster_head(graph::Graph& g, const std::string& label, graph::TensorId head, uint32_t ids,
                                  uint64_t columns) {
  const auto y = g.rows_like(label, head, columns);
  g.add_node({&cluster_scores_op, label, {head, head}, {y}, graph::Attributes(ClusterAttributes{0, ids, 0})});
  return y;
}

graph::TensorId ops::cluster_tail(graph::Graph& g, const std::string& label, const ClusterOperands& o,
                                  const ClusterAttributes& attributes) {
  const auto y = g.updated(label, o.y);
  g.add_node({&cluster_scores_op, label, {o.x, o.head, o.y}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
