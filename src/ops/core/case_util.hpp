// Building blocks of the ops' cases: reproducible values, single-node graphs, and host tensors for references.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ops/core/kv_layout.hpp"
#include "ops/core/op.hpp"
#include "ops/core/state.hpp"

namespace lapilli {

// A small generator that gives the same sequence on every platform.
class CaseRandom {
 public:
  explicit CaseRandom(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {}
  uint32_t word();
  uint32_t below(uint32_t n) { return n == 0 ? 0 : word() % n; }
  // Uniform in [-1, 1), exactly representable as float.
  double unit() { return (static_cast<double>(word() >> 8) - 8388608.0) / 8388608.0; }

 private:
  uint64_t state_;
};

// Values of an activation: random in the columns, zero in the padding.
HostTensor random_values(const graph::Tensor& tensor, CaseRandom& random, double scale = 1);
HostTensor words_of(std::vector<uint32_t> words);

// Tensors owned by a session or a model, for the graphs of cases.
graph::TensorId add_state(graph::Graph& g, const std::string& name, StateKind kind, uint64_t words, graph::DType dtype);
graph::TensorId add_weight(graph::Graph& g, const std::string& name, uint64_t words,
                           graph::DType dtype = graph::DType::f32);

// A cache, and numbers for it; halves are on a grid (on_grid).
graph::TensorId add_kv(graph::Graph& g, StateKind kind, const KvLayout& layout);
HostTensor kv_values(const KvLayout& layout, CaseRandom& random, double scale = 1);
// Suffix of a case's name for its cache format; empty for fp32.
std::string suffix(KvFormat format);
// The nearest multiple of 1/64. Sums of a few products of such numbers are exact in fp32 in any order, so rounding them
// to halves gives the same bits everywhere.
double on_grid(double number);
void put_on_grid(HostTensor& value);

// The step state: live rows and their row words. Row r is beam slot beam_slots[r] (or r past its end) at positions[r]
// (or the last of them). The tick differs from the positions.
HostTensor step_values(const std::vector<uint32_t>& positions, uint32_t live,
                       const std::vector<uint32_t>& beam_slots = {});
// Positions for `rows` rows, the largest first, some of them equal.
std::vector<uint32_t> mixed_positions(uint32_t largest, uint32_t rows);
graph::TensorId add_step(graph::Graph& g);  // StateKind::step
// [begin, end) per sentence; the tensor has entries for state::MAX_ROWS sentences.
graph::TensorId add_lengths(graph::Graph& g);
HostTensor length_values(const std::vector<std::pair<uint32_t, uint32_t>>& ranges);

// A pass of sentences with these numbers of ids; their slots differ from their numbers. Sets the case's live rows and
// tiles.
graph::TensorId add_spans(OpCase& c, const std::vector<uint32_t>& lengths);
// The slot of the i-th of n sentences in such a pass.
constexpr uint32_t span_slot(uint32_t i, uint32_t n) { return n - 1 - i; }

// Words of all tensors of a case.
uint64_t case_words(const OpCase& c);

// All tensors of a case with their inputs; roots that are only written hold NaN (f32) or 0xdeadbeef (u32), so that
// unwritten values are noticed.
HostTensors host_tensors(const OpCase& c);
// True if the node reads the root, or updates it in place through an output.
bool is_read(const graph::Graph& g, const graph::Node& node, graph::TensorId root);
bool is_written(const graph::Graph& g, const graph::Node& node, graph::TensorId root);

// Converts a tensor's values to the words that a device holds (f32 as floats), and back; `words` has one word per
// element.
void to_words(const graph::Tensor& t, const HostTensor& value, std::span<uint32_t> words);
void from_words(std::span<const uint32_t> words, const graph::Tensor& t, HostTensor& value);

// A device's results for a case, compared with the reference.
struct CaseComparison {
  double worst = 0;     // largest deviation / tolerance
  std::string problem;  // first value beyond the tolerance; empty: none
};
CaseComparison compare_case(const OpCase& c, HostTensors& got, HostTensors& want);

}  // namespace lapilli
