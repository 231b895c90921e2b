// The decoder's layers, for one step and for whole sequences; a decoder alone has no cross attention.
#pragma once

#include <algorithm>
#include <vector>

#include "model/blocks/attention_block.hpp"
#include "ops/products/embed.hpp"

namespace lapilli::model {

// Differences between a decoder step and a whole sequence.
struct DecoderRun {
  bool step = false;
  SequenceAttention self, cross;  // whole sequences
  StepAttention in_step;
  std::vector<graph::TensorId> cross_kv, self_kv;  // per layer; self_kv for steps
  std::vector<graph::TensorId> cells;              // likewise, with cells
  std::vector<KvShape> self_shapes;                // per layer, for steps
  bool keep_hidden_states = false, keep_attentions = false;
  uint32_t memory_rows = 0;            // whole sequences: the most rows of memory of one
  std::vector<uint32_t> cross_layers;  // layers whose cross attention is kept regardless of keep_attentions
  [[nodiscard]] bool keeps_cross(uint32_t layer) const {
    return keep_attentions || std::find(cross_layers.begin(), cross_layers.end(), layer) != cross_layers.end();
  }
};

// From the input of the first layer to the output of the last.
graph::TensorId decoder_layers(Builder& b, graph::TensorId x, DecoderRun& run);

// Decoders with predicting streams (ProphetNet): the last layer's output for the first `streams` of them. The first
// gives the logits of the next token, and no stream reads another, so decoding needs only that one. `rows` and
// `attributes` are the main stream's; hidden states are kept of the main stream, cross attention of the first
// predicting stream.
struct IdRows;
std::vector<graph::TensorId> stream_decoder(Builder& b, const IdRows& rows, const EmbedAttributes& attributes,
                                            uint32_t streams, DecoderRun& run);
// Keeps their logits: the first one's as "logits", the others' as "logits_ngram.1" and so on.
void keep_stream_logits(Builder& b, const std::vector<graph::TensorId>& predicting);

}  // namespace lapilli::model
