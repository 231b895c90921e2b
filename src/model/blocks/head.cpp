#include "model/blocks/head.hpp"

#include "model/blocks/norm.hpp"
#include "model/blocks/output.hpp"
#include "ops/core/state.hpp"

namespace lapilli::model {

namespace {

class HeadBlock {
 public:
  HeadBlock(Builder& b, const HeadConfig& head, const HeadWeights& w) : b_(b), head_(head), w_(w) {}

  // The rows of x that the head reads: all of them, or one for each source.
  graph::TensorId rows(const ops::SpannedRows& from, const HeadRun& run) {
    if (head_.every_row) return run.chosen ? chosen_rows(from.x, run.chosen) : from.x;
    PoolAttributes how{head_.pooling, head_.row};
    for (const Pooling more : head_.beside) how.beside[how.more++] = more;
    if (!head_.pools_prompt) how.skipped = run.prompt_rows;
    return ops::pool(b_.g(), "head.rows", from, run.sources, how);
  }

  graph::TensorId chosen_rows(graph::TensorId x, uint32_t rows) {
    const auto spans = b_.state(state_id(StateKind::head_spans), "head_spans", state::MAX_ROWS, state::SPAN_STRIDE);
    return ops::pool(b_.g(), "head.rows", {x, spans}, rows, {Pooling::row});
  }

  graph::TensorId sentence(graph::TensorId h) {
    constexpr float kSmallestLength = 1e-12f;
    for (size_t i = 0; i < head_.steps.size(); ++i) {
      const SentenceStep& step = head_.steps[i];
      const std::string label = format("sentence.%u", i);
      const auto weight = b_.weight(w_.steps[i]);
      const float columns = static_cast<float>(b_.g().tensor(h).cols);
      h = step.columns ? ops::linear(b_.g(), label, h, weight, {step.columns, step.activation})
                       : ops::layer_norm(b_.g(), label, h, weight, {kSmallestLength * kSmallestLength / columns, 1});
    }
    return h;
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

void keep_head(Builder& b, size_t i, const ops::SpannedRows& rows, const HeadRun& run) {
  const HeadWeights& w = b.network().heads[i];
  const HeadConfig& config = b.config().heads[i];
  HeadBlock head(b, config, w);
  if (config.kind == HeadKind::sentences) return b.keep("sentence_embedding", head.sentence(head.rows(rows, run)));
  if (w.pooled == kNoWeight && !head.has_scores()) return;
  const auto h = head.pooled(head.rows(rows, run));
  if (!head.has_scores()) return;
  auto scores = head.scores(h);
  if (w.second != kNoWeight)
    scores = head.mean_scores(scores, ops::pool(b.g(), "head.second", rows, run.sources, {Pooling::row, 1}));
  b.keep("logits", scores);
}

}  // namespace

void keep_heads(Builder& b, const ops::SpannedRows& rows, const HeadRun& run) {
  for (size_t i = 0; i < b.config().heads.size(); ++i)
    if (!run.only || b.config().heads[i].kind == *run.only) keep_head(b, i, rows, run);
}

}  // namespace lapilli::model
