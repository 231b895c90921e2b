#include <cmath>
#include <random>

#include "model/network.hpp"

namespace lapilli::model {

namespace {

// Weights that keep activations near unit variance, so that a deep random network has sane scores.
class RandomBinder {
 public:
  RandomBinder(Network& network, uint64_t seed) : net_(network), random_(seed) {}

  WeightIndex matrix(const char* name, uint32_t n, uint32_t k, double gain) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::values;
    spec.name = name;
    spec.n = 1;
    spec.words = packed::words(n, k);
    spec.k = static_cast<uint32_t>(spec.words);
    spec.values.assign(spec.words, 0.0f);
    std::normal_distribution<float> weight(0.0f, static_cast<float>(gain / std::sqrt(k))), bias(0.0f, 0.02f);
    for (uint32_t c = 0; c < n; ++c) {
      for (uint32_t r = 0; r < k; ++r) spec.values[packed::word(c, r, k)] = weight(random_);
      spec.values[packed::bias_word(c, n, k)] = bias(random_);
    }
    net_.parameters += uint64_t{n} * k + n;
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

  WeightIndex positions(uint32_t count, uint32_t d) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::values;
    spec.name = "positions";
    spec.n = count;
    spec.k = d;
    const uint64_t ld = round_up<uint64_t>(d, 4);
    spec.words = count * ld;
    spec.values.assign(spec.words, 0.0f);
    for (uint32_t p = 0; p < count; ++p)
      for (uint32_t i = 0; i < d; ++i)
        spec.values[p * ld + i] =
            static_cast<float>(std::sin(p / std::pow(10000.0, 2.0 * (i % (d / 2 + 1)) / d) + (i > d / 2)));
    return add(std::move(spec));
  }

  AttentionWeights attention(uint32_t d, bool cross) {
    AttentionWeights w;
    w.qkv = matrix("q", cross ? d : 3 * d, d, 1.0);
    if (cross) w.kv = matrix("kv", 2 * d, d, 1.0);
    w.out = matrix("out", d, d, 1.0);
    w.norm = norm(d);
    return w;
  }

 private:
  WeightIndex add(WeightSpec spec) {
    net_.weights.push_back(std::move(spec));
    return static_cast<WeightIndex>(net_.weights.size() - 1);
  }

  Network& net_;
  std::mt19937_64 random_;
};

}  // namespace

Network random_network(const Config& config, uint64_t seed) {
  Network network;
  network.config = config;
  RandomBinder r(network, seed);
  const uint32_t d = config.d_model;
  network.output = r.matrix("output", config.target_vocabulary, d, 1.0);
  network.encoder.embedding = network.decoder.embedding = network.output;
  if (!config.shared_embeddings)
    network.encoder.embedding = r.matrix("source_embedding", config.source_vocabulary, d, 1.0);
  network.encoder.positions = network.decoder.positions = r.positions(config.max_positions, d);
  for (auto [stack, weights, cross] :
       {std::tuple{&config.encoder, &network.encoder, false}, std::tuple{&config.decoder, &network.decoder, true}}) {
    if (config.embedding_norm) weights->embedding_norm = r.norm(d);
    if (config.final_norm) weights->final_norm = r.norm(d);
    for (uint32_t i = 0; i < stack->layers; ++i) {
      LayerWeights layer;
      layer.self = r.attention(d, false);
      if (cross) layer.cross = r.attention(d, true);
      layer.fc1 = r.matrix("fc1", stack->ffn, d, 1.0);
      layer.fc2 = r.matrix("fc2", d, stack->ffn, 1.0);
      layer.norm = r.norm(d);
      weights->layers.push_back(layer);
    }
  }
  return network;
}

}  // namespace lapilli::model
