// A family's Config and names bound to a checkpoint: the list of weights to load, and their use by the layers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "formats/checkpoint.hpp"
#include "model/config.hpp"
#include "ops/core/kv_layout.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli::model {

// One stored tensor's part in a weight.
struct WeightPart {
  const StoredTensor* tensor = nullptr;
  std::shared_ptr<const StoredTensor> view;  // owns `tensor` if that is a share of a stored tensor, or transposed
  const StoredTensor* rows_of = nullptr;     // with a view: the tensor whose rows it has; null: it is transposed
  // matrix and bias parts: row r of the stored matrix becomes column first_column + r / group * group_stride + r %
  // group
  uint32_t first_column = 0, group = 1, group_stride = 1;
  bool bias = false;
  uint64_t destination = 0;  // vectors: first element
  bool one_row = false;      // tables: its first row is added only to row `destination`
};

// A weight tensor of the graphs, by index: its parts and its size.
struct PatchGrid;
struct WeightSpec {
  enum class Kind : uint8_t {
    matrix,  // packed (ops/products/matmul.hpp): n columns, k deep
    vector,  // parts one after the other (normalization: weight, bias)
    table,   // [rows, d] as stored; further parts add their row `destination` to every row, or see one_row
    values,  // computed on the host
  } kind = Kind::matrix;
  std::string name;
  uint32_t n = 0, k = 0;  // matrix: columns, depth; table: rows n, width k
  uint64_t words = 0;
  std::vector<WeightPart> parts;
  std::shared_ptr<const PatchGrid> grid;             // tables: resizing before use; null: none
  std::vector<float> values;                         // as WeightSource::values
  float plus = 0;                                    // vectors: added to every number
  std::function<Result<std::vector<float>>()> make;  // values that take time: made when the weights are loaded
  // The format of packed matrices, stored or computed; that of the stored tensors if these are packed.
  WeightFormat format = WeightFormat::fp32;
};

// Rows of words (packed::row_words), not of numbers.
inline bool is_packed(const StoredTensor& tensor) { return tensor.type == StoredType::u32; }

using WeightIndex = uint32_t;
constexpr WeightIndex kNoWeight = ~0u;
struct AttentionWeights {
  // self: q (with streams also the relative bias), then keys and values by head; cross: only q; with cells, in place of
  // self attention: gates, then values (cell_columns)
  WeightIndex qkv = kNoWeight;
  WeightIndex kv = kNoWeight;  // cross, and self with query_norm_alone, whose qkv is q; with merged attention all that
                               // cross attention has, beside head_norms
  WeightIndex out = kNoWeight, norm = kNoWeight, after_norm = kNoWeight;
  // Relative positions: values [buckets][heads] and the bucket of each distance (relative.hpp), in kBiasWords words
  // each. Layers may share them.
  WeightIndex relative_bias = kNoWeight, distances = kNoWeight;
  int32_t distance_low = 0;
  uint32_t distance_count = 0;
  WeightIndex rotations = kNoWeight;   // rotary positions: the table of "rotate", shared by layers and stacks
  WeightIndex head_norms = kNoWeight;  // norms of the heads of queries, then of keys
  WeightIndex global_qkv = kNoWeight;  // window attention: like qkv, for global positions
  // Projection of distance vectors: to queries, if keys see these, then to keys. kNoWeight: qkv is it.
  WeightIndex vectors = kNoWeight;
  // Recurrent stacks: the vectors of distances through the layer's projection, computed once [distances, inner].
  WeightIndex lines = kNoWeight;
  WeightIndex segments = kNoWeight;  // vectors of same and other segments, in kBiasWords words
  // With reach: the vectors of distances [2 * reach + 1][head_dim], in kBiasWords words.
  WeightIndex distance_table = kNoWeight;
};
struct LayerWeights {
  AttentionWeights self, cross;
  WeightIndex fc1 = kNoWeight;  // gated: fc1 and gate side by side (gate_value_column)
  WeightIndex fc2 = kNoWeight, norm = kNoWeight, after_norm = kNoWeight;
  std::vector<WeightIndex> middle;  // of the feed-forward
};
struct StackWeights {
  WeightIndex embedding = kNoWeight, positions = kNoWeight, embedding_norm = kNoWeight, final_norm = kNoWeight;
  WeightIndex row_types = kNoWeight, embedding_projection = kNoWeight;
  // The layers of the encoder's input, and their norms.
  std::vector<WeightIndex> input, input_norms;
  WeightIndex vectors = kNoWeight, vectors_norm = kNoWeight;  // distance vectors
  WeightIndex convolution = kNoWeight, convolution_norm = kNoWeight;
  WeightIndex segment_types = kNoWeight;  // rows to add to queries: each type's number in its column
  WeightIndex second_stream = kNoWeight;  // a table that has the stream's first vector for each type of rows
  std::vector<WeightIndex> streams;  // positions of each predicting stream, including the vector that marks the stream
  std::vector<LayerWeights> layers;
};

struct StageWeights {
  StackWeights stack;
  WeightIndex merge_norm = kNoWeight, merge = kNoWeight;
};

struct ClusterWeights {
  WeightIndex embedding = kNoWeight, embedding_projection = kNoWeight;
  WeightIndex output = kNoWeight, output_projection = kNoWeight;  // the first one's output has the clusters' entries
};

struct HeadWeights {
  WeightIndex pooled = kNoWeight, norm = kNoWeight, result = kNoWeight, second = kNoWeight;
  std::vector<WeightIndex> steps;  // as HeadConfig::steps; a norm for those without columns
};

// Indices of parts that the Config does not have are kNoWeight.
struct Network {
  Config config;
  std::vector<WeightSpec> weights;
  StackWeights encoder, decoder;
  std::vector<StageWeights> stages;
  WeightIndex output = kNoWeight;
  std::vector<ClusterWeights> clusters;  // as Config::clusters, instead of `output` and the embedding
  WeightIndex memory_projection = kNoWeight, output_transform = kNoWeight, output_norm = kNoWeight;
  std::vector<HeadWeights> heads;  // as Config::heads; the scores of tokens are `output`
  uint64_t parameters = 0;         // numbers used from the checkpoint, tied ones once
  // Tensors whose values equal another one's, which is used instead.
  std::vector<std::pair<std::string, std::string>> tied;
  KvFormat kv_format = KvFormat::fp32;  // of the caches of a search

  // Distinguishes networks by family and by names, sizes and formats of weights: equal ones probably need the same
  // pipelines.
  [[nodiscard]] uint64_t fingerprint() const;
};

// Finds every tensor the configuration asks for and checks its shape; the error names tensor, shape and expectation.
// The network points into the checkpoint, which must live until the weights are loaded. `packed`: matrices may be
// stored in that format, as rows of words; none: they may not be packed.
Result<Network> bind_weights(const Config& config, const Names& names, const Checkpoint& checkpoint,
                             std::optional<WeightFormat> packed = std::nullopt);

// The same shapes with weights drawn from a seeded generator, for benchmarks and node-by-node comparison.
Network random_network(const Config& config, uint64_t seed, WeightFormat format = WeightFormat::fp32);

}  // namespace lapilli::model
