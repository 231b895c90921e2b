#include "model/cluster_binder.hpp"

namespace lapilli::model {

Status ClusterBinder::clusters() {
  net_.clusters.resize(c_.clusters.size());
  for (size_t i = 0; i < c_.clusters.size(); ++i) LAPILLI_CHECK(cluster(i, net_.clusters[i]));
  return {};
}

Status ClusterBinder::cluster(size_t i, ClusterWeights& w) {
  const Cluster& cluster = c_.clusters[i];
  const ClusterNames& names = names_.clusters[i];
  LAPILLI_TRY(const auto* table, find_matrix(names.embedding, cluster.stored_rows, cluster.width));
  LAPILLI_TRY(const auto* output, find_matrix(names.output, cluster.stored_rows, cluster.width));
  LAPILLI_CHECK(cluster_output(i, output, w.output));
  w.embedding = w.output;
  if (!tied(table, output)) {
    WeightSpec spec = matrix(format("embedding.%u", i), cluster.ids, cluster.width);
    LAPILLI_CHECK(take_format(spec, *table));
    take_rows(table, cluster.stored_first, cluster.ids, spec.parts.emplace_back());
    net_.parameters += uint64_t{cluster.ids} * cluster.width;
    w.embedding = add(std::move(spec));
  }
  return cluster.projected ? cluster_projections(i, w) : Status();
}

Status ClusterBinder::cluster_output(size_t i, const StoredTensor* table, WeightIndex& index) {
  const Cluster& cluster = c_.clusters[i];
  const auto entries = static_cast<uint32_t>(i == 0 ? c_.clusters.size() - 1 : 0);
  WeightSpec spec = matrix(format("output.%u", i), cluster.ids + entries, cluster.width);
  LAPILLI_CHECK(take_format(spec, *table));
  take_rows(table, cluster.stored_first, cluster.ids, spec.parts.emplace_back());
  LAPILLI_TRY(const auto* bias, find(names_.clusters[i].output_bias, {cluster.stored_rows}));
  WeightPart part;
  part.bias = true;
  take_rows(bias, cluster.stored_first, cluster.ids, part);
  spec.parts.push_back(std::move(part));
  net_.parameters += uint64_t{cluster.ids} * (cluster.width + 1);
  if (entries) LAPILLI_CHECK(cluster_entries(spec, cluster.ids));
  index = add(std::move(spec));
  return {};
}

Status ClusterBinder::cluster_entries(WeightSpec& spec, uint32_t column) {
  const uint64_t entries = c_.clusters.size() - 1;
  WeightPart part = columns(column);
  LAPILLI_TRY(part.tensor, find_matrix({names_.cluster_entries}, entries, spec.k));
  LAPILLI_CHECK(take_format(spec, *part.tensor));
  net_.parameters += entries * spec.k;
  spec.parts.push_back(part);
  LAPILLI_TRY(part.tensor, find({names_.cluster_entries_bias}, {entries}));
  part.bias = true;
  count(part.tensor);
  spec.parts.push_back(part);
  return {};
}

// Both are stored [d_model, width].
Status ClusterBinder::cluster_projections(size_t i, ClusterWeights& w) {
  const uint32_t d = c_.decoder.d_model, width = c_.clusters[i].width;
  const ClusterNames& names = names_.clusters[i];
  LAPILLI_TRY(const auto* in, find(names.embedding_projection, {d, width}));
  LAPILLI_TRY(const auto* out, find(names.output_projection, {d, width}));
  WeightSpec to_network = matrix(in->name, d, width), from_network = matrix(out->name, width, d);
  to_network.parts.push_back(whole(in));
  take_share(out, {{}, false, true}, from_network.parts.emplace_back());
  if (c_.clusters[i].stored_first == 0) count(in);  // clusters of one table share it
  if (out != in && !tied(out, in)) count(out);
  w.embedding_projection = add(std::move(to_network));
  w.output_projection = add(std::move(from_network));
  return {};
}

}  // namespace lapilli::model
