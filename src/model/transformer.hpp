// Graphs of a Transformer: the encoder with the decoder's cross keys and values, rows of given decoder ids, one decoder
// step, and the whole network at once (teacher forcing). A model may lack either side.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "model/blocks/block.hpp"
#include "ops/attention/attention.hpp"
#include "ops/core/state.hpp"

namespace lapilli::model {

// Capacity for decoding: the strides of all tensors addressed by slot or beam slot.
struct DecodeRoom {
  uint32_t slots = 0;  // sentences; beam_slots() is at most state::MAX_ROWS
  uint32_t beams = 1;
  uint32_t source_positions = 0;  // of the cross keys and values
  uint32_t target_positions = 0;  // of the caches and the lineage
  [[nodiscard]] uint32_t beam_slots() const { return slots * beams; }
};
// The cache of a layer.
KvShape self_kv_shape(const Config& config, const DecodeRoom& room, uint32_t layer);
KvShape cross_kv_shape(const Config& config, const DecodeRoom& room);

// States that the decoder reads besides keys and values: the live rows, their ids and ancestry, the sources' lengths.
struct DecodeStates {
  graph::TensorId step = graph::kNone, lineage = graph::kNone, lengths = graph::kNone;
};
DecodeStates decode_states(Builder& b, const DecodeRoom& room);

// An encode pass: the encoder over up to `rows` source ids of any number of the session's sentences, packed in
// StateKind::source_ids as in StateKind::spans, then the cross keys and values of every decoder layer into
// StateKind::cross_kv. Grids follow the pass's rows and tiles; their arguments are in StateKind::encode_grids.
struct EncodeShape {
  uint32_t rows = 0;
  DecodeRoom room;
};
void build_encode(Builder& b, const EncodeShape& shape);

// The decoder over up to `rows` rows of prompt ids (beam slots and positions in StateKind::prompt), for their keys and
// values; optionally with logits, an output of that name [rows, target vocabulary].
struct PromptShape {
  uint32_t rows = 0;
  bool logits = false;
  DecodeRoom room;
};
void build_prompt(Builder& b, const PromptShape& shape);

// One decoder step for up to `rows` live rows; ends with the logits [rows, target vocabulary].
struct StepShape {
  uint32_t rows = 0;
  DecodeRoom room;
  graph::TensorId masks = graph::kNone;  // the ids that each row may write (ops/search/shortlist.hpp); kNone: all
};
graph::TensorId build_step(Builder& b, const StepShape& shape);

// Encoder and decoder over whole sequences. Outputs are kept under the reference's names.
struct ForwardShape {
  uint32_t batch = 0, source_length = 0, target_length = 0;
  // Not 0: an encoder alone, whose sources are packed into at most this many rows, as in an encode pass (StateKind::
  // spans). Attention weights are not kept then.
  uint32_t rows = 0;
  bool hidden_states = false, attentions = false, logits = true;
  bool token_scores = false;     // of a model that writes: nothing but the scores of the targets' ids
  std::optional<HeadKind> only;  // an encoder alone: nothing but the results of these heads is computed
  uint32_t prompt_rows = 0;      // rows of a prompt at the beginning of each source, for HeadConfig::pools_prompt
  uint32_t head_rows = 0;        // not 0: heads of each row read this many chosen ones (StateKind::head_spans)
  uint32_t memory_rows = 0;      // the most rows of memory of a source (StateKind::memory)
  uint32_t features = 0;         // the most rows of features of one source, if sources are features
  bool masked = false, two_streams = false;  // as in EncoderRun
  std::vector<uint32_t> cross_layers;        // layers whose cross attention is kept, without `attentions`
};
void build_forward(Builder& b, const ForwardShape& shape);

}  // namespace lapilli::model
