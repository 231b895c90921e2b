// Logits processing and sampling of a decoding step: log-softmax, processors, selection, bookkeeping. The rules
// are those of the reference implementation (transformers 5), see docs/use/decoding.md. State words:
// ops/core/state.hpp.
//
// Greedy:  logits -> processors -> argmax -> greedy_step -> advance
// Beams:   logits -> log_softmax -> processors (-> log_softmax if renormalizing) -> top_k -> beam_step -> advance
// Sampling inserts warp after the processors; argmax and top_k then take the best of scores plus random numbers
// (ops/search/draw.hpp), which draws from their softmax, one id or K of them without replacement.
#pragma once

#include "graph/graph.hpp"
#include "ops/core/state.hpp"

namespace lapilli {

// Session strides that search ops need; fixed per plan.
struct SearchShape {
  uint32_t beam_slots = 0;  // slots * beams
  uint32_t positions = 0;   // capacity of the caches and the lineage
  uint32_t beams = 1;
  uint32_t slots = 0;  // concurrent sentences
  uint32_t rows = 0;   // most rows that run at a time; the entries in a row of the log
  uint32_t ticks = 0;  // rows of the log, a power of two
};

// "log_softmax": rows over all columns, in place; x - max - log(sum exp). inputs: x, step (the live rows).
// "processors": logits or log-probabilities [rows, vocabulary] in place, in the reference's order; attributes:
// ProcessorsAttributes. "warp": scores [rows, vocabulary] in place: temperature, then the sampling filters in the
// reference's order, which
//   forbid ids: top_h, top_k, top_p, min_p, typical_p, epsilon, eta. attributes: WarpAttributes.
// "argmax": per row and slice of the vocabulary the best score (lowest id among equals) and the slice's log-sum-exp.
//   outputs: partials u32 [rows, 4 * slices]: score (float), id, maximum (float), sum of exp(x - maximum) (float); when
//   drawing: key (score plus its random number, float), id, score (float), log-sum-exp (float) of the best key.
// "top_k": per row and slice the best `candidates` (score descending, then id ascending).
//   outputs: u32 [rows, 2 * candidates * slices]: score (float), id; missing ones score state::MASKED, id 0xffffffff.
//   When drawing by key: u32 [rows, 4 * candidates * slices]: key (float), id, score (float), 0.
struct ProcessorsAttributes {
  SearchShape shape;
  uint32_t whole_rows = 1;  // 0: no sentence uses rules that need a whole row (timestamps)
};
struct WarpAttributes {
  uint32_t beams = 1;
};
struct SelectAttributes {
  uint32_t candidates = 1;  // K
  uint32_t slice = 0;       // columns per slice
  uint32_t draw_beams = 0;  // not 0: draws; beams per sentence
};
// A sentence with scores that are not numbers ends there, without a result; the others go on.
// "greedy_step", "beam_step": from partials/candidates to search, lineage and log. attributes: StepAttributes.
struct StepAttributes {
  SearchShape shape;
  uint32_t candidates = 1, slices = 1;
  uint32_t drawn = 0;  // 1: partials or candidates were drawn
};
// "admit": moves new sentences from the inbox to their slots: options, search state, lineage of the prompt ids,
// lengths, lists; they wait in the queue. "advance": runs after all sentences have stepped: their next positions,
// sentences that start, the rows of the next step, log header, grids. attributes: AdvanceAttributes.
struct AdmitAttributes {
  SearchShape shape;
  uint32_t sentences = 0;  // sentence capacity of the inbox
};
struct AdvanceAttributes {
  SearchShape shape;
  uint32_t rows = 0;    // row capacity of the plan's steps
  uint32_t counts = 1;  // 0: nothing has stepped; only packs rows and starts sentences
};

namespace ops {
struct SearchTensors {
  graph::TensorId step = graph::kNone, lineage = graph::kNone, search = graph::kNone, log = graph::kNone,
                  lists = graph::kNone, grids = graph::kNone, inbox = graph::kNone, lengths = graph::kNone;
};
graph::TensorId log_softmax(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId step);
graph::TensorId processors(graph::Graph& g, const std::string& label, graph::TensorId logits,
                           const SearchTensors& state, const ProcessorsAttributes& attributes);
graph::TensorId warp(graph::Graph& g, const std::string& label, graph::TensorId scores, const SearchTensors& state,
                     const WarpAttributes& attributes);
// Draw one id from each row's softmax, or K of them; for greedy_step and beam_step with `drawn`.
graph::TensorId draw_one(graph::Graph& g, const std::string& label, graph::TensorId scores, const SearchTensors& state);
graph::TensorId draw_k(graph::Graph& g, const std::string& label, graph::TensorId scores, const SearchTensors& state,
                       const SelectAttributes& attributes);
graph::TensorId argmax(graph::Graph& g, const std::string& label, graph::TensorId logits, graph::TensorId step);
graph::TensorId top_k(graph::Graph& g, const std::string& label, graph::TensorId logits, graph::TensorId step,
                      uint32_t candidates);
// `attributes`: shape, candidates and drawn; slices are derived from the operand.
void greedy_step(graph::Graph& g, const std::string& label, graph::TensorId partials, const SearchTensors& state,
                 StepAttributes attributes);
void beam_step(graph::Graph& g, const std::string& label, graph::TensorId candidates, const SearchTensors& state,
               StepAttributes attributes);
void admit(graph::Graph& g, const SearchTensors& state, const AdmitAttributes& attributes);
void advance(graph::Graph& g, const SearchTensors& state, const AdvanceAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
