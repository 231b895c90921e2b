#include "search/search_graph.hpp"

#include "ops/search/shortlist.hpp"

namespace lapilli {

ops::SearchTensors search_tensors(model::Builder& b, const SessionShape& session) {
  const model::DecodeStates decode = decode_states(b, session.room());
  ops::SearchTensors s;
  s.step = decode.step;
  s.lineage = decode.lineage;
  s.search = b.state(state_id(StateKind::search), "search", session.slots, state::search_stride(session.beams));
  s.log = b.state(state_id(StateKind::log), "log", session.log_ticks, state::log_stride(session.rows()));
  s.lists = b.state(state_id(StateKind::lists), "lists", 1, session.list_words);
  s.grids = b.state(state_id(StateKind::grids), "grids", state::MAX_GRIDS, state::GRID_STRIDE);
  s.inbox = b.state(state_id(StateKind::inbox), "inbox", 1, session.inbox_words);
  s.lengths = decode.lengths;
  return s;
}

SearchShape search_shape(const SessionShape& session) {
  SearchShape s;
  s.beam_slots = session.beam_slots();
  s.positions = session.target_positions;
  s.beams = session.beams;
  s.slots = session.slots;
  s.rows = session.rows();
  s.ticks = session.log_ticks;
  return s;
}

void build_sampler(model::Builder& b, graph::TensorId logits, const SessionShape& session,
                   const SamplerOptions& options) {
  const auto s = search_tensors(b, session);
  const auto shape = search_shape(session);
  if (options.keep_scores) b.keep_copy("logits", logits);
  auto scores = logits;
  if (session.beams > 1) scores = ops::log_softmax(b.g(), "log_softmax", scores, s.step);
  scores = ops::processors(b.g(), "processors", scores, s, {shape, options.timestamps ? 1u : 0u});
  if (options.sample) scores = ops::warp(b.g(), "warp", scores, s, {session.beams});
  if (options.renormalize) scores = ops::log_softmax(b.g(), "renormalize", scores, s.step);
  if (options.keep_scores) b.keep_copy("scores", scores);
  if (session.beams > 1) {
    const auto candidates = options.sample
                                ? ops::draw_k(b.g(), "draw_k", scores, s, {options.candidates, 0, session.beams})
                                : ops::top_k(b.g(), "top_k", scores, s.step, options.candidates);
    ops::beam_step(b.g(), "beam_step", candidates, s, {shape, options.candidates, 1, options.sample ? 1u : 0u});
  } else {
    const auto best =
        options.sample ? ops::draw_one(b.g(), "draw_one", scores, s) : ops::argmax(b.g(), "argmax", scores, s.step);
    ops::greedy_step(b.g(), "greedy_step", best, s, {shape, 1, 1, options.sample ? 1u : 0u});
  }
  ops::advance(b.g(), s, {shape, options.rows, 1});
}

namespace {

template <class Build>
graph::Graph built(const model::Network& network, Build&& build) {
  graph::Graph g;
  model::Builder b(network, g);
  build(b);
  return g;
}

graph::TensorId output(const model::Builder& b, const char* name) {
  for (const auto& o : b.outputs())
    if (o.name == name) return o.tensor;
  return graph::kNone;
}

}  // namespace

graph::Graph admit_graph(const model::Network& network, const SessionShape& session) {
  return built(network, [&](model::Builder& b) {
    ops::admit(b.g(), search_tensors(b, session), {search_shape(session), session.running});
  });
}

graph::Graph start_graph(const model::Network& network, const SessionShape& session) {
  return built(network, [&](model::Builder& b) {
    ops::advance(b.g(), search_tensors(b, session), {search_shape(session), session.rows(), 0});
  });
}

graph::Graph encode_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows) {
  return built(network, [&](model::Builder& b) {
    model::build_encode(b, {rows ? rows : key.encode_rows, key.shape.room()});
  });
}

graph::Graph prompt_graph(const model::Network& network, const WorkspaceKey& key) {
  return built(network, [&](model::Builder& b) { model::build_prompt(b, {key.prompt_rows, false, key.shape.room()}); });
}

StepGraph prompt_logits_graph(const model::Network& network, const WorkspaceKey& key) {
  StepGraph s;
  model::Builder b(network, s.graph);
  model::build_prompt(b, {key.logits_rows, true, key.shape.room()});
  s.logits = output(b, "logits");
  return s;
}

StepGraph step_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows) {
  StepGraph s;
  model::Builder b(network, s.graph);
  if (rows == 0) rows = key.shape.rows();
  model::StepShape shape{rows, key.shape.room()};
  if (key.shortlist)
    shape.masks = ops::row_masks(b.g(), "masks", search_tensors(b, key.shape), rows, network.config.target_vocabulary,
                                 key.shape.beams);
  const auto logits = model::build_step(b, shape);
  build_sampler(b, logits, key.shape, {rows, key.candidates, key.sample, key.renormalize, key.timestamps, key.capture});
  s.logits = output(b, "logits");
  s.scores = output(b, "scores");
  return s;
}

}  // namespace lapilli
