#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "model/network.hpp"
#include "model/positions.hpp"
#include "ops/rows/recurrent_cell.hpp"

namespace lapilli::model {

namespace {

// Weights that keep activations near unit variance, so that a deep random network has sane scores. Seed 0: zero
// matrices, which take only device memory.
class RandomBinder {
 public:
  RandomBinder(Network& network, uint64_t seed, WeightFormat format)
      : net_(network), format_(format), zeros_(seed == 0), random_(seed) {}

  WeightIndex matrix(const char* name, uint32_t n, uint32_t k, double gain) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::values;
    spec.name = name;
    spec.n = 1;
    const WeightLayout layout(n, k, format_);
    spec.format = format_;
    spec.words = layout.words();
    spec.k = static_cast<uint32_t>(spec.words);
    net_.parameters += uint64_t{n} * k + n;
    if (zeros_) return add(std::move(spec));
    const WeightLayout fp32(n, k);
    std::vector<float> values(fp32.words(), 0.0f);
    std::normal_distribution<float> weight(0.0f, static_cast<float>(gain / std::sqrt(k))), bias(0.0f, 0.02f);
    for (uint32_t c = 0; c < n; ++c) {
      for (uint32_t r = 0; r < k; ++r) values[fp32.word(c, r)] = weight(random_);
      values[fp32.bias_word(c)] = bias(random_);
    }
    if (format_ == WeightFormat::fp32)
      spec.values = std::move(values);
    else
      for (const uint32_t word : pack_words(layout, values)) spec.values.push_back(std::bit_cast<float>(word));
    return add(std::move(spec));
  }

  WeightIndex norm(uint32_t d) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::values;
    spec.name = "norm";
    const uint64_t ld = round_up<uint64_t>(d, 4);
    spec.n = 1;
    spec.words = 2 * ld;
    spec.k = static_cast<uint32_t>(spec.words);
    spec.values.assign(spec.words, 0.0f);
    std::normal_distribution<float> value(0.0f, 0.1f);
    for (uint32_t i = 0; i < d; ++i) {
      spec.values[i] = 1.0f + value(random_);
      spec.values[ld + i] = value(random_);
    }
    net_.parameters += 2 * uint64_t{d};
    return add(std::move(spec));
  }

  // None in stacks without such a table.
  WeightIndex positions(const StackConfig& stack) {
    if (stack.positions == Positions::none) return kNoWeight;
    return table("positions", stack.max_positions + stack.position_offset, stack.d_model, sinusoids(stack));
  }

  // Rotary positions, one table for each kind of layers.
  void rotations(const StackConfig& stack, StackWeights& weights) {
    if (stack.rotary == 0) return;
    const auto of = [&](bool window) {
      return table("rotations", 2 * kRotationRows, 2 * stack.rotary_pairs(), model::rotations(stack, window));
    };
    const WeightIndex global = of(false), local = of(true);
    for (uint32_t i = 0; i < stack.layers; ++i)
      weights.layers[i].self.rotations = stack.window(i) == kNoWindow ? global : local;
  }

  // The weights of a head's steps: a norm divides a row by its Euclidean length.
  WeightIndex sentence_step(const SentenceStep& step, uint32_t width) {
    if (step.columns) return matrix("sentence", step.columns, width, 1.0);
    std::vector<float> values(round_up<uint64_t>(width, 4), 0.0f);
    std::fill_n(values.begin(), width, 1.0f / std::sqrt(static_cast<float>(width)));
    const auto words = static_cast<uint32_t>(values.size());
    return table("unit length", 1, words, std::move(values));
  }

  AttentionWeights attention(const StackConfig& s, bool cross, uint32_t memory_width) {
    const uint32_t inner = s.inner();
    AttentionWeights w;
    if (s.cells && !cross) {
      w.qkv = matrix("cell", cell_columns(s.d_model), s.d_model, 1.0);
      w.norm = norm(s.d_model);
      return w;
    }
    w.qkv = matrix("q", cross ? inner : inner + 2 * s.kv_inner(), s.d_model, 1.0);
    if (cross) w.kv = matrix("kv", 2 * s.kv_inner(), memory_width, 1.0);
    w.out = matrix("out", s.d_model, inner, 1.0);
    w.norm = norm(s.d_model);
    return w;
  }

 private:
  WeightIndex table(const char* name, uint32_t rows, uint32_t columns, std::vector<float> values) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::values;
    spec.name = name;
    spec.n = rows;
    spec.k = columns;
    spec.words = values.size();
    spec.values = std::move(values);
    return add(std::move(spec));
  }

  WeightIndex add(WeightSpec spec) {
    net_.weights.push_back(std::move(spec));
    return static_cast<WeightIndex>(net_.weights.size() - 1);
  }

  Network& net_;
  const WeightFormat format_;
  const bool zeros_;
  std::mt19937_64 random_;
};

}  // namespace

Network random_network(const Config& config, uint64_t seed, WeightFormat format) {
  Network network;
  network.config = config;
  RandomBinder r(network, seed, format);
  const Kind kind = config.kind();
  const bool ids = kind.reads == Reads::ids;
  if (kind.decodes) network.output = r.matrix("output", config.target_vocabulary, config.decoder.d_model, 1.0);
  network.encoder.embedding = network.decoder.embedding = network.output;
  if (ids && (!config.shared_embeddings || !kind.decodes))
    network.encoder.embedding = r.matrix("source_embedding", config.source_vocabulary, config.encoder.d_model, 1.0);
  if (config.encoder.row_types)
    network.encoder.row_types = r.matrix("row_types", config.encoder.row_types, config.encoder.d_model, 1.0);
  if (kind.encodes) network.encoder.positions = r.positions(config.encoder);
  if (kind.decodes) network.decoder.positions = r.positions(config.decoder);
  uint32_t width = config.features.width;
  for (const InputLayer& layer : config.features.layers) {
    network.encoder.input.push_back(r.matrix("input", layer.columns, width * layer.kernel, 1.0));
    width = layer.columns;
  }
  for (const HeadConfig& head : config.heads) {
    HeadWeights& w = network.heads.emplace_back();
    uint32_t last = config.last_stack().d_model;
    if (head.columns) w.result = r.matrix("classifier", head.columns, last, 1.0);
    for (const SentenceStep& step : head.steps) {
      w.steps.push_back(r.sentence_step(step, last));
      if (step.columns) last = step.columns;
    }
  }
  for (auto [stack, weights, cross] : {std::tuple{&config.encoder, &network.encoder, false},
                                       std::tuple{&config.decoder, &network.decoder, kind.attends}}) {
    const uint32_t d = stack->d_model;
    const auto gates = stack->gated ? static_cast<uint32_t>(gate_value_column(stack->ffn)) : 0u;
    if (stack->embedding_norm) weights->embedding_norm = r.norm(d);
    if (stack->final_norm) weights->final_norm = r.norm(d);
    for (uint32_t i = 0; i < stack->layers; ++i) {
      LayerWeights layer;
      layer.self = r.attention(*stack, false, 0);
      if (i == 0 && stack->pre_norm && !stack->first_norm) layer.self.norm = kNoWeight;
      if (cross) layer.cross = r.attention(*stack, true, config.encoder.d_model);
      layer.fc1 = r.matrix("fc1", gates + stack->ffn, d, 1.0);
      layer.fc2 = r.matrix("fc2", d, stack->ffn, 1.0);
      layer.norm = r.norm(d);
      weights->layers.push_back(layer);
    }
    r.rotations(*stack, *weights);
  }
  return network;
}

}  // namespace lapilli::model
