// Binds the embeddings and the output of an adaptive softmax (Config::clusters).
#pragma once

#include "model/tensor_binder.hpp"

namespace lapilli::model {

class ClusterBinder : protected TensorBinder {
 protected:
  using TensorBinder::TensorBinder;

  Status clusters();

 private:
  Status cluster(size_t i, ClusterWeights& w);
  Status cluster_output(size_t i, const StoredTensor* table, WeightIndex& index);
  // The entries of the other clusters, behind the ids of the first.
  Status cluster_entries(WeightSpec& spec, uint32_t column);
  Status cluster_projections(size_t i, ClusterWeights& w);
};

}  // namespace lapilli::model
