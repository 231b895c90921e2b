#include "model/blocks/head.hpp"

#include "model/blocks/norm.hpp"
#include "model/blocks/output.hpp"

namespace lapilli::model {

namespace {

class HeadBlock {
 public:
  HeadBlock(Builder& b, const HeadConfig& head, const HeadWeights& w) : b_(b), head_(head), w_(w) {}

  // The rows of x that the head reads: all of them, or one for each source.
  graph::TensorId rows(graph::TensorId x, graph::TensorId spans, uint32_t sources) {
    if (head_.every_row) return x;
    return ops::pool(b_.g(), "head.rows", {x, spans}, sources, {head_.pooling, head_.row});
  }

  graph::TensorId pooled(graph::TensorId h) {
    if (w_.pooled == kNoWeight) return h;
    h = ops::linear(b_.g(), "pooler", h, b_.weight(w_.pooled), {head_.pooled, head_.activation});
    if (w_.norm != kNoWeight) h = normalize(b_, "pooler.norm", {b_.config().last_stack(), w_.norm}, h);
    if (head_.kind == HeadKind::vectors) b_.keep("pooler_output", h);
    return h;
  }

  [[nodiscard]] bool has_scores() const { return head_.kind == HeadKind::tokens || w_.result != kNoWeight; }

  graph::TensorId scores(graph::TensorId h) {
    if (head_.kind == HeadKind::tokens) return output_logits(b_, h);
    return ops::linear(b_.g(), "classifier", h, b_.weight(w_.result), head_.columns);
  }

  // The mean of two classifiers, each on its own row (Touvron et al. 2020, DeiT).
  graph::TensorId mean_scores(graph::TensorId scores, graph::TensorId second) {
    const auto other = ops::linear(b_.g(), "distillation", second, b_.weight(w_.second), head_.columns);
    return ops::scale(b_.g(), "scores.mean", ops::add(b_.g(), "scores.sum", scores, other), 0.5f);
  }

 private:
  Builder& b_;
  const HeadConfig& head_;
  const HeadWeights& w_;
};

}  // namespace

void keep_heads(Builder& b, graph::TensorId x, graph::TensorId spans, uint32_t sources) {
  for (size_t i = 0; i < b.config().heads.size(); ++i) {
    const HeadWeights& w = b.network().heads[i];
    HeadBlock head(b, b.config().heads[i], w);
    if (w.pooled == kNoWeight && !head.has_scores()) continue;
    const auto h = head.pooled(head.rows(x, spans, sources));
    if (!head.has_scores()) continue;
    auto scores = head.scores(h);
    if (w.second != kNoWeight)
      scores = head.mean_scores(scores, ops::pool(b.g(), "head.second", {x, spans}, sources, {Pooling::row, 1}));
    b.keep("logits", scores);
  }
}

}  // namespace lapilli::model
