// "join_contexts": see join_contexts.hpp.
#include "ops/attention/join_contexts.hpp"

#include <algorithm>
#include <cmath>

#include "ops/attention/attention.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace join_contexts_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, cols, head_dim, sums, ld, y_ld, a_begin, b_begin, y_begin;)
};

// The shape of the contexts' heads.
KvShape heads_of(const JoinContextsAttributes& a) {
  KvShape kv;
  kv.heads = a.heads;
  kv.head_dim = a.head_dim;
  return kv;
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<JoinContextsAttributes>();
  if (a.heads == 0 || a.head_dim == 0) return node_error(node, "no heads, or empty ones");
  const uint64_t columns = columns_with_log_sums(heads_of(a));
  LAPILLI_CHECK(expect_input(g, node, 0, {"a", 0, columns}));
  const auto& t = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_input(g, node, 1, {"b", t.rows, columns}));
  if (g.tensor(node.inputs[1]).ld != t.ld) return node_error(node, "rows of two widths");
  return expect_output(g, node, 0, {"y", t.rows, uint64_t{a.heads} * a.head_dim});
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto a = node.attributes.as<JoinContextsAttributes>();
  const auto &t = context.graph.tensor(node.inputs[0]), &y = context.graph.tensor(node.outputs[0]);
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {t.ld * 4, 1}));
  for (const RowSlice& slice : slices) {
    Dispatch d;
    d.shader = ShaderId::join_contexts;
    d.constants = {v.numbers.local};
    d.groups = slice.end - slice.begin;
    if (t.live_rows && slices.size() == 1) follow_live_rows(d, 1, 1);
    Push push{static_cast<uint32_t>(d.groups),
              a.heads * a.head_dim,
              a.head_dim,
              log_sums_column(heads_of(a)),
              static_cast<uint32_t>(t.ld),
              static_cast<uint32_t>(y.ld),
              0,
              0,
              0};
    const auto bind = [&](uint32_t binding, graph::TensorId id, uint64_t ld, graph::Access access, uint32_t& delta) {
      d.operands.push_back(bind_range(context, binding, {id, slice.begin * ld * 4, slice.end * ld * 4, access}, delta));
    };
    bind(0, node.inputs[0], t.ld, graph::Access::read, push.a_begin);
    bind(1, node.inputs[1], t.ld, graph::Access::read, push.b_begin);
    bind(2, node.outputs[0], y.ld, graph::Access::write, push.y_begin);
    d.set_push(push);
    d.cost = 8.0 * static_cast<double>(d.groups * y.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<JoinContextsAttributes>();
  const auto &t = g.tensor(node.inputs[0]), &y = g.tensor(node.outputs[0]);
  auto& to = values.at(node.outputs[0]).f;
  std::fill(to.begin(), to.end(), 0.0);
  for (uint64_t r = 0; r < t.rows; ++r)
    for (uint64_t c = 0; c < uint64_t{a.heads} * a.head_dim; ++c) {
      const double* rows[2] = {values.at(node.inputs[0]).f.data() + r * t.ld,
                               values.at(node.inputs[1]).f.data() + r * t.ld};
      const uint64_t sum = log_sums_column(heads_of(a)) + 4 * (c / a.head_dim);
      const double top = std::max(rows[0][sum], rows[1][sum]);
      const double first = std::exp(rows[0][sum] - top), second = std::exp(rows[1][sum] - top);
      to[r * y.ld + c] = (first * rows[0][c] + second * rows[1][c]) / (first + second);
    }
}

struct CaseShape {
  uint64_t rows;
  uint32_t heads, head_dim;
  uint64_t live = 0;
};

// Logarithms of a context; some rows have no keys.
void put_log_sums(const JoinContextsAttributes& a, const graph::Tensor& t, uint64_t empty, HostTensor& context,
                  CaseRandom& random) {
  for (uint64_t r = 0; r < t.rows; ++r)
    for (uint64_t h = 0; h < a.heads; ++h)
      context.f[r * t.ld + log_sums_column(heads_of(a)) + 4 * h] =
          r % 4 == empty || r % 7 == 5 ? static_cast<double>(state::MASKED) : 8 * random.unit();
}

OpCase make_case(const CaseShape& s) {
  OpCase c;
  const JoinContextsAttributes a{s.heads, s.head_dim};
  c.name = format("%u rows%s, heads %ux%u", s.rows, s.live ? " live" : "", s.heads, s.head_dim);
  const KvShape kv = heads_of(a);
  const auto first = c.graph.activation("a", s.rows, columns_with_log_sums(kv));
  const auto second = c.graph.activation("b", s.rows, columns_with_log_sums(kv));
  c.graph.tensor(first).live_rows = c.graph.tensor(second).live_rows = s.live != 0;
  ops::join_contexts(c.graph, c.name, first, second, kv);
  CaseRandom random(s.rows * 31 + s.heads * 7 + s.head_dim);
  for (const auto id : {first, second}) {
    auto values = random_values(c.graph.tensor(id), random, 3);
    put_log_sums(a, c.graph.tensor(id), id == first ? 1 : 2, values, random);
    c.inputs.emplace_back(id, std::move(values));
  }
  if (s.live) c.live_rows = s.live;
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 1, 1}));
  all.push_back(make_case({9, 4, 12}));
  all.push_back(make_case({15, 3, 5}));  // padded rows
  all.push_back(make_case({8, 2, 64, 3}));
  all.push_back(make_case({70, 8, 256}));  // sliced on devices with small bindings
  return all;
}

constexpr OpDef op{"join_contexts", infer, only_variant<Tuned::unfold, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace join_contexts_impl

constinit const OpDef join_contexts_op = join_contexts_impl::op;

graph::TensorId ops::join_contexts(graph::Graph& g, const std::string& label, graph::TensorId a, graph::TensorId b,
                                   const KvShape& kv) {
  const JoinContextsAttributes attributes{kv.query_heads(), kv.head_dim};
  const auto y = g.rows_like(label, a, uint64_t{attributes.heads} * attributes.head_dim);
  g.add_node({&join_contexts_op, label, {a, b}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
