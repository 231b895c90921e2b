#include "search/logits_pass.hpp"

#include <algorithm>
#include <array>

#include "ops/search/search_util.hpp"

namespace lapilli {

void put_prompt_rows(UploadArea& area, const Plan& plan, std::span<const uint32_t> rows) {
  const auto words = area.words(StateKind::prompt);
  std::fill(words.begin(), words.end(), 0u);
  words[state::STEP_LIVE] = static_cast<uint32_t>(rows.size());
  std::copy(rows.begin(), rows.end(), words.begin() + state::STEP_ROWS);
  auto grids = grid_words(plan.grids, plan.max_group_x);
  for (uint32_t i = 0; i < state::MAX_GRIDS; ++i)
    search::write_grid(grids, uint64_t{i} * state::GRID_STRIDE, static_cast<uint32_t>(rows.size()));
  std::copy(grids.begin(), grids.end(), area.words(StateKind::prompt_grids).begin());
}

Result<std::unique_ptr<LogitsPass>> LogitsPass::create(const Session& session, const BoundPlan& prompt,
                                                       graph::TensorId logits) {
  std::unique_ptr<LogitsPass> pass(new LogitsPass());
  LAPILLI_TRY(pass->area_, UploadArea::create(session, std::array{StateKind::prompt, StateKind::prompt_grids}));
  const Plan& plan = prompt.plan();
  const graph::Tensor& t = plan.graph.tensor(logits);
  pass->rows_ = t.rows;
  pass->words_ = t.cols;
  pass->stride_ = t.ld;
  const uint64_t bytes = t.rows * t.ld * 4;
  LAPILLI_TRY(pass->logits_, session.device()->make_buffer(bytes, vulkan::MemoryUse::readback, "logits"));
  const BufferRef arena = session.arena(ArenaOf::admission);
  LAPILLI_TRY(auto copy, vulkan::CommandRecording::create(session.device()));
  LAPILLI_CHECK(copy.begin());
  copy.copy(*arena.buffer, arena.offset + plan.placement.offset[plan.graph.root(logits)], pass->logits_, 0, bytes);
  LAPILLI_CHECK(copy.end());
  pass->copy_ = std::make_unique<vulkan::CommandRecording>(std::move(copy));
  return pass;
}

Result<std::span<const float>> LogitsPass::read(size_t row) const {
  if (row >= rows_ || !logits_.mapped()) return fail(ErrorCode::internal, "logits row %u cannot be read", row);
  LAPILLI_CHECK(logits_.invalidate(row * stride_ * 4, words_ * 4));
  return std::span(reinterpret_cast<const float*>(logits_.mapped()) + row * stride_, words_);
}

}  // namespace lapilli
