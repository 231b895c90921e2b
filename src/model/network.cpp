#include "model/network.hpp"

#include <cmath>

namespace lapilli::model {

namespace {

std::string shape_text(const std::vector<uint64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string with_layer(const std::string& pattern, uint32_t layer) {
  std::string name = pattern;
  const auto at = name.find("{}");
  if (at != std::string::npos) name.replace(at, 2, std::to_string(layer));
  return name;
}

bool floating(StoredType t) { return t == StoredType::f32 || t == StoredType::f16 || t == StoredType::bf16; }

// Rows [positions, d]: sines in the first half, cosines in the second.
std::vector<float> split_sinusoids(uint32_t positions, uint32_t d) {
  const uint64_t ld = round_up<uint64_t>(d, 4);
  std::vector<float> table(positions * ld, 0.0f);
  const uint32_t half = d / 2 + d % 2;
  for (uint32_t p = 0; p < positions; ++p) {
    for (uint32_t i = 0; i < d; ++i) {
      const uint32_t j = i < half ? i : i - half;
      const double angle = p / std::pow(10000.0, 2.0 * j / d);
      table[p * ld + i] = static_cast<float>(i < half ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

class WeightBinder {
 public:
  WeightBinder(const Config& config, const Names& names, const Checkpoint& checkpoint, Network& network)
      : c_(config), names_(names), checkpoint_(checkpoint), net_(network) {}

  Status run() {
    LAPILLI_CHECK(embeddings());
    LAPILLI_CHECK(stack(c_.encoder, names_.encoder, false, net_.encoder));
    LAPILLI_CHECK(stack(c_.decoder, names_.decoder, true, net_.decoder));
    // After the layers: tables that are computed take memory, and until here d_model is only what config.json says.
    LAPILLI_CHECK(positions(names_.source_positions, net_.encoder));
    LAPILLI_CHECK(positions(names_.target_positions, net_.decoder));
    if (c_.embedding_norm) {
      LAPILLI_CHECK(norm(names_.source_embedding_norm, net_.encoder.embedding_norm));
      LAPILLI_CHECK(norm(names_.target_embedding_norm, net_.decoder.embedding_norm));
    }
    if (c_.final_norm) {
      LAPILLI_CHECK(norm(names_.source_final_norm, net_.encoder.final_norm));
      LAPILLI_CHECK(norm(names_.target_final_norm, net_.decoder.final_norm));
    }
    return {};
  }

 private:
  // The first of the names that the checkpoint has, with this shape.
  Result<const StoredTensor*> find(const std::vector<std::string>& names, const std::vector<uint64_t>& shape) {
    for (const auto& name : names) {
      const StoredTensor* t = checkpoint_.find(name);
      if (!t) continue;
      if (t->shape != shape)
        return fail(ErrorCode::invalid_data, "tensor %s has shape %s, config.json asks for %s", name.c_str(),
                    shape_text(t->shape).c_str(), shape_text(shape).c_str());
      if (!floating(t->type))
        return fail(ErrorCode::unsupported, "tensor %s is stored as %s; f32, f16 and bf16 are supported", name.c_str(),
                    stored_type_name(t->type));
      return t;
    }
    std::string all;
    for (const auto& name : names) all += (all.empty() ? "" : " or ") + name;
    return fail(ErrorCode::invalid_data, "the checkpoint lacks tensor %s", all.c_str());
  }

  WeightIndex add(WeightSpec spec) {
    net_.weights.push_back(std::move(spec));
    return static_cast<WeightIndex>(net_.weights.size() - 1);
  }

  void count(const StoredTensor* t) {
    uint64_t n = 1;
    for (const uint64_t d : t->shape) n *= d;
    net_.parameters += n;
  }

  Status embeddings() {
    LAPILLI_TRY(const auto* source, find(names_.source_embedding, {c_.source_vocabulary, c_.d_model}));
    LAPILLI_TRY(const auto* target, find(names_.target_embedding, {c_.target_vocabulary, c_.d_model}));
    LAPILLI_TRY(const auto* output, find(names_.output, {c_.target_vocabulary, c_.d_model}));
    const StoredTensor* bias = nullptr;
    if (c_.logits_bias)
      for (const auto& name : names_.logits_bias)
        if (!bias) bias = checkpoint_.find(name);
    if (bias) {
      uint64_t n = 1;
      for (const uint64_t d : bias->shape) n *= d;
      if (n != c_.target_vocabulary || bias->shape.size() > 2 || !floating(bias->type))
        return fail(ErrorCode::invalid_data, "the logits bias has shape %s, the vocabulary %u words",
                    shape_text(bias->shape).c_str(), c_.target_vocabulary);
    }
    net_.output = table("output", output, bias);
    net_.decoder.embedding = same_values(*target, *output) ? net_.output : table("target_embedding", target, nullptr);
    if (same_values(*source, *output))
      net_.encoder.embedding = net_.output;
    else if (same_values(*source, *target))
      net_.encoder.embedding = net_.decoder.embedding;
    else
      net_.encoder.embedding = table("source_embedding", source, nullptr);
    return {};
  }

  WeightIndex table(const char* name, const StoredTensor* t, const StoredTensor* bias) {
    WeightSpec spec = matrix(name, static_cast<uint32_t>(t->shape[0]), c_.d_model);
    spec.parts.push_back({t, 0, 1, 1, false, 0});
    count(t);
    if (bias) {
      spec.parts.push_back({bias, 0, 1, 1, true, 0});
      count(bias);
    }
    return add(std::move(spec));
  }

  static WeightSpec matrix(std::string name, uint32_t n, uint32_t k) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::matrix;
    spec.name = std::move(name);
    spec.n = n;
    spec.k = k;
    spec.words = packed::words(n, k);
    return spec;
  }

  Status positions(const std::vector<std::string>& names, StackWeights& stack) {
    if (c_.positions == Positions::none) return {};
    WeightSpec spec;
    spec.name = &stack == &net_.encoder ? "source_positions" : "target_positions";
    spec.n = c_.max_positions;
    spec.k = c_.d_model;
    spec.words = uint64_t{spec.n} * round_up<uint64_t>(spec.k, 4);
    bool stored = c_.positions == Positions::learned;
    for (const auto& name : names) stored = stored || checkpoint_.find(name);
    if (stored) {
      LAPILLI_TRY(const auto* t, find(names, {spec.n, spec.k}));
      spec.kind = WeightSpec::Kind::table;
      spec.parts.push_back({t, 0, 1, 1, false, 0});
      count(t);
    } else {
      spec.kind = WeightSpec::Kind::values;
      spec.values = split_sinusoids(spec.n, spec.k);
      // Both stacks read the same table.
      if (&stack == &net_.decoder && net_.weights[net_.encoder.positions].kind == WeightSpec::Kind::values) {
        stack.positions = net_.encoder.positions;
        return {};
      }
    }
    stack.positions = add(std::move(spec));
    return {};
  }

  Status norm(const std::string& name, WeightIndex& index) {
    WeightSpec spec;
    spec.kind = WeightSpec::Kind::vector;
    spec.name = name;
    const uint64_t ld = round_up<uint64_t>(c_.d_model, 4);
    spec.words = 2 * ld;
    LAPILLI_TRY(const auto* weight, find({name + ".weight"}, {c_.d_model}));
    LAPILLI_TRY(const auto* bias, find({name + ".bias"}, {c_.d_model}));
    spec.parts.push_back({weight, 0, 1, 1, false, 0});
    spec.parts.push_back({bias, 0, 1, 1, false, ld});
    count(weight);
    count(bias);
    index = add(std::move(spec));
    return {};
  }

  // Adds one linear layer's weight and bias (optional: some families have none) to a packed matrix.
  Status linear_part(WeightSpec& spec, const std::string& name, uint32_t n, WeightPart place) {
    LAPILLI_TRY(place.tensor, find({name + ".weight"}, {n, spec.k}));
    count(place.tensor);
    spec.parts.push_back(place);
    if (checkpoint_.find(name + ".bias")) {
      LAPILLI_TRY(place.tensor, find({name + ".bias"}, {n}));
      place.bias = true;
      count(place.tensor);
      spec.parts.push_back(place);
    }
    return {};
  }

  Status linear(const std::string& name, uint32_t n, uint32_t k, WeightIndex& index) {
    WeightSpec spec = matrix(name, n, k);
    LAPILLI_CHECK(linear_part(spec, name, n, {nullptr, 0, 1, 1, false, 0}));
    index = add(std::move(spec));
    return {};
  }

  // Keys and values interleaved by head behind `q_columns` columns.
  Status keys_values(WeightSpec& spec, const AttentionNames& n, uint32_t layer, uint32_t heads, uint32_t q_columns) {
    const uint32_t d = c_.d_model, head = d / heads;
    LAPILLI_CHECK(linear_part(spec, with_layer(n.k, layer), d, {nullptr, q_columns, head, 2 * head, false, 0}));
    return linear_part(spec, with_layer(n.v, layer), d, {nullptr, q_columns + head, head, 2 * head, false, 0});
  }

  Status attention(const AttentionNames& n, uint32_t layer, uint32_t heads, bool cross, AttentionWeights& w) {
    const uint32_t d = c_.d_model;
    if (cross) {
      LAPILLI_CHECK(linear(with_layer(n.q, layer), d, d, w.qkv));
      WeightSpec kv = matrix(with_layer(n.k, layer) + "+v", 2 * d, d);
      LAPILLI_CHECK(keys_values(kv, n, layer, heads, 0));
      w.kv = add(std::move(kv));
    } else {
      WeightSpec qkv = matrix(with_layer(n.q, layer) + "+k+v", 3 * d, d);
      LAPILLI_CHECK(linear_part(qkv, with_layer(n.q, layer), d, {nullptr, 0, 1, 1, false, 0}));
      LAPILLI_CHECK(keys_values(qkv, n, layer, heads, d));
      w.qkv = add(std::move(qkv));
    }
    LAPILLI_CHECK(linear(with_layer(n.out, layer), d, d, w.out));
    return norm(with_layer(n.norm, layer), w.norm);
  }

  Status stack(const StackConfig& s, const LayerNames& n, bool cross, StackWeights& w) {
    w.layers.resize(s.layers);
    for (uint32_t i = 0; i < s.layers; ++i) {
      LAPILLI_CHECK(attention(n.self, i, s.heads, false, w.layers[i].self));
      if (cross) LAPILLI_CHECK(attention(n.cross, i, s.heads, true, w.layers[i].cross));
      LAPILLI_CHECK(linear(with_layer(n.fc1, i), s.ffn, c_.d_model, w.layers[i].fc1));
      LAPILLI_CHECK(linear(with_layer(n.fc2, i), c_.d_model, s.ffn, w.layers[i].fc2));
      LAPILLI_CHECK(norm(with_layer(n.norm, i), w.layers[i].norm));
    }
    return {};
  }

  const Config& c_;
  const Names& names_;
  const Checkpoint& checkpoint_;
  Network& net_;
};

}  // namespace

Result<Network> bind_weights(const Config& config, const Names& names, const Checkpoint& checkpoint) {
  Network network;
  network.config = config;
  LAPILLI_CHECK(WeightBinder(config, names, checkpoint, network).run());
  return network;
}

}  // namespace lapilli::model
