#include "model/blocks/clusters.hpp"

#include "ops/rows/cluster_scores.hpp"

namespace lapilli::model {

// A row is that of its id's cluster: in the others' tables its id is not known and gives zeros.
graph::TensorId embed_clusters(Builder& b, const IdRows& rows, const EmbedAttributes& attributes) {
  const Config& c = b.config();
  graph::TensorId x = graph::kNone;
  for (size_t i = 0; i < c.clusters.size(); ++i) {
    const ClusterWeights& w = b.network().clusters[i];
    const std::string label = format("decoder.embed.%u", i);
    EmbedAttributes e = attributes;
    e.first_id = c.clusters[i].first;
    e.vocabulary = c.clusters[i].ids;
    e.beyond = b.network().weights[w.embedding].n - e.vocabulary;
    e.d = c.clusters[i].width;
    const auto own =
        ops::embed(b.g(), label, {rows.ids, b.weight(w.embedding), graph::kNone, rows.step_or_spans, rows.rows}, e);
    if (!c.clusters[i].projected)
      x = x == graph::kNone ? own : ops::add(b.g(), label + ".add", x, own);
    else if (x == graph::kNone)
      x = ops::linear(b.g(), label + ".projection", own, b.weight(w.embedding_projection), c.decoder.d_model);
    else
      x = ops::linear_add(b.g(), label + ".projection", own, b.weight(w.embedding_projection), x);
  }
  return x;
}

namespace {

// Scores of a cluster's ids and of the entries behind them.
graph::TensorId cluster_products(Builder& b, size_t i, graph::TensorId x) {
  const Cluster& cluster = b.config().clusters[i];
  const ClusterWeights& w = b.network().clusters[i];
  const std::string label = format("output.%u", i);
  if (cluster.projected) x = ops::linear(b.g(), label + ".projection", x, b.weight(w.output_projection), cluster.width);
  return ops::linear(b.g(), label, x, b.weight(w.output), b.network().weights[w.output].n);
}

}  // namespace

graph::TensorId cluster_logits(Builder& b, graph::TensorId x) {
  const auto& clusters = b.config().clusters;
  const auto head = cluster_products(b, 0, x);
  auto y = ops::cluster_head(b.g(), "logits", head, clusters[0].ids, b.config().target_vocabulary);
  for (uint32_t i = 1; i < clusters.size(); ++i)
    y = ops::cluster_tail(b.g(), format("logits.%u", i), {cluster_products(b, i, x), head, y},
                          {clusters[i].first, clusters[i].ids, clusters[0].ids + i - 1});
  return y;
}

}  // namespace lapilli::model
