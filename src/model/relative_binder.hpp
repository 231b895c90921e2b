// Binds the weights of relative positions: vectors of distances, segments, and projections that are stored by head.
#pragma once

#include <span>
#include <vector>

#include "model/cluster_binder.hpp"
#include "model/relative.hpp"

namespace lapilli::model {

class RelativeBinder : protected ClusterBinder {
 protected:
  using ClusterBinder::ClusterBinder;

  // A projection that is stored by head, [d_model, heads, head_dim], as a matrix: to the heads, or from them.
  Result<WeightPart> head_matrix(const std::string& name, const StackConfig& s, bool from_heads, WeightPart place);
  // Adds such a projection to the heads, with the bias of that name unless it is empty.
  Status head_part(WeightSpec& spec, const std::string& name, const std::string& bias, const Place& at,
                   WeightPart place);
  // Attention with segments: three times the queries, each with a bias of its own, then room for a row's type.
  Status segment_attention(const AttentionNames& n, const Place& at, AttentionWeights& w);
  Status segments(const AttentionNames& n, const Place& at, AttentionWeights& w);
  // Vectors of distances for keys and values (reach).
  Status reach_vectors(const AttentionNames& n, const Place& at, AttentionWeights& w);
  // Attention of a recurrent decoder: queries twice, each time with a bias of its own. The norm before it has no bias:
  // zeros before a text then have keys and values of zeros, and the bias is part of those of queries and output.
  Status recurrent_attention(const AttentionNames& n, const Place& at, AttentionWeights& w);
  // The vectors of distances, and the row of each distance.
  Status distance_vectors(const StackConfig& s, const StackNames& names, StackWeights& w);
  Status stored_vectors(const StackConfig& s, const StackNames& names, WeightSpec& spec);
  void distance_rows(const StackConfig& s, RelativeTable table, StackWeights& w);
  Status vector_projection(const AttentionNames& n, const Place& at, AttentionWeights& w);
  // A row for each type, with its number in the column of queries that is for it.
  void segment_types(const StackConfig& s, StackWeights& w);
  // The vector with which rows of a second stream begin, whatever their type; none unless stored.
  Status second_stream(const StackConfig& s, const StackNames& names, StackWeights& w);

 private:
  // The norm's bias through the projections to queries, keys and values; zeros without such a norm.
  Result<std::vector<float>> projected_bias(const AttentionNames& n, const Place& at);
  Status recurrent_queries(WeightSpec& spec, const AttentionNames& n, const Place& at, std::span<const float> added);
  Status recurrent_out(const AttentionNames& n, const Place& at, std::span<const float> values, WeightIndex& index);
  Status lines(const AttentionNames& n, const Place& at, AttentionWeights& w);
};

}  // namespace lapilli::model
