// Attention sublayers: over whole sequences (encoder, teacher forcing) and for one step of decoding.
#pragma once

#include "model/blocks/beside_layers.hpp"
#include "model/blocks/block.hpp"

namespace lapilli::model {

// A sublayer's stack and weights.
struct AttentionLayer {
  const StackConfig& stack;
  const AttentionWeights& w;
};

// Attention over whole sequences: the ends of keys, and outputs to keep.
struct SequenceAttention {
  uint32_t batch = 0, queries = 0, keys = 0;
  bool causal = false;
  graph::TensorId lengths = graph::kNone;  // numbers of keys
  // Replaces lengths in an encode pass, which has `queries` rows of at most `batch` sentences with at most `keys` ids
  // each.
  graph::TensorId spans = graph::kNone;
  std::string keep_weights;  // name of the output that keeps the attention weights; empty: not kept
  // Window attention: keys before and behind a query, and the list of global positions, if there are any. If its
  // weights are kept, it costs as much as attention to all keys, whose bias hides those outside.
  uint32_t window = kNoWindow, window_after = 0;
  graph::TensorId globals = graph::kNone;
  // Keys before the first query's: the layer's input in an earlier segment, normalized where the layer's is; `keys`
  // counts them.
  graph::TensorId memory = graph::kNone;
  uint32_t past = kNoWindow;  // with `causal` and terms: keys before its own that a query sees
  // For terms of relative positions, and of segments.
  DistanceRows distances;
  graph::TensorId segments = graph::kNone;
  // Bits of keys that queries do not see (RelativeTerms::by_mask), and the row of the first query's.
  graph::TensorId mask = graph::kNone;
  uint32_t mask_row = 0;
};

// x + out(attention(h)), in place of x; keys and values from h itself.
graph::TensorId self_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                               const SequenceAttention& how);
// As self_attention, for two streams of as many rows (Yang et al. 2019): the second one's queries see the keys and
// values of the first one. In the mask the second one's rows follow those of the first.
struct TwoStreams {
  graph::TensorId first = graph::kNone, second = graph::kNone;
};
TwoStreams two_stream_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const TwoStreams& x,
                                const SequenceAttention& how);
// As self_attention, within the windows of maps: in.h and in.x are rows of these.
graph::TensorId map_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                              const SwinWindows& map);
// As self_attention, with in.kv from cross_keys_values().
graph::TensorId cross_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Sublayer& in,
                                const SequenceAttention& how);
// As self_attention, in stacks with merged attention: one softmax over the decoder's own keys and those of the source,
// source_kv from cross_keys_values().
struct MergedLayer {
  AttentionLayer own, source;
};
struct MergedSequences {
  const SequenceAttention &own, &source;
};
graph::TensorId merged_attention(Builder& b, const std::string& label, const MergedLayer& layer, const Sublayer& in,
                                 graph::TensorId source_kv, const MergedSequences& how);
// Keys and values of an encoder's output for one decoder layer.
void cross_keys_values(Builder& b, const std::string& label, const AttentionLayer& layer, graph::TensorId memory,
                       const ops::KvTarget& to);
// A KV tensor in the arena.
graph::TensorId kv_activation(Builder& b, const std::string& label, const KvShape& shape);

// The state that attention reads in a step, with its strides.
struct StepAttention {
  ops::StepTensors state;
  uint32_t beams = 1;
  KvShape self, cross;
  uint32_t lineage_beam_slots = 0, lineage_positions = 0;
  uint32_t window = kNoWindow;            // of the layer: positions before its own that a row sees
  bool prompt = false;                    // all rows are of prompts
  graph::TensorId search = graph::kNone;  // for recurrent decoders: tells rows of prompts, or kNone
};
graph::TensorId self_attention_step(Builder& b, const std::string& label, const AttentionLayer& layer,
                                    const Sublayer& in, const StepAttention& how);
graph::TensorId cross_attention_step(Builder& b, const std::string& label, const AttentionLayer& layer,
                                     const Sublayer& in, const StepAttention& how);
graph::TensorId merged_attention_step(Builder& b, const std::string& label, const MergedLayer& layer,
                                      const Sublayer& in, graph::TensorId source_kv, const StepAttention& how);

}  // namespace lapilli::model
