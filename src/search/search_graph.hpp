// The graphs of a search: what follows the logits of a step (processors, choice, bookkeeping), how sentences enter and
// start, and with the model's own graphs all that a workspace replays.
#pragma once

#include <cstdint>

#include "model/blocks/block.hpp"
#include "ops/search/search.hpp"
#include "search/workspace_key.hpp"

namespace lapilli {

// Tensors of the search state.
ops::SearchTensors search_tensors(model::Builder& b, const SessionShape& session);
SearchShape search_shape(const SessionShape& session);

// Search tail after the logits of a step of up to `rows` live rows: see ops/search/search.hpp.
struct TailOptions {
  uint32_t rows = 0;
  uint32_t candidates = 1;  // K of beam search; with one beam greedy search runs
  bool sample = false;      // draws instead of taking the best
  bool renormalize = false;
  bool timestamps = false;   // some sentence's ids follow the rules of timestamps
  bool keep_scores = false;  // keeps "logits" and "scores" as outputs
};
void build_tail(model::Builder& b, graph::TensorId logits, const SessionShape& session, const TailOptions& options);

// New sentences enter the session (ops/search/search.hpp, "admit"): as many at once as run. And their start: "advance"
// that counts nothing.
graph::Graph admit_graph(const model::Network& network, const SessionShape& session);
graph::Graph start_graph(const model::Network& network, const SessionShape& session);

// `rows` source ids at most; 0: as many as the key has room for.
graph::Graph encode_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows = 0);
graph::Graph given_graph(const model::Network& network, const WorkspaceKey& key);
// What is read back of it, where it is kept.
struct StepGraph {
  graph::Graph graph;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;
};
// The rows of given ids up to their logits.
StepGraph given_logits_graph(const model::Network& network, const WorkspaceKey& key);
// `rows` live rows at most; 0: all that run at a time.
StepGraph step_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows = 0);

}  // namespace lapilli
