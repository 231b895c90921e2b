// Finds the tensors of a checkpoint that a Config asks for, and makes weights of them: the tools of bind_weights().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/network.hpp"

namespace lapilli::model {

std::string shape_text(const std::vector<uint64_t>& shape);
std::string with_layer(const std::string& pattern, uint32_t layer);
// A part with the whole tensor.
WeightPart whole(const StoredTensor* t, bool bias = false, uint64_t destination = 0);
// A part's target columns.
WeightPart columns(uint32_t first, uint32_t group = 1, uint32_t stride = 1);
inline bool floating(StoredType t) { return t == StoredType::f32 || t == StoredType::f16 || t == StoredType::bf16; }

class TensorBinder {
 protected:
  TensorBinder(const Config& config, const Names& names, const Checkpoint& checkpoint,
               std::optional<WeightFormat> packed, Network& network)
      : c_(config), names_(names), checkpoint_(checkpoint), packed_(in_words(packed)), net_(network) {}

  // The tensor by its name, or its name in a bare model's checkpoint; null if there is none.
  [[nodiscard]] const StoredTensor* stored(const std::string& name) const;
  // 16-bit matrices are stored as ordinary numbers, not as words.
  static std::optional<WeightFormat> in_words(std::optional<WeightFormat> packed);
  // Finds a matrix, which may be packed.
  Result<const StoredTensor*> find_matrix(const std::vector<std::string>& names, uint64_t n, uint64_t k);
  // A matrix takes the format of its first stored tensor; the others must match.
  Status take_format(WeightSpec& spec, const StoredTensor& t) const;
  static Failure not_floating(const StoredTensor& t);
  // The first of the names that the checkpoint has, with this shape.
  Result<const StoredTensor*> find(const std::vector<std::string>& names, const std::vector<uint64_t>& shape);
  WeightIndex add(WeightSpec spec);
  // True if the values equal another tensor's, if there is one.
  bool tied(const StoredTensor* t, const StoredTensor* of);
  // Makes these rows of a tensor a part's.
  static void take_rows(const StoredTensor* all, uint64_t first, uint64_t rows, WeightPart& place);
  void count(const StoredTensor* t);
  static WeightSpec matrix(std::string name, uint32_t n, uint32_t k);
  Status norm(const std::string& name, const StackConfig& s, WeightIndex& index);
  Status norm(const std::string& name, const StackConfig& s, uint32_t width, WeightIndex& index);
  // A norm with room for a bias, which is zero unless stored.
  Status norm(const std::string& name, uint32_t width, bool room, bool stored_bias, WeightIndex& index);

  // A linear layer: its name, and the form in which weight and bias are stored.
  struct Linear {
    std::string name;
    bool bias = true;
    bool transposed = false;     // [depth, columns]
    uint32_t share = 0, of = 1;  // one of `of` layers that are side by side in one tensor
  };
  // Makes a layer's share of a tensor the rows of a view.
  static void take_share(const StoredTensor* all, const Linear& layer, WeightPart& place);
  // Adds one linear layer's weight and bias to a packed matrix.
  Status linear_part(WeightSpec& spec, const Linear& layer, uint32_t n, WeightPart place);
  Status linear(const Linear& layer, uint32_t n, uint32_t k, WeightIndex& index);

  // The numbered layer that is being bound.
  struct Place {
    const StackConfig& s;
    uint32_t layer;
    [[nodiscard]] Linear linear(const std::string& pattern) const {
      return {with_layer(pattern, layer), s.linear_bias, s.transposed_linear};
    }
    [[nodiscard]] Linear feed_forward(const std::string& pattern) const {
      Linear part = linear(pattern);
      part.bias = part.bias && s.ffn_bias;
      return part;
    }
  };
  // A table of values; equal ones of the same name are one.
  WeightIndex shared_values(const char* name, uint32_t n, uint32_t k, std::vector<float> values);
  enum Projected : size_t { kQueries, kKeys, kValues };
  // Queries, keys or values. Those of the same name are in one tensor, in this order.
  static Linear projection(const AttentionNames& n, const Place& at, Projected which);
  // Keys and values interleaved by head, after `q_columns` columns.
  Status keys_values(WeightSpec& spec, const AttentionNames& n, const Place& at, uint32_t q_columns);

  const Config& c_;
  const Names& names_;
  const Checkpoint& checkpoint_;
  const std::optional<WeightFormat> packed_;  // format of tensors whose rows are words
  Network& net_;
};

}  // namespace lapilli::model
