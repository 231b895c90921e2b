// The decoder's layers, for one step and for whole sequences.
#pragma once

#include <algorithm>
#include <vector>

#include "model/blocks/attention_block.hpp"
#include "ops/products/embed.hpp"

namespace lapilli::model {

// What differs between one step and a whole sequence of the decoder.
struct DecoderRun {
  bool step = false;
  SequenceAttention self, cross;  // whole sequences
  StepAttention in_step;
  std::vector<graph::TensorId> cross_kv, self_kv;  // per layer; self_kv for steps
  bool keep_hidden_states = false, keep_attentions = false;
  std::vector<uint32_t> cross_layers;  // whose cross attention is kept, whatever keep_attentions says
  [[nodiscard]] bool keeps_cross(uint32_t layer) const {
    return keep_attentions || std::find(cross_layers.begin(), cross_layers.end(), layer) != cross_layers.end();
  }
};

// From what enters the first layer to what leaves the last one.
graph::TensorId decoder_layers(Builder& b, graph::TensorId x, DecoderRun& run);

// Decoders with predicting streams (ProphetNet): what leaves the last layer in each of the first `streams` of them. The
// first one gives the logits of the next token, and no stream reads another, so that decoding needs no more. `rows` and
// `attributes` are the main stream's; kept hidden states are the main stream's, kept cross attention the first
// predicting stream's.
struct IdRows;
std::vector<graph::TensorId> stream_decoder(Builder& b, const IdRows& rows, const EmbedAttributes& attributes,
                                            uint32_t streams, DecoderRun& run);
// Keeps their logits: those of the first one as "logits", of others as "logits_ngram.1" and so on.
void keep_stream_logits(Builder& b, const std::vector<graph::TensorId>& predicting);

}  // namespace lapilli::model
