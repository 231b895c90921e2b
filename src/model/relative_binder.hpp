// Binds the weights of relative positions: vectors of distances, segments, and projections that are stored by head.
#pragma once

#include "model/relative.hpp"
#include "model/tensor_binder.hpp"

namespace lapilli::model {

class RelativeBinder : protected TensorBinder {
 protected:
  using TensorBinder::TensorBinder;

  // A projection that is stored by head, [d_model, heads, head_dim], as a matrix: to the heads, or from them.
  Result<WeightPart> head_matrix(const std::string& name, const StackConfig& s, bool from_heads, WeightPart place);
  // Adds such a projection to the heads, with the bias of that name unless it is empty.
  Status head_part(WeightSpec& spec, const std::string& name, const std::string& bias, const Place& at,
                   WeightPart place);
  // Attention with segments: three times the queries, each with a bias of its own, then room for a row's type.
  Status segment_attention(const AttentionNames& n, const Place& at, AttentionWeights& w);
  Status segments(const AttentionNames& n, const Place& at, AttentionWeights& w);
  // The vectors of distances, and the row of each distance.
  Status distance_vectors(const StackConfig& s, const StackNames& names, StackWeights& w);
  Status stored_vectors(const StackConfig& s, const StackNames& names, WeightSpec& spec);
  void distance_rows(const StackConfig& s, RelativeTable table, StackWeights& w);
  Status vector_projection(const AttentionNames& n, const Place& at, AttentionWeights& w);
  // A row for each type, with its number in the column of queries that is for it.
  void segment_types(const StackConfig& s, StackWeights& w);
};

}  // namespace lapilli::model
