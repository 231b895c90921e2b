// Self attention of a decoder with predicting streams (ProphetNet; see ops/attention/stream_attention.hpp for streams).
#pragma once

#include "model/blocks/attention_block.hpp"

namespace lapilli::model {

// The hidden states of the streams. The main one is kNone once nothing reads it any more.
struct Streams {
  graph::TensorId main = graph::kNone;
  std::vector<graph::TensorId> predicting;
};

// Context of a run: either a sequence or a step.
struct StreamRun {
  const SequenceAttention* sequence = nullptr;
  const StepAttention* step = nullptr;
  graph::TensorId kv = graph::kNone;  // a step: the layer's cache
  bool keep_main = true;              // false: only the main stream's keys and values are needed
};

// Each stream + out(attention(stream)), in place of the stream.
Streams stream_attention(Builder& b, const std::string& label, const AttentionLayer& layer, const Streams& x,
                         const StreamRun& given);

}  // namespace lapilli::model
