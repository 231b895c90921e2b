// Shared by "attention" and "attention_step".
#pragma once

#include <bit>
#include <cmath>
#include <vector>

#include "ops/attention/attention.hpp"
#include "ops/core/op.hpp"
#include "ops/core/state.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {

// The push constants that both begin with.
struct AttentionPush {
  LAPILLI_PUSH(uint32_t groups; uint32_t all_heads; uint32_t heads, head_begin; uint32_t slots, positions;
               uint32_t slot_begin, slot_end; uint32_t kv_begin; uint32_t q_begin, out_begin; uint32_t ld, out_ld;
               float scale; int32_t bias_low; uint32_t bias_last, bias_column;)
};

constexpr uint32_t kMaxHeadDim = 256;
inline bool heads_are_vec4(const KvShape& kv) { return kv.head_dim % 4 == 0; }
// Each invocation of a workgroup has at most two columns of a head (two vec4s if `vec4`); a chunk of 128 keys is
// divided evenly.
Numbers attention_numbers(const Capabilities& caps, Tuned kernel, const KvShape& kv, bool vec4);
Status check_attention(const LowerContext& context, const graph::Node& node, const Numbers& numbers, const KvShape& kv,
                       bool vec4);
// The kernel of attention_simple.comp with the macros of attention.comp's kernel `any`: the fallback where a driver
// miscompiles the latter; heads are not vec4 there.
ShaderId simple_of(ShaderId any);
// As few invocations as the columns of a head allow, since each does all the work.
Numbers simple_attention_numbers(const KvShape& kv);
// Each invocation visits all keys twice: do the loop limits allow that many (docs/inside/adding-an-op.md)?
bool simple_attention_fits(const KvShape& kv, uint64_t keys);
// Whole sequences read keys and values of their own run; steps read a cache (kv_layout.hpp).
enum class KvReader { sequence, step };
Status infer_heads(const graph::Graph& g, const graph::Node& node, const KvShape& kv, const RelativeBias& bias,
                   KvReader kv_reader);
// True if the context (output 0) is wide enough for the logarithms of sums.
bool has_log_sums(const graph::Graph& g, const graph::Node& node, const KvShape& kv);
// The largest part of a KV tensor that fits a binding: heads, and (slot, position) cells of each.
struct KvCells {
  uint64_t heads = 1, cells = 1;
};
Result<KvCells> kv_cells(const LowerContext& context, const graph::Node& node, const KvLayout& layout);
// A bias and its operands: a node's inputs `at` (distances) and `at` + 1 (values), at bindings 5 and 7.
struct NodeBias {
  const RelativeBias& bias;
  size_t at;
};
Status infer_bias(const graph::Graph& g, const graph::Node& node, const KvShape& kv, const NodeBias& of);
// For kernels that support values in q's rows only.
Status bind_distances(const LowerContext& context, const graph::Node& node, const NodeBias& of, Dispatch& d,
                      AttentionPush& push);
// Also appends the constant that says where the values are, after the kernel's other constants.
Status bind_bias(const LowerContext& context, const graph::Node& node, const NodeBias& of, Dispatch& d,
                 AttentionPush& push);
// For the references.
class HostBias {
 public:
  HostBias(const graph::Node& node, const KvShape& kv, const NodeBias& of, HostTensors& values);
  // `q_row`: the first value of the query's row of q.
  [[nodiscard]] double operator()(uint64_t key, uint64_t query, uint64_t head, const double* q_row) const;
  [[nodiscard]] uint64_t bucket(uint64_t key, uint64_t query) const;

 private:
  RelativeBias bias_;
  uint32_t heads_;
  const std::vector<double>*distances_ = nullptr, *values_ = nullptr;
};

// How many heads, and slots of each, one binding of kv holds; slots are cut at multiples of `unit`.
struct KvBlock {
  uint64_t heads = 1, slots = 1;
};
Result<KvBlock> kv_block(const LowerContext& context, const graph::Node& node, graph::TensorId kv_tensor,
                         const KvShape& kv, uint64_t unit);
// The constant for the number format of the node's input 1.
inline uint32_t kv_format(const LowerContext& context, const graph::Node& node) {
  return static_cast<uint32_t>(kv_format_of(context.graph.tensor(node.inputs[1]).dtype));
}
// Suffix of a node's tuning key for queries that share keys.
inline std::string group_tuning_key(const KvShape& kv) { return kv.group == 1 ? "" : format(" for %u each", kv.group); }
// Suffix of a node's tuning key for the format of the kv it reads.
inline const char* kv_tuning_key(const graph::Tensor& kv) {
  return kv_format_of(kv.dtype) == KvFormat::fp32 ? "" : ", kv in fp16";
}
// Binds heads [h0, h1) of keys and values in slots [s0, s1), at 1 or as texels, and sets the corresponding fields of
// `push`, whose heads are those of queries.
struct KvPart {
  uint64_t h0 = 0, h1 = 0, s0 = 0, s1 = 0;
};
struct KvBinding {
  graph::TensorId tensor = graph::kNone;
  uint32_t binding = 1;
};
Operand bind_kv(const LowerContext& context, const KvBinding& bound, const KvShape& kv, const KvPart& part,
                AttentionPush& push);

// The constant of score_cap.glsl.
inline uint32_t cap_constant(float cap) { return std::bit_cast<uint32_t>(cap == 0 ? 0.0f : cap); }
Status check_cap(const graph::Node& node, float cap);
inline double capped_score(double score, double cap) { return cap == 0 ? score : cap * std::tanh(score / cap); }

// One query of a head over the allowed keys in [begin, end): key j lies in slot_of(j) of the cache, in the cell of its
// position in a ring, and its score is capped, then gets bias(j). Writes head_dim values of context, and `end` weights
// unless null. Returns the logarithm of the softmax's denominator.
template <class SlotOf, class Allowed, class Bias>
struct HostQuery {
  const double* q;
  uint64_t head, begin, end;  // head: of the queries
  double scale;
  SlotOf slot_of;
  Allowed allowed;
  Bias bias;
  double *context, *weights;
  double cap = 0;
};
// Clang deduces an aggregate's types without this only since version 17.
template <class SlotOf, class Allowed, class Bias>
HostQuery(const double*, uint64_t, uint64_t, uint64_t, double, SlotOf, Allowed, Bias, double*, double*, double)
    -> HostQuery<SlotOf, Allowed, Bias>;
template <class SlotOf, class Allowed, class Bias>
double attend(const KvShape& kv, const HostKv& cache, const HostQuery<SlotOf, Allowed, Bias>& query,
              const double* sink = nullptr) {
  const auto& [q, head, begin, end, scale, slot_of, allowed, bias, context, weights, cap] = query;
  std::vector<double> p(end > begin ? end - begin : 0, 0.0);
  double top = sink ? *sink : -1e300, sum = 0;
  for (uint64_t j = begin; j < end; ++j) {
    if (!allowed(j)) continue;
    const uint64_t key = kv.number(head / kv.group, slot_of(j), j % kv.positions);
    double s = 0;
    for (uint32_t d = 0; d < kv.head_dim; ++d) s += q[d] * cache[key + d];
    s = capped_score(s * scale, cap) + bias(j);
    p[j - begin] = s;
    top = s > top ? s : top;
  }
  if (sink) sum = std::exp(*sink - top);
  for (uint64_t j = begin; j < end; ++j) sum += p[j - begin] = allowed(j) ? std::exp(p[j - begin] - top) : 0.0;
  for (uint32_t d = 0; d < kv.head_dim; ++d) context[d] = 0;
  for (uint64_t j = begin; j < end && sum > 0; ++j) {
    const uint64_t value = kv.number(head / kv.group, slot_of(j), j % kv.positions) + kv.head_dim;
    if (weights) weights[j] = p[j - begin] / sum;
    for (uint32_t d = 0; d < kv.head_dim; ++d) context[d] += p[j - begin] / sum * cache[value + d];
  }
  return sum > 0 ? top + std::log(sum) : static_cast<double>(state::MASKED);
}

}  // namespace lapilli
