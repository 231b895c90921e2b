#include "model/blocks/token_scores.hpp"

#include <algorithm>

#include "model/blocks/output.hpp"
#include "ops/search/token_scores.hpp"

namespace lapilli::model {

namespace {

// The rows that are worked on at a time take 64 MiB.
constexpr uint64_t kLogits = 1 << 24;

}  // namespace

void keep_token_scores(Builder& b, graph::TensorId x, graph::TensorId ids) {
  const uint64_t rows = b.g().tensor(x).rows, columns = std::max(b.config().target_vocabulary, 1u);
  const uint64_t together = std::clamp<uint64_t>(kLogits / columns, 1, rows);
  for (uint64_t from = 0; from < rows; from += together) {
    const std::string label = format("token_scores.%u", from);
    const uint64_t count = std::min(together, rows - from);
    const auto part = count == rows ? x : ops::copy_rows(b.g(), label + ".rows", x, from, count);
    const auto logits = output_logits(b, part);
    b.keep(label, ops::token_scores(b.g(), label, logits, ids, static_cast<uint32_t>(from)));
  }
}

}  // namespace lapilli::model
