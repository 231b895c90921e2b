#include "model/blocks/head.hpp"

namespace lapilli::model {

namespace {

// The first row of each source: the same bytes with its other rows skipped, brought together.
graph::TensorId first_rows(Builder& b, graph::TensorId x, uint32_t batch, uint32_t length) {
  graph::Tensor rows = b.g().tensor(x);
  rows.name = "head.rows";
  rows.rows = batch;
  rows.ld *= length;
  rows.alias = x;
  rows.keep = false;
  return ops::copy(b.g(), "head.first", b.g().add_tensor(std::move(rows)));
}

}  // namespace

void keep_heads(Builder& b, graph::TensorId x, uint32_t batch, uint32_t length) {
  const HeadConfig& head = b.config().head;
  const Network& n = b.network();
  if (n.pooler == kNoWeight && n.classifier == kNoWeight) return;
  auto first = first_rows(b, x, batch, length);
  if (n.pooler != kNoWeight) {
    first = ops::linear(b.g(), "pooler", first, b.weight(n.pooler), head.pooled, head.activation);
    b.keep("pooler_output", first);
  }
  if (n.classifier != kNoWeight)
    b.keep("logits", ops::linear(b.g(), "classifier", first, b.weight(n.classifier), head.classes));
}

}  // namespace lapilli::model
