#include "ops/products/matmul_cases.hpp"

#include <algorithm>
#include <cmath>

#include "ops/products/row_parts.hpp"

namespace lapilli {
namespace {

using ull = unsigned long long;

struct Shape {
  uint64_t rows, n, k;
  WeightFormat format = WeightFormat::fp32;
  [[nodiscard]] WeightLayout layout() const { return {n, k, format}; }
};

// Suffix of a case's name for its weight format; empty for fp32.
std::string suffix(WeightFormat f) { return f == WeightFormat::fp32 ? "" : std::string(" ") + name(f); }

OpCase linear_case(Shape s, Activation activation = Activation::none, uint64_t live = 0) {
  OpCase c;
  c.name = format("%ux%ux%u act %u%s", ull{s.rows}, ull{s.n}, ull{s.k}, static_cast<unsigned>(activation),
                  live ? " live" : "") +
           suffix(s.format);
  const auto x = c.graph.activation("x", s.rows, s.k);
  c.graph.tensor(x).live_rows = live != 0;
  const auto w = add_packed(c.graph, "weight", s.layout());
  ops::linear(c.graph, "y", x, w, {static_cast<uint32_t>(s.n), activation});
  c.prepare = [s, x, w](OpCase& into) {
    CaseRandom random(s.rows * 31 + s.n * 7 + s.k);
    into.inputs.emplace_back(x, random_values(into.graph.tensor(x), random, 2));
    into.inputs.emplace_back(w, packed_values(s.layout(), random, 2 / std::sqrt(static_cast<double>(s.k))));
  };
  if (live) c.live_rows = live;
  return c;
}

// Rows that each repeat one number, from far below the range of fp16 to far above it.
OpCase wide_case(Shape s) {
  OpCase c = linear_case(s);
  c.name += " wide";
  const auto x = c.graph.node(0).inputs[0];
  c.prepare = [s, x, prepare = c.prepare](OpCase& into) {
    prepare(into);
    for (auto& [id, value] : into.inputs) {
      if (id != x) continue;
      const uint64_t ld = into.graph.tensor(x).ld;
      std::fill(value.f.begin(), value.f.end(), 0.0);
      for (uint64_t r = 1; r < s.rows; ++r)
        value.f[r * ld + r % s.k] =
            std::ldexp(1 + static_cast<double>(r * 1234577 % 8388608) / 8388608, static_cast<int>(r * 5 % 100) - 30);
    }
  };
  return c;
}

OpCase residual_case(Shape s, uint64_t live = 0) {
  OpCase c;
  c.name = format("%ux%ux%u residual%s", ull{s.rows}, ull{s.n}, ull{s.k}, live ? " live" : "") + suffix(s.format);
  const auto x = c.graph.activation("x", s.rows, s.k);
  const auto residual = c.graph.activation("residual", s.rows, s.n);
  c.graph.tensor(x).live_rows = c.graph.tensor(residual).live_rows = live != 0;
  const auto w = add_packed(c.graph, "weight", s.layout());
  ops::linear_add(c.graph, "y", x, w, residual);
  c.prepare = [s, x, w, residual](OpCase& into) {
    CaseRandom random(s.rows * 37 + s.n * 5 + s.k);
    into.inputs.emplace_back(x, random_values(into.graph.tensor(x), random));
    into.inputs.emplace_back(residual, random_values(into.graph.tensor(residual), random, 3));
    into.inputs.emplace_back(w, packed_values(s.layout(), random, 1 / std::sqrt(static_cast<double>(s.k))));
  };
  if (live) c.live_rows = live;
  return c;
}

struct KvCase {
  uint64_t rows = 1, k = 64;
  uint32_t q_columns = 0;
  KvShape kv;
  uint32_t step = 0, live = 0;  // RowLayout::step
  WeightFormat format = WeightFormat::fp32;
  KvFormat kv_format = KvFormat::fp32;
};

// Adds rows and their weight, chosen so that halves get exact sums. Formats with scales have none.
void add_factors(OpCase& c, graph::TensorId x, graph::TensorId w, const WeightLayout& layout, KvFormat kv,
                 CaseRandom& random) {
  const bool halves = kv == KvFormat::fp16;
  auto rows = random_values(c.graph.tensor(x), random);
  if (halves) put_on_grid(rows);
  c.inputs.emplace_back(x, std::move(rows));
  const double scale = 2 / std::sqrt(static_cast<double>(layout.k));
  c.inputs.emplace_back(w, packed_values(layout, random, scale, halves));
}
void allow_inexact(OpCase& c) {
  c.float_word = [](graph::TensorId, uint64_t) { return true; };
}

OpCase kv_case(const KvCase& s) {
  OpCase c;
  const bool step = s.kv.layout == RowLayout::step;
  c.name = format("%s %u rows k %u q %u heads %ux%u slots %u positions %u", step ? "step" : "batch", ull{s.rows},
                  ull{s.k}, s.q_columns, s.kv.heads, s.kv.head_dim, s.kv.slots, s.kv.positions) +
           (s.step >= s.kv.positions ? " ring" : "") + suffix(s.format) + suffix(s.kv_format);
  CaseRandom random(s.rows * 41 + s.kv.head_dim * 3 + s.k);
  const uint64_t n = s.q_columns + uint64_t{s.kv.heads} * 2 * s.kv.head_dim;
  const WeightLayout layout(n, s.k, s.format);
  const auto x = c.graph.activation("x", s.rows, s.k);
  c.graph.tensor(x).live_rows = step;
  const auto w = add_packed(c.graph, "weight", layout);
  const KvLayout kv_layout(s.kv, s.kv_format);
  const auto kv = add_kv(c.graph, StateKind::self_kv, kv_layout);
  const auto state = step ? add_step(c.graph) : graph::kNone;
  ops::linear_kv(c.graph, "q", x, w, {s.q_columns, kv, s.kv, state});
  c.prepare = [x, w, kv, layout, kv_layout, random](OpCase& into) mutable {
    add_factors(into, x, w, layout, kv_layout.format, random);
    into.inputs.emplace_back(kv, kv_values(kv_layout, random));
  };
  if (packed::has_scales(s.format)) allow_inexact(c);
  if (step) {
    std::vector<uint32_t> slots;  // rows in a different order than slots
    for (uint32_t r = 0; r < s.rows; ++r) slots.push_back((r * 3 + 1) % s.kv.slots);
    c.inputs.emplace_back(state, step_values(mixed_positions(s.step, static_cast<uint32_t>(s.rows)), s.live, slots));
    c.live_rows = s.live;
  }
  return c;
}

// Rows of an encode pass; `slack` rows after the last sentence write nothing.
struct PassCase {
  std::vector<uint32_t> lengths;
  uint64_t k = 64;
  uint32_t heads = 1, head_dim = 8, slack = 0;
  WeightFormat format = WeightFormat::fp32;
  KvFormat kv_format = KvFormat::fp32;
};

OpCase pass_case(const PassCase& s) {
  OpCase c;
  const auto n = static_cast<uint32_t>(s.lengths.size()),
             longest = *std::max_element(s.lengths.begin(), s.lengths.end());
  KvShape kv{s.heads, s.head_dim, n + 1, longest + 2, RowLayout::spans, 1};
  const auto spans = add_spans(c, s.lengths);
  const uint64_t rows = c.live_rows + s.slack, columns = uint64_t{s.heads} * 2 * s.head_dim;
  c.name = format("pass of %u, %u of %u rows k %u heads %ux%u", n, ull{c.live_rows}, ull{rows}, ull{s.k}, s.heads,
                  s.head_dim) +
           suffix(s.format) + suffix(s.kv_format);
  const WeightLayout layout(columns, s.k, s.format);
  const auto x = c.graph.activation("x", rows, s.k);
  c.graph.tensor(x).live_rows = true;
  const auto w = add_packed(c.graph, "weight", layout);
  const KvLayout kv_layout(kv, s.kv_format);
  const auto to = add_kv(c.graph, StateKind::cross_kv, kv_layout);
  ops::linear_kv(c.graph, "kv", x, w, {0, to, kv, spans});
  if (packed::has_scales(s.format)) allow_inexact(c);
  c.prepare = [x, w, to, layout, kv_layout](OpCase& into) {
    CaseRandom random(layout.n * 41 + layout.k);
    add_factors(into, x, w, layout, kv_layout.format, random);
    into.inputs.emplace_back(to, kv_values(kv_layout, random));
  };
  return c;
}

// The same product with x normalized; `written`: another node reads the normalized rows.
OpCase norm_case(OpCase c, NormFirst norm, bool written = true) {
  const LayerNormAttributes how{1e-5f, norm == NormFirst::rms ? 1u : 0u};
  const graph::Node product = c.graph.node(0);
  const auto x = product.inputs[0];
  const uint64_t cols = c.graph.tensor(x).cols;
  graph::Graph g;
  for (const auto& t : c.graph.tensors()) g.add_tensor(t);
  const auto weight = add_weight(g, "norm", norm_words(how, cols));
  const auto y = g.rows_like("normalized", x, cols);
  g.tensor(y).scratch = !written;
  g.add_node(normalizing(product, {x, weight, y, how}));
  c.graph = std::move(g);
  allow_inexact(c);
  c.name += format("%s norm%s", how.rms ? " rms" : "", written ? "" : " alone");
  c.prepare = [weight, cols, prepare = c.prepare](OpCase& into) {
    if (prepare) prepare(into);
    HostTensor values;
    CaseRandom random(cols);
    values.f.assign(into.graph.tensor(weight).elements(), 0.0);
    for (uint64_t i = 0; i < values.f.size(); ++i)
      if (i % round_up<uint64_t>(cols, 4) < cols) values.f[i] = (i < cols ? 1 : 0) + 0.5 * random.unit();
    into.inputs.emplace_back(weight, std::move(values));
  };
  return c;
}

// The same product with x gated.
OpCase gate_case(OpCase c, Activation activation) {
  const graph::Node product = c.graph.node(0);
  const auto x = product.inputs[0];
  const uint64_t cols = c.graph.tensor(x).cols, value = gate_value_column(cols);
  graph::Graph g;
  for (const auto& t : c.graph.tensors()) g.add_tensor(t);
  const auto y = g.rows_like("gated", x, cols);
  g.tensor(y).scratch = true;
  g.tensor(x).cols = value + cols;
  g.tensor(x).ld = 2 * value;
  g.add_node(gating(product, {x, y, activation}));
  c.graph = std::move(g);
  c.name += format(" gate %u", static_cast<unsigned>(activation));
  c.prepare = [x, cols, value, prepare = c.prepare](OpCase& into) {
    if (prepare) prepare(into);
    const graph::Tensor& t = into.graph.tensor(x);
    for (auto& [id, values] : into.inputs)
      for (uint64_t r = 0; id == x && r < t.rows; ++r)
        std::fill_n(values.f.begin() + static_cast<std::ptrdiff_t>(r * t.ld + cols), value - cols, 0.0);
  };
  return c;
}

void add_gate_cases(std::vector<OpCase>& all) {
  for (const uint64_t rows : {1, 3, 4, 5, 17}) all.push_back(gate_case(linear_case({rows, 67, 53}), Activation::silu));
  for (const uint64_t k : {1, 4, 63, 257, 1031}) all.push_back(gate_case(linear_case({2, 40, k}), Activation::relu));
  for (uint32_t kind = 0; kind <= static_cast<uint32_t>(kLastActivation); ++kind)
    for (const uint64_t rows : {1, 4})
      all.push_back(gate_case(residual_case({rows, 56, 96}), static_cast<Activation>(kind)));
  all.push_back(gate_case(linear_case({12, 64, 32}, Activation::tanh, 7), Activation::gelu_tanh));
  all.push_back(
      gate_case(linear_case({4, 2001, 64}, Activation::none, 3), Activation::silu));  // wider than a small binding
  all.push_back(gate_case(linear_case({2, 64, 4099}), Activation::silu));             // deeper
}

// Small enough for the self-test.
void add_norm_cases_of(std::vector<OpCase>& all, Activation activation, WeightFormat format) {
  for (const uint64_t rows : {1, 4})
    for (const auto norm : {NormFirst::layer, NormFirst::rms})
      all.push_back(norm_case(linear_case({rows, 160, 48, format}, activation), norm));
}

void add_norm_cases(std::vector<OpCase>& all) {
  constexpr auto layer = NormFirst::layer, rms = NormFirst::rms;
  for (const uint64_t rows : {1, 2, 4, 5, 8, 16, 17}) all.push_back(norm_case(linear_case({rows, 67, 53}), layer));
  for (const uint64_t k : {1, 4, 63, 257, 515, 1031}) {
    all.push_back(norm_case(linear_case({1, 40, k}), layer));
    all.push_back(norm_case(linear_case({3, 40, k}), rms, k == 63));
  }
  for (const uint64_t rows : {1, 6}) {
    all.push_back(norm_case(linear_case({rows, 160, 48}, Activation::gelu_erf), layer, false));
    all.push_back(norm_case(linear_case({rows, 164, 48}, Activation::relu), rms));
    all.push_back(norm_case(residual_case({rows, 56, 48}), layer));
  }
  for (uint32_t kind = 0; kind <= static_cast<uint32_t>(kLastActivation); ++kind)
    add_norm_cases_of(all, static_cast<Activation>(kind), WeightFormat::fp32);
  all.push_back(norm_case(linear_case({12, 64, 32}, Activation::none, 7), layer));
  all.push_back(norm_case(linear_case({4, 2001, 64}, Activation::none, 3), layer));  // wider than a small binding
  all.push_back(norm_case(linear_case({2, 64, 4099}), layer));                       // deeper
  const KvShape step{4, 12, 7, 13, RowLayout::step, 1};
  for (const uint64_t rows : {1, 7})
    for (const bool written : {true, false}) {
      const KvCase s{rows, 50, 48, step, 3, static_cast<uint32_t>(rows > 1 ? rows - 2 : 1)};
      all.push_back(norm_case(kv_case(s), written ? layer : rms, written));
    }
  all.push_back(norm_case(kv_case({6, 24, 0, {2, 8, 6, 5, RowLayout::step, 1}, 3, 5}), layer));        // no q
  all.push_back(norm_case(kv_case({8, 256, 256, {4, 64, 8, 40, RowLayout::step, 1}, 33, 6}), layer));  // sliced
  all.push_back(norm_case(kv_case({14, 32, 32, {4, 8, 2, 7, RowLayout::batch, 7}}), layer));
}

void add_pass_cases(std::vector<OpCase>& all) {
  all.push_back(pass_case({{1}, 20, 2, 8}));
  all.push_back(pass_case({{3}, 24, 2, 8}));
  all.push_back(pass_case({{5, 1}, 36, 3, 12, 2}));
  all.push_back(pass_case({{4, 1, 3, 5}, 24, 2, 16, 3}));
  all.push_back(pass_case({{5, 4, 3, 1, 5, 1}, 28, 3, 5, 21}));  // heads that are not whole vec4s; tiles with no rows
  all.push_back(pass_case({{33, 1, 5, 130}, 64, 2, 32, 7}));     // sliced by heads and slots on devices with small
                                                                 // bindings
  all.push_back(pass_case({{3, 2}, 600, 2, 8, 1}));              // deeper than a small binding
  all.push_back(
      pass_case({std::vector<uint32_t>(state::MAX_ROWS, 1), 16, 1, 8, 5}));  // no entry after the last sentence
}

void add_kv_cases(std::vector<OpCase>& all) {
  const auto batch = [](uint32_t heads, uint32_t head_dim, uint32_t slots, uint32_t positions, uint32_t per_slot) {
    return KvShape{heads, head_dim, slots, positions, RowLayout::batch, per_slot};
  };
  const auto step = [](uint32_t heads, uint32_t head_dim, uint32_t slots, uint32_t positions) {
    return KvShape{heads, head_dim, slots, positions, RowLayout::step, 1};
  };
  all.push_back(kv_case({14, 32, 32, batch(4, 8, 2, 7, 7)}));
  all.push_back(kv_case({14, 24, 0, batch(2, 12, 3, 11, 7)}));  // no q, spare capacity
  all.push_back(kv_case({10, 50, 50, batch(5, 10, 2, 5, 5)}));  // q_columns not a multiple of 4
  all.push_back(kv_case({6, 15, 15, batch(3, 5, 2, 3, 3)}));    // odd head size
  all.push_back(kv_case({66, 128, 128, batch(2, 64, 6, 11, 11)}));
  all.push_back(kv_case({1, 64, 64, batch(4, 16, 1, 1, 1)}));
  all.push_back(kv_case({20, 24, 32, batch(2, 16, 4, 5, 5)}));    // small, but more rows than a small tile
  all.push_back(kv_case({66, 36, 36, batch(3, 12, 6, 11, 11)}));  // more rows than a large tile
  all.push_back(kv_case({36, 28, 0, batch(3, 8, 3, 12, 12)}));
  all.push_back(kv_case({6, 600, 16, batch(2, 8, 2, 3, 3)}));  // deeper than a small binding
  all.push_back(kv_case({5, 600, 16, step(2, 8, 5, 7), 3, 4}));
  all.push_back(kv_case({1, 64, 64, step(4, 16, 4, 9), 5, 1}));
  all.push_back(kv_case({7, 48, 48, step(4, 12, 7, 13), 0, 5}));  // some rows have ended
  all.push_back(kv_case({4, 40, 40, step(5, 8, 4, 6), 5, 4}));    // last position
  all.push_back(kv_case({17, 36, 0, step(3, 12, 17, 5), 2, 17}));
  all.push_back(kv_case({13, 36, 36, step(3, 12, 13, 5), 3, 12}));
  all.push_back(kv_case({35, 36, 36, step(3, 12, 35, 5), 3, 33}));
  all.push_back(kv_case({70, 20, 36, step(3, 5, 70, 4), 2, 33}));  // tiles with no live rows
  all.push_back(kv_case({35, 36, 0, step(3, 12, 35, 5), 3, 17}));
  all.push_back(kv_case({70, 36, 0, step(3, 12, 70, 5), 3, 66}));
  all.push_back(kv_case({1, 20, 0, step(2, 8, 3, 5), 4, 1}));
  all.push_back(kv_case({3, 32, 32, step(4, 8, 4, 4), 1, 0}));       // no live rows
  all.push_back(kv_case({8, 256, 256, step(4, 64, 8, 40), 33, 6}));  // sliced on devices with small bindings
  all.push_back(kv_case({6, 24, 0, step(2, 8, 6, 5), 3, 5}));        // small bindings leave a part without work
  all.push_back(kv_case({7, 48, 48, step(4, 12, 7, 13), 40, 5}));    // a ring
  all.push_back(kv_case({35, 36, 36, step(3, 12, 35, 5), 23, 33}));
  all.push_back(kv_case({5, 64, 64, step(1, 64, 5, 200), 190, 4}));  // slots that exceed small bindings
  all.push_back(kv_case({390, 32, 0, batch(1, 64, 3, 130, 130)}));
}

// Wide and narrow products, small enough for the self-test: the number of columns selects the workgroups, and a device
// should be tested with those it will run.
void add_small_cases(std::vector<OpCase>& all, WeightFormat f) {
  for (const uint64_t n : {28, 56, 100})
    for (const auto act : {Activation::none, Activation::relu, Activation::gelu_erf})
      all.push_back(linear_case({6, n, 44, f}, act));
  for (const uint32_t q : {128, 0}) {
    all.push_back(kv_case({12, 24, q, {4, 32, 3, 4, RowLayout::batch, 4}, 0, 0, f}));
    all.push_back(kv_case({6, 24, q, {4, 32, 6, 9, RowLayout::step, 1}, 3, 6, f}));
    all.push_back(kv_case({6, 24, q, {4, 32, 6, 9, RowLayout::step, 1}, 30, 6, f}));  // a ring
  }
  for (const uint32_t heads : {1, 2, 4}) all.push_back(pass_case({{5, 9}, 24, heads, 32, 0, f}));
  all.push_back(kv_case({12, 24, 0, {2, 8, 3, 4, RowLayout::batch, 4}, 0, 0, f}));
}

// Cases that read a weight, for every variant; the epilogue is the same for all formats.
void add_format_cases(std::vector<OpCase>& all, WeightFormat f) {
  for (const uint64_t rows : {1, 16, 33}) all.push_back(linear_case({rows, 67, 53, f}));
  for (const uint64_t k : {1, 2, 3, 257}) all.push_back(linear_case({17, 40, k, f}));
  all.push_back(linear_case({5, 130, 50, f}));
  all.push_back(wide_case({40, 36, 70, f}));
  all.push_back(linear_case({70, 100, 100, f}));  // whole tiles next to partial ones
  all.push_back(linear_case({35, 133, 100, f}));  // tiles of every size, as above
  for (const auto act : {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu})
    for (const uint64_t rows : {1, 16, 35}) all.push_back(linear_case({rows, 160, 32, f}, act));
  all.push_back(linear_case({2, 64, 4099, f}, Activation::relu));  // deeper than a small binding
  all.push_back(residual_case({3, 40, 4099, f}));
  for (const uint64_t n : {28, 56, 100}) all.push_back(residual_case({16, n, 48, f}));  // workgroups of narrow models
  for (const uint64_t rows : {1, 16, 35}) all.push_back(residual_case({rows, 160, 48, f}));
  all.push_back(residual_case({8, 64, 96, f}, 5));
  all.push_back(linear_case({12, 64, 32, f}, Activation::none, 7));
  all.push_back(linear_case({4, 2001, 64, f}, Activation::none, 3));  // rows wider than a small binding
  const KvShape batch{3, 12, 5, 7, RowLayout::batch, 7}, step{3, 12, 13, 5, RowLayout::step, 1};
  const KvShape tiles{3, 12, 35, 5, RowLayout::step, 1};
  const KvShape many{3, 12, 70, 5, RowLayout::step, 1}, many_sources{3, 12, 10, 7, RowLayout::batch, 7};
  for (const uint32_t q : {36, 0}) {
    all.push_back(kv_case({70, 38, q, many, 3, 66, f}));
    all.push_back(kv_case({70, 38, q, many_sources, 0, 0, f}));
    all.push_back(kv_case({35, 38, q, batch, 0, 0, f}));
    all.push_back(kv_case({35, 38, q, tiles, 3, 33, f}));
  }
  all.push_back(kv_case({6, 1200, 16, {2, 8, 2, 3, RowLayout::batch, 3}, 0, 0, f}));  // deeper than a small binding
  all.push_back(kv_case({13, 36, 36, step, 3, 12, f}));
  all.push_back(kv_case({13, 36, 0, step, 3, 12, f}));
  all.push_back(kv_case({8, 32, 256, {4, 64, 8, 40, RowLayout::step, 1}, 33, 6, f}));  // sliced, as above
  for (const auto gate : {Activation::gelu_tanh, Activation::silu, Activation::gelu_erf, Activation::relu})
    for (const uint64_t rows : {1, 4}) all.push_back(gate_case(residual_case({rows, 56, 260, f}), gate));
  for (const uint64_t rows : {1, 5}) {
    all.push_back(norm_case(linear_case({rows, 130, 257, f}), NormFirst::layer));
    all.push_back(norm_case(kv_case({rows, 36, 36, step, 3, static_cast<uint32_t>(rows), f}), NormFirst::rms, false));
    all.push_back(norm_case(kv_case({rows, 36, 36, step, 3, static_cast<uint32_t>(rows), f}), NormFirst::layer));
  }
  for (const auto act :
       {Activation::none, Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu})
    add_norm_cases_of(all, act, f);
  add_small_cases(all, f);
  all.push_back(pass_case({{5, 1}, 36, 3, 12, 29, f}));
  all.push_back(pass_case({{3, 2}, 1200, 3, 12, 0, f}));
  all.push_back(pass_case({{40, 30}, 28, 3, 12, 21, f}));
}

// Cases that write halves, for every variant, with weights in this format.
void add_halves_cases(std::vector<OpCase>& all, WeightFormat f) {
  const auto step = [](uint32_t heads, uint32_t head_dim, uint32_t slots, uint32_t positions) {
    return KvShape{heads, head_dim, slots, positions, RowLayout::step, 1};
  };
  const auto add = [&](const KvCase& s) { all.push_back(kv_case(s)); };
  constexpr auto fp16 = KvFormat::fp16;
  add({1, 64, 64, step(4, 16, 4, 9), 5, 1, f, fp16});
  add({1, 20, 0, step(2, 8, 3, 5), 4, 1, f, fp16});
  for (const uint32_t q : {36, 0}) {
    add({13, 36, q, step(3, 12, 13, 5), 3, 12, f, fp16});
    add({35, 38, q, step(3, 12, 35, 5), 3, 33, f, fp16});
  }
  for (const uint64_t rows : {1, 5})
    for (const auto norm : {NormFirst::layer, NormFirst::rms})
      all.push_back(norm_case(kv_case({rows, 36, 36, step(3, 12, 13, 5), 3, static_cast<uint32_t>(rows), f, fp16}),
                              norm, norm == NormFirst::layer));
  all.push_back(pass_case({{5, 4, 3, 1, 5, 1}, 28, 3, 12, 21, f, fp16}));
  if (f != WeightFormat::fp32) return;  // the rest is the same for all formats
  add({7, 48, 48, step(4, 12, 7, 13), 0, 5, f, fp16});
  add({5, 50, 50, step(5, 10, 5, 6), 5, 4, f, fp16});      // q_columns not a multiple of 4
  add({5, 18, 18, step(6, 3, 5, 6), 5, 4, f, fp16});       // odd head size
  add({8, 256, 256, step(4, 64, 8, 80), 70, 6, f, fp16});  // sliced on devices with small bindings
  add({5, 64, 64, step(1, 64, 5, 400), 390, 4, f, fp16});  // slots that exceed small bindings
  all.push_back(pass_case({{3}, 24, 2, 8, 0, f, fp16}));
  all.push_back(pass_case({{5, 4, 3, 1, 5, 1}, 28, 4, 5, 21, f, fp16}));
  all.push_back(pass_case({{33, 1, 5, 130}, 64, 2, 32, 7, f, fp16}));
}

}  // namespace

graph::TensorId add_packed(graph::Graph& g, const std::string& name, const WeightLayout& layout) {
  return add_weight(g, name, layout.words(), dtype_of(layout.format));
}

HostTensor packed_values(const WeightLayout& layout, CaseRandom& random, double scale, bool grid) {
  const WeightLayout fp32(layout.n, layout.k);
  const auto value = [&](double size) {
    const double v = random.unit() * size;
    return static_cast<float>(grid ? on_grid(v) : v);
  };
  std::vector<float> values(fp32.words(), 0.0f);
  for (uint64_t c = 0; c < layout.n; ++c) {
    for (uint64_t r = 0; r < layout.k; ++r) values[fp32.word(c, r)] = value(scale);
    values[fp32.bias_word(c)] = value(1);
  }
  HostTensor v;
  if (layout.format == WeightFormat::fp32)
    v.f.assign(values.begin(), values.end());
  else
    v.u = pack_words(layout, values);
  return v;
}

std::vector<OpCase> matmul_cases() {
  std::vector<OpCase> all;
  for (uint64_t rows = 1; rows <= 17; ++rows) all.push_back(linear_case({rows, 67, 53}));
  for (const uint64_t n : {1, 3, 4, 31, 32, 33, 127, 130}) all.push_back(linear_case({5, n, 50}));
  for (const uint64_t k : {1, 2, 4, 7, 63, 64, 65, 257}) all.push_back(linear_case({9, 40, k}));
  for (const auto act :
       {Activation::relu, Activation::gelu_erf, Activation::gelu_tanh, Activation::silu, Activation::tanh}) {
    all.push_back(linear_case({35, 61, 12}, act));
    all.push_back(linear_case({1, 96, 64}, act));
    all.push_back(linear_case({1, 160, 32}, act));
    all.push_back(linear_case({5, 160, 32}, act));  // workgroups of wide products, small enough for the self-test
  }
  all.push_back(linear_case({131, 257, 127}));
  all.push_back(linear_case({64, 128, 96}));
  all.push_back(linear_case({33, 66, 512}));
  all.push_back(
      linear_case({35, 133, 100}));  // tiles of every size end inside rows and columns, and slices inside the depth
  all.push_back(linear_case({2, 64, 2051}, Activation::relu));  // deeper than a small binding
  all.push_back(residual_case({3, 40, 2051}));
  all.push_back(residual_case({1, 512, 128}));
  all.push_back(residual_case({17, 50, 50}));
  all.push_back(residual_case({35, 133, 44}));
  for (const uint64_t n : {28, 56, 100, 160})  // workgroups of narrow products and of wide ones
    for (const uint64_t rows : {1, 6}) all.push_back(residual_case({rows, n, 48}));
  all.push_back(residual_case({8, 64, 96}, 5));
  all.push_back(residual_case({70, 36, 32}, 33));  // tiles of every size without live rows
  all.push_back(linear_case({12, 64, 32}, Activation::none, 7));
  all.push_back(linear_case({70, 36, 32}, Activation::none, 16));
  all.push_back(linear_case({4, 8001, 64}, Activation::none, 3));  // logits; rows wider than half a small binding
  all.push_back(linear_case({2, 20011, 16}));                      // rows wider than a small binding
  add_kv_cases(all);
  add_pass_cases(all);
  add_norm_cases(all);
  add_gate_cases(all);
  add_small_cases(all, WeightFormat::fp32);
  for (const auto f : kNarrowFormats) add_format_cases(all, f);
  add_halves_cases(all, WeightFormat::fp32);
  for (const auto f : kNarrowFormats) add_halves_cases(all, f);
  all.push_back(linear_case({2, 58101, 512}));
  all.back().slow = true;
  all.push_back(linear_case({2, 65601, 512}));  // a table above 128 MiB
  all.back().slow = true;
  return all;
}

}  // namespace lapilli
