// Graphs of a Transformer encoder-decoder: the encoder with the decoder's cross keys and values, rows of given decoder ids,
// one decoder step, and the whole decoder at once (teacher forcing).
#pragma once

#include <cstdint>

#include "graph/graph.hpp"
#include "model/blocks/block.hpp"
#include "ops/search.hpp"
#include "ops/state.hpp"

namespace lapilli::model {

// What a session has room for; the strides of everything that is addressed by slot.
struct SessionShape {
  uint32_t places = 0;  // sentences that are there at a time, running or waiting; slots() is at most kMaxRows
  uint32_t beams = 1;
  uint32_t running = 0;           // sentences that run at a time
  uint32_t source_positions = 0;  // of the cross keys and values
  uint32_t target_positions = 0;  // of the caches and the lineage
  uint32_t list_words = 0;        // room for suppressed ids, bad words, source ids
  uint32_t inbox_words = 0;       // what one admission brings
  uint32_t log_ticks = 0;         // rows of the log, a power of two
  [[nodiscard]] uint32_t slots() const { return places * beams; }
  [[nodiscard]] uint32_t rows() const { return running * beams; }
  friend bool operator==(const SessionShape&, const SessionShape&) = default;
};
KvShape self_kv_shape(const Config& config, const SessionShape& session);
KvShape cross_kv_shape(const Config& config, const SessionShape& session);

// An encode pass: the encoder over up to `rows` source ids of any number of the session's sentences, one after another
// in StateKind::source_ids as StateKind::spans says, then the cross keys and values of every decoder layer into
// StateKind::cross_kv. Grids follow the pass's rows and tiles; their arguments are in StateKind::encode_grids.
struct EncodeShape {
  uint32_t rows = 0;
  SessionShape session;
};
void build_encode(Builder& b, const EncodeShape& shape);

// New sentences enter the session (ops/search.hpp, "admit"): up to `sentences` at once. And their start: "advance" that
// counts nothing.
void build_admit(Builder& b, const SessionShape& session, uint32_t sentences);
void build_start(Builder& b, const SessionShape& session);

// The decoder over up to `rows` rows of given ids (StateKind::given says which slots and positions), for their keys and
// values; with logits for the reader who wants them: an output of that name [rows, target vocabulary].
struct GivenShape {
  uint32_t rows = 0;
  bool logits = false;
  SessionShape session;
};
void build_given(Builder& b, const GivenShape& shape);

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
// For a step of up to `shape.rows` live rows.
void build_tail(Builder& b, graph::TensorId logits, const StepShape& shape, const TailOptions& options);

// Encoder and decoder over whole sequences. Outputs are kept under the reference's names.
struct ForwardShape {
  uint32_t batch = 0, source_length = 0, target_length = 0;
  bool hidden_states = false, attentions = false, logits = true;
};
void build_forward(Builder& b, const ForwardShape& shape);

}  // namespace lapilli::model
