#include "model/blocks/head.hpp"

namespace lapilli::model {

namespace {

// Gathers row `row` of each source: an alias of x with one row per source, of which the columns are copied.
graph::TensorId rows_at(Builder& b, graph::TensorId x, uint32_t batch, uint32_t length, uint32_t row) {
  graph::Tensor sources = b.g().tensor(x);
  const uint64_t cols = sources.cols, first = row * sources.ld;
  sources.name = format("head.sources%u", row);
  sources.rows = batch;
  sources.cols = first + cols;
  sources.ld *= length;
  sources.alias = x;
  sources.keep = false;
  return ops::copy(b.g(), format("head.row%u", row), b.g().add_tensor(std::move(sources)), first, cols);
}

// The mean of two classifiers, each on its own row (Touvron et al. 2020, DeiT).
graph::TensorId mean_scores(Builder& b, graph::TensorId scores, graph::TensorId second) {
  const auto other =
      ops::linear(b.g(), "distillation", second, b.weight(b.network().distillation), b.config().head.classes);
  return ops::scale(b.g(), "scores.mean", ops::add(b.g(), "scores.sum", scores, other), 0.5f);
}

}  // namespace

void keep_heads(Builder& b, graph::TensorId x, uint32_t batch, uint32_t length) {
  const HeadConfig& head = b.config().head;
  const Network& n = b.network();
  if (n.pooler == kNoWeight && n.classifier == kNoWeight) return;
  auto first = rows_at(b, x, batch, length, 0);
  if (n.pooler != kNoWeight) {
    first = ops::linear(b.g(), "pooler", first, b.weight(n.pooler), head.pooled, head.activation);
    b.keep("pooler_output", first);
  }
  if (n.classifier == kNoWeight) return;
  auto scores = ops::linear(b.g(), "classifier", first, b.weight(n.classifier), head.classes);
  if (n.distillation != kNoWeight) scores = mean_scores(b, scores, rows_at(b, x, batch, length, 1));
  b.keep("logits", scores);
}

}  // namespace lapilli::model
