// The graphs of a search: logits processing and sampling of a step (with the bookkeeping), the admission and start of
// sentences, and, with the model's own graphs, all that a workspace replays.
#pragma once

#include <cstdint>

#include "model/blocks/block.hpp"
#include "ops/search/search.hpp"
#include "search/workspace_key.hpp"

namespace lapilli {

// Tensors of the search state.
ops::SearchTensors search_tensors(model::Builder& b, const SessionShape& session);
SearchShape search_shape(const SessionShape& session);

// Logits processing and sampling of a step of up to `rows` live rows: see ops/search/search.hpp.
struct SamplerOptions {
  uint32_t rows = 0;
  uint32_t candidates = 1;  // K of beam search; one beam means greedy search
  bool sample = false;      // draws instead of taking the best
  bool renormalize = false;
  bool timestamps = false;   // some sentence's ids follow the timestamp rules
  bool keep_scores = false;  // keeps "logits" and "scores" as outputs
};
void build_sampler(model::Builder& b, graph::TensorId logits, const SessionShape& session,
                   const SamplerOptions& options);

// Entry of new sentences (ops/search/search.hpp, "admit"), up to `running` at once, and their start: an "advance" that
// does not count as a step.
graph::Graph admit_graph(const model::Network& network, const SessionShape& session);
graph::Graph start_graph(const model::Network& network, const SessionShape& session);

// `rows`: the most source ids; 0: the key's limit.
graph::Graph encode_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows = 0);
graph::Graph prompt_graph(const model::Network& network, const WorkspaceKey& key);
// A step's graph, with the outputs that are read back if they are kept.
struct StepGraph {
  graph::Graph graph;
  graph::TensorId logits = graph::kNone, scores = graph::kNone;
};
// Runs rows of prompt ids up to their logits.
StepGraph prompt_logits_graph(const model::Network& network, const WorkspaceKey& key);
// `rows`: the most live rows; 0: all that run at a time.
StepGraph step_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows = 0);

}  // namespace lapilli
