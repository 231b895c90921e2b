// Shared by the elementwise ops. They cover a tensor as lines, each cut into groups: a line is a row where the grid
// follows the live rows, otherwise all elements of a dispatch (shaders/lib/lines.glsl).
#pragma once

#include <vector>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli::elementwise {

struct Slice {
  uint64_t begin = 0, end = 0;  // elements of the output
  uint64_t line = 0;            // elements
  uint64_t per_line = 1, groups = 1;
  bool live = false;  // the grid may follow the live rows: lines are rows

  void follow(Dispatch& d) const {
    if (live) follow_live_rows(d, static_cast<uint32_t>(per_line), 1);
  }
};

// `block`: elements per group, a multiple of 4. Slices begin at multiples of it and fit the bindings.
Result<std::vector<Slice>> slices(const LowerContext& context, const graph::Node& node, const graph::Tensor& tensor,
                                  uint64_t block);

// Push constants of elementwise.comp: lengths and places are in vec4s.
struct Push {
  LAPILLI_PUSH(uint32_t groups, per_line, line, x_begin, y_begin;)
};
struct Side {
  graph::TensorId tensor;
  graph::Access access;
};
// Sets groups and operands of a dispatch over a slice: x at binding 0, y at 1.
Push bind_vectors(const LowerContext& context, const Slice& slice, const Side& x, const Side& y, Dispatch& d);

const char* name(Activation activation);
Status expect_activation(const graph::Node& node, Activation last = kLastActivation);

// ---- "gate" and "power", which join the two halves of each line of x --------------------------------------------

// Checks x [rows, round_up(cols, 4) + cols] for y [rows, cols], all of whole vectors.
Status expect_halves(const graph::Graph& g, const graph::Node& node);
struct HalvesKernel {
  ShaderId shader{};
  std::vector<uint32_t> constants;  // begins with workgroup size and elements per invocation
  double cost = 1;                  // per element
};
Status lower_halves(const LowerContext& context, const graph::Node& node, const HalvesKernel& kernel,
                    std::vector<Dispatch>& out);
// y = join(first half, second half); the padding is zero.
template <class Join>
void join_halves(const graph::Graph& g, const graph::Node& node, HostTensors& values, const Join& join) {
  const auto &tx = g.tensor(node.inputs[0]), &ty = g.tensor(node.outputs[0]);
  const auto& x = values.at(node.inputs[0]).f;
  auto& y = values.at(node.outputs[0]).f;
  for (uint64_t r = 0; r < ty.rows; ++r)
    for (uint64_t c = 0; c < ty.ld; ++c)
      y[r * ty.ld + c] = c < ty.cols ? join(x[r * tx.ld + c], x[r * tx.ld + gate_value_column(ty.cols) + c]) : 0.0;
}
// Values of x for cases; the gap between the halves is zero, as from zero columns.
HostTensor random_halves(const graph::Tensor& x, uint64_t cols, CaseRandom& random, double scale = 1);

// ---- "copy" and "transpose", which move words of any type -------------------------------------------------------

// Checks that x exists and y does not overlap it.
Status expect_source(const graph::Graph& g, const graph::Node& node);
// y[r, c] = element `from(r, c)` of x; the padding is zero.
template <class From>
void move_words(const graph::Graph& g, const graph::Node& node, HostTensors& values, const From& from) {
  const auto& t = g.tensor(node.outputs[0]);
  auto &x = values.at(node.inputs[0]), &y = values.at(node.outputs[0]);
  const bool f32 = t.dtype == graph::DType::f32;
  for (uint64_t r = 0; r < t.rows; ++r)
    for (uint64_t c = 0; c < t.ld; ++c) {
      if (f32)
        y.f[r * t.ld + c] = c < t.cols ? x.f[from(r, c)] : 0.0;
      else
        y.u[r * t.ld + c] = c < t.cols ? x.u[from(r, c)] : 0u;
    }
}

}  // namespace lapilli::elementwise
