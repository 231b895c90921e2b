// Graphs of a Transformer encoder-decoder: the encoder with the decoder's cross keys and values, one decoder step, and
// the whole decoder at once (teacher forcing).
#pragma once

#include <cstdint>

#include "graph/graph.hpp"
#include "model/blocks/block.hpp"
#include "ops/search.hpp"
#include "ops/state.hpp"

namespace lapilli::model {

// What a session has room for; the strides of everything that is addressed by slot.
struct SessionShape {
  uint32_t sentences = 0;  // at most kMaxRows
  uint32_t beams = 1;
  uint32_t source_positions = 0;  // of the cross keys and values
  uint32_t target_positions = 0;  // of the caches and the lineage
  uint32_t list_words = 0;        // room for prefix ids, suppressed ids, bad words
  [[nodiscard]] uint32_t slots() const { return sentences * beams; }
  friend bool operator==(const SessionShape&, const SessionShape&) = default;
};
KvShape self_kv_shape(const Config& config, const SessionShape& session);
KvShape cross_kv_shape(const Config& config, const SessionShape& session);

// Encoder over `batch` sources of up to `length` ids in StateKind::source_ids [batch, length], then the cross keys and
// values of every decoder layer into StateKind::cross_kv.
struct EncodeShape {
  uint32_t batch = 0, length = 0;
  SessionShape session;
};
void build_encode(Builder& b, const EncodeShape& shape);

// One decoder step for up to `rows` live rows; ends with the logits [rows, target vocabulary].
struct StepShape {
  uint32_t rows = 0;
  SessionShape session;
};
graph::TensorId build_step(Builder& b, const StepShape& shape);

// Tensors of the search state, for the tail of a step.
ops::SearchTensors search_tensors(Builder& b, const SessionShape& session);
SearchShape search_shape(const SessionShape& session);

// Search tail after the logits: see ops/search.hpp.
struct TailOptions {
  uint32_t candidates = 1;  // K of beam search; with one beam greedy search runs
  bool sample = false;      // draws instead of taking the best
  bool renormalize = false;
  bool keep_scores = false;  // keeps "logits" and "scores" as outputs
};
void build_tail(Builder& b, graph::TensorId logits, const SessionShape& session, const TailOptions& options);
// Before the first step.
void build_init(Builder& b, const SessionShape& session);

// Encoder and decoder over whole sequences. Outputs are kept under the reference's names.
struct ForwardShape {
  uint32_t batch = 0, source_length = 0, target_length = 0;
  bool hidden_states = false, attentions = false, logits = true;
};
void build_forward(Builder& b, const ForwardShape& shape);

}  // namespace lapilli::model
