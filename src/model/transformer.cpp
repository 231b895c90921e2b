#include "model/transformer.hpp"

#include "model/blocks/attention_block.hpp"
#include "model/blocks/embedding.hpp"
#include "model/blocks/feed_forward.hpp"
#include "model/blocks/head.hpp"
#include "model/blocks/memory.hpp"
#include "model/blocks/norm.hpp"
#include "model/blocks/output.hpp"
#include "model/blocks/recurrent_cell.hpp"
#include "model/blocks/token_scores.hpp"
#include "model/decoder.hpp"
#include "model/encoder.hpp"

namespace lapilli::model {

KvShape self_kv_shape(const Config& config, const DecodeRoom& room, uint32_t layer) {
  KvShape kv;
  kv.heads = config.decoder.kv_heads();
  kv.group = config.decoder.group();
  kv.head_dim = config.decoder.head_dim;
  kv.slots = room.beam_slots();
  kv.positions = config.decoder.cache_positions(layer, room.target_positions);
  kv.layout = RowLayout::step;
  return kv;
}

KvShape cross_kv_shape(const Config& config, const DecodeRoom& room) {
  KvShape kv = self_kv_shape(config, room, 0);
  kv.slots = room.slots;
  kv.positions = room.source_positions;
  kv.layout = RowLayout::batch;
  return kv;
}

namespace {

graph::TensorId kv_state(Builder& b, StateKind kind, uint32_t layer, const KvShape& shape) {
  const KvLayout layout(shape, b.network().kv_format);
  return b.state(state_id(kind, layer), format("%s.%u", kind == StateKind::self_kv ? "self_kv" : "cross_kv", layer),
                 uint64_t{shape.heads} * shape.slots * shape.positions, layout.cell_words(), dtype_of(layout.format));
}

// The cross attention of layer `i`.
graph::TensorId cross_sublayer(Builder& b, graph::TensorId x, uint32_t i, DecoderRun& run) {
  const std::string label = format("decoder.%u.cross", i);
  const AttentionLayer layer{b.config().decoder, b.network().decoder.layers[i].cross};
  const auto h = before_sublayer(b, label + ".norm", {layer.stack, layer.w.norm}, x);
  if (run.step) {
    x = cross_attention_step(b, label, layer, {h, x, run.cross_kv[i]}, run.in_step);
  } else {
    x = cross_attention(b, label, layer, {h, x, run.cross_kv[i]}, run.cross);
  }
  return after_sublayer(b, label + ".norm", {layer.stack, layer.w.norm}, x);
}

// Sets what differs from layer to layer.
void set_layer(Builder& b, uint32_t i, DecoderRun& run) {
  const StackConfig& s = b.config().decoder;
  const AttentionWeights& w = b.network().decoder.layers[i].self;
  if (run.step) {
    run.in_step.self = run.self_shapes[i];
    run.in_step.window = s.window(i);
    return;
  }
  run.self.window = s.recurrent ? kNoWindow : s.window(i);
  run.self.window_after = s.windows_after.empty() ? 0 : s.windows_after[i];
  run.self.memory = memory_of_layer(b, format("decoder.%u", i), {s, w.norm}, {run.self.batch, run.memory_rows, i});
  const bool kept = run.self.window == kNoWindow || w.relative_bias != kNoWeight;
  run.self.keep_weights = run.keep_attentions && kept ? format("decoder_attentions.%u", i) : "";
}

// The self attention of layer `i`, which may see the source as well.
graph::TensorId self_sublayer(Builder& b, graph::TensorId x, uint32_t i, DecoderRun& run) {
  const std::string label = format("decoder.%u.self", i);
  const StackConfig& s = b.config().decoder;
  const LayerWeights& w = b.network().decoder.layers[i];
  set_layer(b, i, run);
  const auto h = before_sublayer(b, label + ".norm", {s, w.self.norm}, x);
  const Sublayer in{h, x, run.step ? run.self_kv[i] : graph::kNone};
  const MergedLayer merged{{s, w.self}, {s, w.cross}};
  if (s.merged_attention && !run.cross_kv.empty())
    x = run.step ? merged_attention_step(b, label, merged, in, run.cross_kv[i], run.in_step)
                 : merged_attention(b, label, merged, in, run.cross_kv[i], {run.self, run.cross});
  else
    x = run.step ? self_attention_step(b, label, merged.own, in, run.in_step)
                 : self_attention(b, label, merged.own, in, run.self);
  return after_sublayer(b, label + ".norm", {s, w.self.norm}, x);
}

// The recurrent cell of layer `i`.
graph::TensorId cell_sublayer(Builder& b, graph::TensorId x, uint32_t i, const DecoderRun& run) {
  const StackConfig& s = b.config().decoder;
  const std::string label = format("decoder.%u.cell", i);
  const AttentionWeights& w = b.network().decoder.layers[i].self;
  const auto h = before_sublayer(b, label + ".norm", {s, w.norm}, x);
  const StepAttention& step = run.in_step;
  x = run.step ? recurrent_cell_step(b, label, w, {h, x, run.cells[i]}, step)
               : recurrent_cell(b, label, w, {h, x}, run.self.queries);
  return after_sublayer(b, label + ".norm", {s, w.norm}, x);
}

// Keeps states between the layers as the reference has them.
void keep_states(Builder& b, const std::string& name, graph::TensorId x) {
  const float scale = b.config().decoder.state_scale;
  if (scale == 1) return b.keep_copy(name, x);
  b.keep(name, ops::scale(b.g(), name, x, scale));
}

}  // namespace

graph::TensorId decoder_layers(Builder& b, graph::TensorId x, DecoderRun& run) {
  const StackConfig& s = b.config().decoder;
  const StackWeights& w = b.network().decoder;
  for (uint32_t i = 0; i < s.layers; ++i) {
    const LayerWeights& layer = w.layers[i];
    const std::string label = format("decoder.%u", i);
    run.cross.keep_weights = run.keeps_cross(i) ? format("cross_attentions.%u", i) : "";
    x = s.cells ? cell_sublayer(b, x, i, run) : self_sublayer(b, x, i, run);
    if (!run.cross_kv.empty() && !s.merged_attention) x = cross_sublayer(b, x, i, run);
    const auto h = before_sublayer(b, label + ".norm", {s, layer.norm}, x);
    x = feed_forward(b, label, s, layer, {h, x});
    x = after_sublayer(b, label + ".norm", {s, layer.norm}, x);
    const std::string states = format("decoder_hidden_states.%u", i + 1);
    const bool last = i + 1 == s.layers && s.final_norm;
    if (last) x = normalize(b, "decoder.norm", {s, w.final_norm}, x);
    if (!run.keep_hidden_states) continue;
    if (i + 1 == s.layers && b.config().transformed_states)
      b.keep(states, output_states(b, x));
    else
      last ? b.keep_copy(states, x) : keep_states(b, states, x);
  }
  return x;
}

namespace {

graph::TensorId cells_state(Builder& b, uint32_t layer, const DecodeRoom& room) {
  return b.state(state_id(StateKind::cells, layer), format("cells.%u", layer), uint64_t{2} * room.beam_slots(),
                 b.config().decoder.d_model, graph::DType::f32);
}

}  // namespace

void build_encode(Builder& b, const EncodeShape& shape) {
  EncoderRun run;
  run.batch = shape.room.slots;
  run.length = shape.room.source_positions;
  run.rows = shape.rows;
  const auto memory = project_memory(b, build_encoder(b, run));
  KvShape kv = cross_kv_shape(b.config(), shape.room);
  kv.layout = RowLayout::spans;
  const auto spans = spans_state(b);
  encode_grids(b);
  for (uint32_t i = 0; i < b.config().decoder.layers; ++i)
    cross_keys_values(b, format("decoder.%u.cross", i), {b.config().decoder, b.network().decoder.layers[i].cross},
                      memory, {0, kv_state(b, StateKind::cross_kv, i, kv), kv, spans});
}

DecodeStates decode_states(Builder& b, const DecodeRoom& room) {
  DecodeStates s;
  s.step = b.state(state_id(StateKind::step), "step", 1, state::STEP_WORDS);
  s.lineage = b.state(state_id(StateKind::lineage), "lineage", 1,
                      state::lineage_words(room.beam_slots(), room.target_positions));
  s.lengths = b.state(state_id(StateKind::lengths), "lengths", 1, 2 * state::MAX_ROWS);
  return s;
}

namespace {

// The decoder over rows with beam slots and positions from `step`, up to the output of its last layer.
graph::TensorId decoder_rows(Builder& b, graph::TensorId step, uint64_t rows, const DecodeRoom& room, bool prompt) {
  const Config& c = b.config();
  const auto s = decode_states(b, room);
  DecoderRun run;
  run.step = true;
  run.in_step.state = {step, s.lineage, s.lengths};
  run.in_step.beams = room.beams;
  run.in_step.prompt = prompt;
  if (c.decoder.recurrent && !c.decoder.same_length && !prompt)
    run.in_step.search = b.state(state_id(StateKind::search), "search", room.slots, state::search_stride(room.beams));
  run.in_step.cross = cross_kv_shape(c, room);
  run.in_step.lineage_beam_slots = room.beam_slots();
  run.in_step.lineage_positions = room.target_positions;
  const bool attends = c.kind().attends;
  for (uint32_t i = 0; i < c.decoder.layers; ++i) {
    if (c.decoder.cells) {
      run.cells.push_back(cells_state(b, i, room));
    } else {
      run.self_shapes.push_back(self_kv_shape(c, room, i));
      run.self_kv.push_back(kv_state(b, StateKind::self_kv, i, run.self_shapes[i]));
    }
    if (attends) run.cross_kv.push_back(kv_state(b, StateKind::cross_kv, i, run.in_step.cross));
  }
  EmbedAttributes e = embed_attributes(c.decoder, c.target_vocabulary);
  e.layout = RowLayout::step;
  e.lineage_beam_slots = room.beam_slots();
  e.lineage_positions = room.target_positions;
  const IdRows ids{s.lineage, step, rows};
  if (!run.self_shapes.empty()) run.in_step.self = run.self_shapes.front();
  if (c.decoder.streams) return stream_decoder(b, ids, e, 1, run).front();
  return decoder_layers(b, embed_rows(b, "decoder", ids, e), run);
}

}  // namespace

graph::TensorId build_step(Builder& b, const StepShape& shape) {
  const auto step = decode_states(b, shape.room).step;
  const auto x = decoder_rows(b, step, shape.rows, shape.room, false);
  return shape.masks == graph::kNone ? output_logits(b, x) : listed_logits(b, x, shape.masks);
}

void build_prompt(Builder& b, const PromptShape& shape) {
  const auto given = b.state(state_id(StateKind::prompt), "given", 1, state::STEP_QUEUE);
  b.state(state_id(StateKind::prompt_grids), "prompt_grids", state::MAX_GRIDS, state::GRID_STRIDE);
  const auto x = decoder_rows(b, given, shape.rows, shape.room, true);
  if (shape.logits) b.keep("logits", output_logits(b, x));
}

namespace {

// Keys and values of the encoder's output for every layer, in the arena.
void add_cross_keys_values(Builder& b, const ForwardShape& shape, graph::TensorId memory, DecoderRun& run) {
  KvShape kv;
  kv.heads = b.config().decoder.kv_heads();
  kv.group = b.config().decoder.group();
  kv.head_dim = b.config().decoder.head_dim;
  kv.slots = shape.batch;
  kv.positions = kv.rows_per_slot = shape.source_length;
  for (uint32_t i = 0; i < b.config().decoder.layers; ++i) {
    const std::string label = format("decoder.%u.cross", i);
    run.cross_kv.push_back(kv_activation(b, label + ".kv", kv));
    cross_keys_values(b, label, {b.config().decoder, b.network().decoder.layers[i].cross}, memory,
                      {0, run.cross_kv.back(), kv});
  }
}

DecoderRun forward_run(Builder& b, const ForwardShape& shape) {
  DecoderRun run;
  run.keep_hidden_states = shape.hidden_states;
  run.keep_attentions = shape.attentions;
  run.cross_layers = shape.cross_layers;
  run.self.batch = run.cross.batch = shape.batch;
  run.self.queries = run.self.keys = run.cross.queries = shape.target_length;
  run.cross.keys = shape.source_length;
  run.memory_rows = shape.memory_rows;
  run.self.keys += shape.memory_rows;
  if (b.config().decoder.same_length) run.self.past = b.config().decoder.memory - 1;
  run.self.causal = true;
  run.self.lengths = b.state(state_id(StateKind::target_lengths), "target_lengths", 1, 2 * state::MAX_ROWS);
  if (b.config().kind().attends)
    run.cross.lengths = b.state(state_id(StateKind::lengths), "lengths", 1, 2 * state::MAX_ROWS);
  return run;
}

// Returns the output of the encoder's last layer.
graph::TensorId forward_encoder(Builder& b, const ForwardShape& shape) {
  EncoderRun run{shape.batch,      shape.source_length, shape.rows,   shape.features,   shape.hidden_states,
                 shape.attentions, shape.memory_rows,   shape.masked, shape.two_streams};
  const auto memory = build_encoder(b, run);
  if (!shape.only && !shape.token_scores) b.keep_copy("encoder_last_hidden_state", memory);
  return memory;
}

// Heads but that of ids.
bool has_other_heads(const Config& c) { return !c.kind().writes && !c.heads.empty(); }

void forward_decoder(Builder& b, const ForwardShape& shape, DecoderRun& run) {
  const StackConfig& s = b.config().decoder;
  EmbedAttributes e = embed_attributes(s, b.config().target_vocabulary);
  e.rows_per_slot = shape.target_length;
  const auto ids = b.state(state_id(StateKind::target_ids), "target_ids", shape.batch, shape.target_length);
  const IdRows rows{ids, graph::kNone, uint64_t{shape.batch} * shape.target_length};
  const bool logits = shape.logits && b.config().kind().writes;
  if (s.streams && shape.token_scores) return keep_token_scores(b, stream_decoder(b, rows, e, 1, run).front(), ids);
  if (s.streams) {
    const auto predicting = stream_decoder(b, rows, e, logits ? s.streams : 1, run);
    if (logits) keep_stream_logits(b, predicting);
    return;
  }
  auto x = embed_rows(b, "decoder", rows, e);
  if (shape.hidden_states) keep_states(b, "decoder_hidden_states.0", x);
  x = decoder_layers(b, x, run);
  if (shape.token_scores) return keep_token_scores(b, x, ids);
  if (run.cross_kv.empty()) b.keep_copy("decoder_last_hidden_state", x);
  if (logits) b.keep("logits", output_logits(b, x));
  if (has_other_heads(b.config())) keep_heads(b, {x, spans_state(b)}, {shape.batch, shape.only});
}

}  // namespace

void build_forward(Builder& b, const ForwardShape& shape) {
  const Kind kind = b.config().kind();
  const auto memory = kind.encodes ? forward_encoder(b, shape) : graph::kNone;
  if (!kind.decodes) {
    if (shape.rows != 0) encode_grids(b);
    return keep_heads(b, {memory, spans_state(b)}, {shape.batch, shape.only, shape.prompt_rows, shape.head_rows});
  }
  DecoderRun run = forward_run(b, shape);
  if (kind.attends) add_cross_keys_values(b, shape, project_memory(b, memory), run);
  forward_decoder(b, shape, run);
}

}  // namespace lapilli::model
