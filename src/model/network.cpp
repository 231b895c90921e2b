#include "model/network.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>

#include "base/store.hpp"
#include "model/patches.hpp"
#include "model/positions.hpp"
#include "model/relative.hpp"
#include "model/relative_binder.hpp"
#include "ops/attention/attention.hpp"
#include "ops/rows/recurrent_cell.hpp"

namespace lapilli::model {

namespace {

constexpr float kHidden = -1e30f;

class WeightBinder : RelativeBinder {
 public:
  WeightBinder(const Config& config, const Names& names, const Checkpoint& checkpoint,
               std::optional<WeightFormat> packed, Network& network)
      : RelativeBinder(config, names, checkpoint, packed, network) {}

  Status run() {
    LAPILLI_CHECK(embeddings());
    LAPILLI_CHECK(input_layers());
    LAPILLI_CHECK(encoder_layers());
    LAPILLI_CHECK(stack(c_.decoder, names_.decoder, Side::decoder, net_.decoder));
    LAPILLI_CHECK(behind_the_layers());
    // After the layers, because computed tables take memory, and only the layers confirm config.json's d_model.
    LAPILLI_CHECK(positions(c_.encoder, names_.encoder, "source_positions", net_.encoder));
    LAPILLI_CHECK(positions(c_.decoder, names_.decoder, "target_positions", net_.decoder));
    return heads();
  }

 private:
  Status behind_the_layers() {
    const uint32_t d = c_.last_stack().d_model, width = c_.last_stack().embedding_columns();
    if (c_.memory_projection)
      LAPILLI_CHECK(linear({names_.memory_projection, true}, d, c_.encoder.d_model, net_.memory_projection));
    if (!c_.output_transform || !c_.head(HeadKind::tokens)) return {};
    LAPILLI_CHECK(linear({names_.output_transform, c_.output_transform_bias}, width, d, net_.output_transform));
    return c_.output_transform_norm ? norm(names_.output_norm, c_.last_stack(), width, net_.output_norm) : Status();
  }

  Status heads() {
    net_.heads.resize(c_.heads.size());
    for (size_t i = 0; i < c_.heads.size(); ++i)
      if (c_.heads[i].kind != HeadKind::tokens) LAPILLI_CHECK(head(c_.heads[i], names_.heads[i], net_.heads[i]));
    return {};
  }

  Status head(const HeadConfig& head, const HeadNames& names, HeadWeights& w) {
    uint32_t width = c_.last_stack().d_model;
    // Models made without a pooler lack it in the file, though config.json does not say so; other heads need theirs.
    if (head.pooled && (head.kind != HeadKind::vectors || stored(names.pooled + ".weight"))) {
      LAPILLI_CHECK(linear({names.pooled, head.pooled_bias}, head.pooled, width, w.pooled));
      width = head.pooled;
      if (head.pooled_norm) LAPILLI_CHECK(norm(names.norm, c_.last_stack(), width, w.norm));
    }
    if (head.columns) LAPILLI_CHECK(linear({names.result}, head.columns, width, w.result));
    if (head.distilled) LAPILLI_CHECK(linear({names.second}, head.columns, width, w.second));
    return sentence_steps(head, names, w);
  }

  Status sentence_steps(const HeadConfig& head, const HeadNames& names, HeadWeights& w) {
    uint32_t width = c_.last_stack().d_model * static_cast<uint32_t>(1 + head.beside.size());
    for (size_t i = 0; i < head.steps.size(); ++i) {
      const SentenceStep& step = head.steps[i];
      WeightIndex& index = w.steps.emplace_back(kNoWeight);
      if (step.columns == 0) {
        index = unit_norm(width);
        continue;
      }
      LAPILLI_CHECK(linear({names.steps[i], step.bias}, step.columns, width, index));
      width = step.columns;
    }
    return {};
  }

  // The weights with which a root mean square norm divides a row by its Euclidean length.
  WeightIndex unit_norm(uint32_t width) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::values;
    spec.name = "unit length";
    spec.n = 1;
    spec.words = round_up<uint64_t>(width, 4);
    spec.k = static_cast<uint32_t>(spec.words);
    spec.values.assign(spec.words, 0.0f);
    std::fill_n(spec.values.begin(), width, 1.0f / std::sqrt(static_cast<float>(width)));
    return add(std::move(spec));
  }

  Status embeddings() {
    if (!c_.clusters.empty()) return clusters();
    const uint32_t d = c_.last_stack().embedding_columns(), width = c_.encoder.embedding_columns();
    const Kind kind = c_.kind();
    const StoredTensor *source = nullptr, *target = nullptr, *output = nullptr;
    if (kind.reads == Reads::ids) {
      LAPILLI_TRY(source, find_matrix(names_.encoder.embedding, c_.source_vocabulary, width));
    }
    if (kind.decodes) {
      LAPILLI_TRY(target, find_matrix(names_.decoder.embedding, c_.target_vocabulary, d));
    }
    if (c_.head(HeadKind::tokens)) {
      LAPILLI_TRY(output, find_output(d));
      LAPILLI_TRY(const auto* bias, find_logits_bias());
      net_.output = table(matrix("output", c_.target_vocabulary, d), output, bias);
    }
    if (target)
      net_.decoder.embedding = tied(target, output)
                                   ? net_.output
                                   : table(matrix("target_embedding", c_.target_vocabulary, d), target, nullptr);
    if (!source) return {};
    if (tied(source, output))
      net_.encoder.embedding = net_.output;
    else if (tied(source, target))
      net_.encoder.embedding = net_.decoder.embedding;
    else
      net_.encoder.embedding = table(matrix("source_embedding", c_.source_vocabulary, width), source, nullptr);
    return row_types();
  }

  Result<const StoredTensor*> find_output(uint32_t width) {
    auto output = find_matrix(names_.output, c_.target_vocabulary, width);
    const bool there = std::ranges::any_of(names_.output, [&](const std::string& name) { return stored(name); });
    if (output || there || c_.tied_output) return output;
    return fail(
        ErrorCode::invalid_data,
        "%s, and config.json does not tie it to the embedding (tie_word_embeddings): some files are missing, or "
        "the model was saved without its head; get all files again",
        output.error().message);
  }

  // A table that is looked up like the embeddings.
  Status row_types() {
    const StackConfig& s = c_.encoder;
    if (s.row_types == 0 || s.segments) return {};
    LAPILLI_TRY(const auto* t, find_matrix(names_.encoder.token_types, s.row_types, s.embedding_columns()));
    net_.encoder.row_types = table(matrix("token_types", s.row_types, s.embedding_columns()), t, nullptr);
    return {};
  }

  // Null: none is stored.
  Result<const StoredTensor*> find_logits_bias() {
    const StoredTensor* bias = nullptr;
    if (c_.logits_bias)
      for (const auto& name : names_.logits_bias)
        if (!bias) bias = stored(name);
    if (!bias) return bias;
    uint64_t n = 1;
    for (const uint64_t size : bias->shape) n *= size;
    if (!floating(bias->type)) return not_floating(*bias);
    if (n == c_.target_vocabulary && bias->shape.size() <= 2) return bias;
    return fail(ErrorCode::invalid_data, "the logits bias has shape %s, the vocabulary %u words",
                shape_text(bias->shape), c_.target_vocabulary);
  }

  WeightIndex table(WeightSpec spec, const StoredTensor* t, const StoredTensor* bias) {
    (void)take_format(spec, *t);  // a table has one part
    spec.parts.push_back(whole(t));
    net_.parameters += uint64_t{spec.n} * spec.k;
    if (bias) {
      spec.parts.push_back(whole(bias, true));
      count(bias);
    }
    return add(std::move(spec));
  }

  Status positions(const StackConfig& s, const StackNames& names, const char* name, StackWeights& w) {
    if (s.layers == 0 || s.positions == Positions::none) return {};
    WeightSpec spec;
    spec.name = name;
    spec.n = s.max_positions + s.position_offset + (s.streams ? 1 : 0);
    spec.k = s.position_columns();
    spec.words = uint64_t{spec.n} * round_up<uint64_t>(spec.k, 4);
    bool is_stored = s.positions == Positions::learned || s.positions == Positions::sinusoid_stored;
    for (const auto& n : names.positions) is_stored = is_stored || stored(n);
    if (is_stored) {
      LAPILLI_TRY(const auto* t, find_positions(names, spec));
      spec.kind = WeightSpec::Kind::table;
      spec.parts.push_back(whole(t));
      count(t);
      LAPILLI_CHECK(front_rows(spec, names));
      if (s.token_types) LAPILLI_CHECK(token_types(spec, names));
    } else {
      spec.kind = WeightSpec::Kind::values;
      spec.values = sinusoids(s);
      // Both stacks share equal tables.
      if (&w == &net_.decoder && net_.encoder.positions != kNoWeight &&
          net_.weights[net_.encoder.positions].values == spec.values) {
        w.positions = net_.encoder.positions;
        return {};
      }
    }
    if (s.streams) LAPILLI_CHECK(streams(spec, s, names, w));
    w.positions = add(std::move(spec));
    return {};
  }

  // Positions of pictures are stored as a batch of one, and may be for another number of patches.
  Result<const StoredTensor*> find_positions(const StackNames& names, WeightSpec& spec) {
    const PatchInput& p = c_.patches;
    if (p.stored_rows && &names == &names_.encoder) {
      const uint32_t front = c_.features.front, width = p.width / p.patch_width;
      spec.grid = std::make_shared<PatchGrid>(
          PatchGrid{front, p.stored_rows, p.stored_columns, p.height / p.patch_height, width});
      return find(names.positions, {1, front + uint64_t{p.stored_rows} * p.stored_columns, spec.k});
    }
    for (const auto& name : names.positions)
      if (const StoredTensor* t = stored(name); t && t->shape.size() == 3) return find({name}, {1, spec.n, spec.k});
    return find(names.positions, {spec.n, spec.k});
  }

  // Class tokens: rows before a source's own, which consist of a position and these values.
  Status front_rows(WeightSpec& spec, const StackNames& names) {
    for (size_t i = 0; i < names.front.size(); ++i) {
      LAPILLI_TRY(const auto* t, find({names.front[i]}, {1, 1, spec.k}));
      count(t);
      spec.parts.push_back(whole(t, false, i));
      spec.parts.back().one_row = true;
    }
    return {};
  }

  // Stream i has the row before its own, the first one the last row.
  Status streams(const WeightSpec& positions, const StackConfig& s, const StackNames& names, StackWeights& w) {
    LAPILLI_TRY(const auto* t, find(names.streams, {s.streams, s.d_model}));
    for (uint32_t i = 0; i < s.streams; ++i) {
      WeightSpec spec = positions;
      spec.name += format(", stream %u", i);
      spec.parts.push_back(whole(t, false, (i + s.streams - 1) % s.streams));
      w.streams.push_back(add(std::move(spec)));
    }
    count(t);
    return {};
  }

  // Only type 0 is used: its row is added to every row of the positions.
  Status token_types(WeightSpec& spec, const StackNames& names) {
    const StoredTensor* t = nullptr;
    for (const auto& name : names.token_types)
      if (!t) t = stored(name);
    if (!t) return {};  // type_vocab_size 0
    if (t->shape.size() != 2 || t->shape[0] == 0 || t->shape[1] != spec.k || !floating(t->type))
      return fail(ErrorCode::invalid_data, "tensor %s is not a table of token types %u wide", t->describe(), spec.k);
    spec.parts.push_back(whole(t));
    count(t);
    return {};
  }

  // A convolution's weight is stored as [columns, width, kernel], a linear layer's without the kernel, and that of
  // patches with three dimensions for the width; all are read as a matrix.
  Status input_layer(const std::string& name, const InputLayer& layer, uint32_t width, WeightIndex& index) {
    const StoredTensor* t = stored(name + ".weight");
    if (!t) return fail(ErrorCode::invalid_data, "the checkpoint lacks tensor %s.weight", name);
    const uint64_t depth = uint64_t{width} * layer.kernel, rows = uint64_t{layer.columns} * (layer.gated ? 2 : 1);
    uint64_t elements = 1;
    for (const uint64_t n : t->shape) elements *= n;
    if (t->shape.size() < 2 || t->shape[0] != rows || elements != rows * depth ||
        (layer.kernel > 1 && t->shape.back() != layer.kernel))
      return fail(ErrorCode::invalid_data, "tensor %s.weight has shape %s, config.json asks for [%u, %u, %u]", name,
                  shape_text(t->shape), rows, width, layer.kernel);
    const auto value = layer.gated ? static_cast<uint32_t>(gate_value_column(layer.columns)) : 0u;
    WeightSpec spec = matrix(name, value + layer.columns, static_cast<uint32_t>(depth));
    LAPILLI_TRY(const auto* weight, find({name + ".weight"}, t->shape));
    input_parts(spec, weight, layer.gated, value);
    if (layer.bias) {
      LAPILLI_TRY(const auto* bias, find({name + ".bias"}, {rows}));
      input_parts(spec, bias, layer.gated, value, true);
    }
    index = add(std::move(spec));
    return {};
  }

  // A gated layer is stored with values first; in the product, values come after the activated columns.
  void input_parts(WeightSpec& spec, const StoredTensor* t, bool gated, uint32_t value_column, bool bias = false) {
    count(t);
    const uint32_t of = gated ? 2 : 1;
    for (uint32_t share = 0; share < of; ++share) {
      WeightPart place = columns(gated && share == 0 ? value_column : 0);
      take_share(t, {{}, true, false, share, of}, place);
      place.bias = bias;
      spec.parts.push_back(std::move(place));
    }
  }

  Status input_layers() {
    uint32_t width = c_.features.width;
    for (size_t i = 0; i < c_.features.layers.size(); ++i) {
      const InputLayer& layer = c_.features.layers[i];
      LAPILLI_CHECK(input_layer(names_.encoder.input[i], layer, width, net_.encoder.input.emplace_back()));
      auto& of_layer = net_.encoder.input_norms.emplace_back(kNoWeight);
      if (layer.group_norm) LAPILLI_CHECK(norm(names_.encoder.input_norms[i], layer.columns, true, true, of_layer));
      width = layer.columns;
    }
    return {};
  }

  // As wide as the network, with the rows of each column next to each other (unfold).
  Status convolution(const StackConfig& s, const StackNames& names, StackWeights& w) {
    const InputLayer layer{s.convolution, 1, s.convolution / 2, s.convolution / 2, s.d_model};
    LAPILLI_CHECK(input_layer(names.convolution, layer, s.d_model, w.convolution));
    return norm(names.convolution_norm, s, w.convolution_norm);
  }

  // Parts that the layers of an encoder alone may have beside them.
  Status beside_layers(const StackConfig& s, const StackNames& names, StackWeights& w) {
    if (s.vectors.table != DistanceVectors::Table::none) LAPILLI_CHECK(distance_vectors(s, names, w));
    if (s.segments) segment_types(s, w);
    LAPILLI_CHECK(second_stream(s, names, w));
    return s.convolution ? convolution(s, names, w) : Status();
  }

  // Gates and values side by side.
  Status cell(const AttentionNames& n, const Place& at, AttentionWeights& w) {
    const uint32_t d = at.s.d_model;
    WeightSpec both = matrix(with_layer(n.gate, at.layer) + "+values", cell_columns(d), d);
    LAPILLI_CHECK(linear_part(both, at.linear(n.gate), d, {}));
    Linear values = at.linear(n.v);
    values.bias = false;
    LAPILLI_CHECK(linear_part(both, values, d, columns(cell_values(d))));
    w.qkv = add(std::move(both));
    return norm(with_layer(n.norm, at.layer), at.s, w.norm);
  }

  Status attention(const AttentionNames& n, const Place& at, bool cross, AttentionWeights& w) {
    if (at.s.cells && !cross) return cell(n, at, w);
    if (at.s.segments) return segment_attention(n, at, w);
    if (at.s.recurrent) return recurrent_attention(n, at, w);
    const uint32_t d = at.s.d_model, inner = at.s.inner();
    if (cross || at.s.query_norm_alone) {
      LAPILLI_CHECK(linear(projection(n, at, kQueries), inner, d, w.qkv));
      const uint32_t depth = !cross || c_.memory_projection ? d : c_.encoder.d_model;
      WeightSpec kv = matrix(with_layer(n.k, at.layer) + "+v", 2 * at.s.kv_inner(), depth);
      LAPILLI_CHECK(keys_values(kv, n, at, 0));
      w.kv = add(std::move(kv));
    } else {
      const uint32_t bias = at.s.streams ? at.s.relative_buckets * at.s.heads : 0;
      WeightSpec qkv = matrix(with_layer(n.q, at.layer) + "+k+v", inner + 2 * at.s.kv_inner() + bias, d);
      LAPILLI_CHECK(linear_part(qkv, projection(n, at, kQueries), inner, {}));
      if (bias) LAPILLI_CHECK(linear_part(qkv, at.linear(n.relative_bias), bias, columns(inner)));
      LAPILLI_CHECK(keys_values(qkv, n, at, inner + bias));
      w.qkv = add(std::move(qkv));
      if (at.s.reach) LAPILLI_CHECK(reach_vectors(n, at, w));
    }
    Linear out = at.linear(n.out);
    out.bias = out.bias && at.s.out_bias;
    LAPILLI_CHECK(linear(out, d, inner, w.out));
    if (at.s.branch_norm) LAPILLI_CHECK(norm(with_layer(n.after_norm, at.layer), at.s, w.after_norm));
    if (!cross && at.layer == 0 && !at.s.first_norm) return {};
    return norm(with_layer(n.norm, at.layer), at.s, w.norm);
  }

  Status cross_attention(const StackNames& names, const Place& at, LayerWeights& layer) {
    if (!at.s.merged_attention) return attention(names.layer.cross, at, true, layer.cross);
    const AttentionNames& n = names.layer.self;
    const uint64_t parameters = net_.parameters;
    WeightSpec kv = matrix(with_layer(n.k, at.layer) + "+v of the source", 2 * at.s.kv_inner(), at.s.d_model);
    LAPILLI_CHECK(keys_values(kv, n, at, 0));
    layer.cross.kv = add(std::move(kv));
    layer.cross.head_norms = layer.self.head_norms;
    net_.parameters = parameters;  // they are those of self attention
    return {};
  }

  // The norms of heads: of queries, then of keys.
  Status head_norms(const AttentionNames& n, const Place& at, AttentionWeights& w) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::vector;
    spec.name = with_layer(n.q_norm, at.layer) + "+k";
    const uint64_t ld = round_up<uint64_t>(at.s.head_dim, 4);
    spec.words = 2 * ld;
    for (const bool keys : {false, true}) {
      LAPILLI_TRY(const auto* t, find({with_layer(keys ? n.k_norm : n.q_norm, at.layer) + ".weight"}, {at.s.head_dim}));
      spec.parts.push_back(whole(t, false, keys ? ld : 0));
      count(t);
    }
    spec.plus = at.s.norm_plus_one ? 1 : 0;
    w.head_norms = add(std::move(spec));
    return {};
  }

  // In the encoder, keys after the query have buckets of their own.
  Status distances(const StackConfig& s, bool bidirectional, AttentionWeights& w) {
    LAPILLI_TRY(const auto table, relative_table(s.relative_buckets, s.relative_distance, bidirectional));
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::values;
    spec.name = "distances";
    spec.n = 1;
    spec.k = kBiasWords;
    spec.words = kBiasWords;
    spec.values = table.buckets;
    spec.values.resize(kBiasWords, 0.0f);
    w.distances = add(std::move(spec));
    w.distance_low = table.low;
    w.distance_count = static_cast<uint32_t>(table.buckets.size());
    return {};
  }

  // Queries, keys and values of global positions, bound as those of all.
  Status global_projections(const AttentionNames& n, const Place& at, AttentionWeights& w) {
    const uint32_t inner = at.s.inner();
    AttentionNames global;
    global.k = n.global_k;
    global.v = n.global_v;
    WeightSpec qkv = matrix(with_layer(n.global_q, at.layer) + "+k+v", 3 * inner, at.s.d_model);
    LAPILLI_CHECK(linear_part(qkv, at.linear(n.global_q), inner, {}));
    LAPILLI_CHECK(keys_values(qkv, global, at, inner));
    w.global_qkv = add(std::move(qkv));
    return {};
  }

  Status relative_bias(const AttentionNames& n, const Place& at, bool bidirectional, StackWeights& w) {
    AttentionWeights& self = w.layers[at.layer].self;
    if (at.layer == 0) LAPILLI_CHECK(distances(at.s, bidirectional, self));
    const AttentionWeights& first = w.layers[0].self;
    self.distances = first.distances;
    self.distance_low = first.distance_low;
    self.distance_count = first.distance_count;
    if (at.s.streams) return {};  // its values come with the query
    if (at.layer > 0 && !at.s.relative_per_layer) {
      self.relative_bias = first.relative_bias;
      return {};
    }
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::vector;
    spec.name = with_layer(n.relative_bias, at.layer);
    spec.words = kBiasWords;
    const uint64_t buckets = at.s.relative_buckets, heads = at.s.heads;
    if (buckets * heads > kBiasWords)
      return fail(ErrorCode::unsupported,
                  "%s: a relative bias of %u buckets and %u heads; at most %u values are supported", spec.name, buckets,
                  heads, kBiasWords);
    LAPILLI_TRY(const auto* t, find({spec.name}, {buckets, heads}));
    spec.parts.push_back(whole(t));
    count(t);
    self.relative_bias = add(std::move(spec));
    return {};
  }

  Status feed_forward_in(const LayerNames& n, const Place& at, WeightIndex& index) {
    const StackConfig& s = at.s;
    if (!s.gated) return linear(at.feed_forward(n.fc1), s.ffn, s.d_model, index);
    const auto gate = static_cast<uint32_t>(gate_value_column(s.ffn));
    WeightSpec both = matrix(with_layer(n.fc1, at.layer) + "+gate", gate + s.ffn, s.d_model);
    Linear activated = at.feed_forward(n.fc1), value = at.feed_forward(n.gate);
    if (n.fc1 == n.gate) {
      activated.of = value.of = 2;
      (n.gate_last ? value : activated).share = 1;
    }
    LAPILLI_CHECK(linear_part(both, activated, s.ffn, {}));
    LAPILLI_CHECK(linear_part(both, value, s.ffn, columns(gate)));
    index = add(std::move(both));
    return {};
  }

  WeightIndex rotary_table(const StackConfig& s, bool window) {
    return shared_values("rotations", 2 * kRotationRows, 2 * s.rotary_pairs(), rotations(s, window));
  }

  enum class Side { encoder, decoder };

  // Keys behind its own that a query sees.
  static uint32_t window_after(const StackConfig& s, Side side, uint32_t layer) {
    if (!s.windows_after.empty()) return s.windows_after[layer];
    return side == Side::encoder ? s.window(layer) : 0;
  }

  // For attention with windows whose weights are kept: a bias that hides keys outside a window, by distance. Wider
  // windows have none, and their weights are not kept.
  void window_masks(const StackConfig& s, Side side, StackWeights& w) {
    for (uint32_t i = 0; i < s.layers; ++i) {
      const uint64_t distances = uint64_t{s.window(i)} + window_after(s, side, i) + 3;
      if (s.window(i) == kNoWindow || distances > kBiasWords || 2 * s.heads > kBiasWords) continue;
      std::vector<float> buckets(kBiasWords, 0.0f), values(kBiasWords, 0.0f);
      buckets[0] = buckets[distances - 1] = 1;
      std::fill_n(values.begin() + s.heads, s.heads, kHidden);
      AttentionWeights& self = w.layers[i].self;
      self.distances = shared_values("distances", 1, kBiasWords, std::move(buckets));
      self.relative_bias = shared_values("window_mask", 1, kBiasWords, std::move(values));
      self.distance_low = -static_cast<int32_t>(s.window(i)) - 1;
      self.distance_count = static_cast<uint32_t>(distances);
    }
  }

  Status stack(const StackConfig& s, const StackNames& names, Side side, StackWeights& w) {
    if (s.layers == 0) return {};
    const LayerNames& n = names.layer;
    const bool cross = side == Side::decoder && c_.kind().attends;
    for (uint32_t i = 0; i < s.layers; ++i) {
      const Place at{s, s.stored_layer(i)};
      if (i > 0 && at.layer == s.stored_layer(i - 1)) {
        w.layers.push_back(LayerWeights(w.layers.back()));
        continue;
      }
      w.layers.emplace_back();
      LayerWeights& layer = w.layers.back();
      LAPILLI_CHECK(attention(n.self, at, false, layer.self));
      LAPILLI_CHECK(vector_projection(n.self, at, layer.self));
      if (s.head_norm) LAPILLI_CHECK(head_norms(n.self, at, layer.self));
      if (s.relative_buckets) LAPILLI_CHECK(relative_bias(n.self, at, side == Side::encoder && !s.causal, w));
      if (s.global_positions) LAPILLI_CHECK(global_projections(n.self, at, layer.self));
      if (cross) LAPILLI_CHECK(cross_attention(names, at, layer));
      LAPILLI_CHECK(feed_forward_in(n, at, layer.fc1));
      for (uint32_t m = 0; m < s.middle_layers; ++m)
        LAPILLI_CHECK(linear(at.feed_forward(n.middle + std::to_string(m)), s.ffn, s.ffn, layer.middle.emplace_back()));
      LAPILLI_CHECK(linear(at.feed_forward(n.fc2), s.d_model, s.ffn, layer.fc2));
      LAPILLI_CHECK(norm(with_layer(n.norm, at.layer), s, layer.norm));
      if (s.branch_norm) LAPILLI_CHECK(norm(with_layer(n.after_norm, at.layer), s, layer.after_norm));
    }
    for (uint32_t i = 0; i < s.layers; ++i)
      if (s.rotates(i)) w.layers[i].self.rotations = rotary_table(s, s.window(i) != kNoWindow);
    if (!s.global_positions && !s.recurrent) window_masks(s, side, w);
    LAPILLI_CHECK(beside_layers(s, names, w));
    const uint32_t width = s.embedding_norm_last ? s.d_model : s.embedding_columns();
    if (s.embedding_norm) LAPILLI_CHECK(norm(names.embedding_norm, s, width, w.embedding_norm));
    if (s.embedding_width)
      LAPILLI_CHECK(linear({names.embedding_projection, s.embedding_projection_bias}, s.d_model, s.embedding_width,
                           w.embedding_projection));
    return s.final_norm ? norm(names.final_norm, s, w.final_norm) : Status();
  }

  Status encoder_layers() {
    if (c_.stages.empty()) return stack(c_.encoder, names_.encoder, Side::encoder, net_.encoder);
    if (c_.encoder.embedding_norm)
      LAPILLI_CHECK(
          norm(names_.encoder.embedding_norm, c_.stages[0].stack.d_model, true, true, net_.encoder.embedding_norm));
    for (size_t i = 0; i < c_.stages.size(); ++i)
      LAPILLI_CHECK(stage(c_.stages[i], names_.stages[i], net_.stages.emplace_back()));
    return {};
  }

  Status stage(const StageConfig& s, const StageNames& names, StageWeights& w) {
    LAPILLI_CHECK(stack(s.stack, names.stack, Side::encoder, w.stack));
    for (uint32_t i = 0; i < s.stack.layers; ++i)
      LAPILLI_CHECK(distance_bias(with_layer(names.stack.layer.self.relative_bias, i), s, w.stack.layers[i].self));
    if (!s.merges) return {};
    const uint32_t d = s.stack.d_model;
    LAPILLI_CHECK(norm(names.merge_norm, 4 * d, true, true, w.merge_norm));
    return linear({names.merge, false}, 2 * d, 4 * d, w.merge);
  }

  // A value for each distance in a window and each head.
  Status distance_bias(const std::string& name, const StageConfig& s, AttentionWeights& w) {
    const uint64_t distances = (2 * uint64_t{s.side} - 1) * (2 * uint64_t{s.side} - 1);
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::vector;
    spec.name = name;
    spec.words = distances * s.stack.heads;
    LAPILLI_TRY(const auto* t, find({name}, {distances, s.stack.heads}));
    spec.parts.push_back(whole(t));
    count(t);
    w.relative_bias = add(std::move(spec));
    return {};
  }
};

}  // namespace

uint64_t Network::fingerprint() const {
  uint64_t sum = checksum(std::as_bytes(std::span(config.family)));
  const auto add = [&](const std::string& name, std::initializer_list<uint64_t> numbers) {
    sum = checksum(std::as_bytes(std::span(name)), sum);
    sum = checksum(std::as_bytes(std::span(numbers.begin(), numbers.size())), sum);
  };
  add("kv", {static_cast<uint64_t>(kv_format)});
  for (const WeightSpec& w : weights) add(w.name, {w.n, w.k, w.words, static_cast<uint64_t>(w.format)});
  return sum;
}

Result<Network> bind_weights(const Config& config, const Names& names, const Checkpoint& checkpoint,
                             std::optional<WeightFormat> packed) {
  Network network;
  network.config = config;
  LAPILLI_CHECK(WeightBinder(config, names, checkpoint, packed, network).run());
  return network;
}

}  // namespace lapilli::model
