#include "generate/encoders/score_pass.hpp"

#include <cstring>
#include <utility>

#include "ops/products/matmul.hpp"
#include "runtime/check/self_test.hpp"

namespace lapilli {

namespace {

WeightLayout layout_of(const ScoreShape& shape) { return {shape.queries, shape.dimensions}; }

graph::TensorId add_rows(graph::Graph& g, const ScoreShape& shape) {
  graph::Tensor t;
  t.name = "vectors";
  t.rows = shape.rows;
  t.cols = shape.dimensions;
  t.ld = shape.row_stride();
  t.space = graph::Space::state;
  t.id = state_id(StateKind::vectors);
  return g.add_tensor(std::move(t));
}

graph::TensorId add_queries(graph::Graph& g, const ScoreShape& shape) {
  graph::Tensor t;
  t.name = "queries";
  t.cols = t.ld = layout_of(shape).words();
  t.space = graph::Space::weight;
  return g.add_tensor(std::move(t));
}

// A column for each query.
std::vector<float> packed_queries(const ScoreShape& shape, std::span<const float> queries) {
  const WeightLayout layout = layout_of(shape);
  std::vector<float> words(layout.words());
  for (uint64_t q = 0; q < shape.queries; ++q)
    for (uint64_t d = 0; d < shape.dimensions; ++d) words[layout.word(q, d)] = queries[q * shape.dimensions + d];
  return words;
}

}  // namespace

ScorePass::ScorePass(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape)
    : device_(std::move(device)), shape_(shape) {
  scores_ = ops::linear(graph_, "scores", add_rows(graph_, shape), add_queries(graph_, shape), shape.queries);
  graph_.tensor(scores_).keep = true;
}

Result<std::unique_ptr<ScorePass>> ScorePass::create(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape,
                                                     std::span<const float> queries) {
  std::unique_ptr<ScorePass> pass(new ScorePass(std::move(device), shape));
  LAPILLI_CHECK(pass->put_queries(queries));
  LAPILLI_TRY(const auto plan, compile_tested(pass->device_, pass->graph_));
  LAPILLI_TRY(pass->session_, Session::create(pass->device_));
  pass->session_->require_arena(plan->arena_bytes());
  LAPILLI_CHECK(pass->session_->allocate());
  for (Lane& lane : pass->lanes_) LAPILLI_CHECK(pass->bind(plan, lane));
  return pass;
}

Status ScorePass::put_queries(std::span<const float> queries) {
  const auto words = packed_queries(shape_, queries);
  const auto bytes = std::as_bytes(std::span(words));
  LAPILLI_TRY(queries_, device_->make_buffer(bytes.size(), vulkan::MemoryUse::shared, "queries"));
  return device_->write(queries_, 0, bytes, 0);
}

// The kernel reads the rows where the host wrote them: each is read once, so that a copy would gain nothing.
Status ScorePass::bind(const std::shared_ptr<const Plan>& plan, Lane& lane) {
  const uint64_t bytes = shape_.rows * shape_.row_stride() * sizeof(float);
  LAPILLI_TRY(lane.rows, device_->make_buffer(bytes, vulkan::MemoryUse::upload, "vectors"));
  if (!lane.rows.mapped()) return fail(ErrorCode::internal, "the host cannot write vectors");
  std::memset(lane.rows.mapped(), 0, bytes);
  const auto find = [&](graph::Space space, uint32_t) {
    const vulkan::Buffer& buffer = space == graph::Space::weight ? queries_ : lane.rows;
    return BufferRef{&buffer, 0, buffer.size()};
  };
  LAPILLI_TRY(auto bound, BoundPlan::bind(device_, plan, session_->memory(find)));
  lane.plan = std::make_unique<BoundPlan>(std::move(bound));
  return record_copy(lane);
}

Status ScorePass::record_copy(Lane& lane) const {
  const Plan& plan = lane.plan->plan();
  const uint64_t bytes = plan.graph.tensor(scores_).bytes();
  LAPILLI_TRY(lane.scores, device_->make_buffer(bytes, vulkan::MemoryUse::readback, "scores"));
  if (!lane.scores.mapped()) return fail(ErrorCode::internal, "the host cannot read scores");
  LAPILLI_TRY(auto copy, vulkan::CommandRecording::create(device_));
  LAPILLI_CHECK(copy.begin());
  const BufferRef arena = session_->arena();
  copy.copy(*arena.buffer, arena.offset + plan.placement.offset[plan.graph.root(scores_)], lane.scores, 0, bytes);
  LAPILLI_CHECK(copy.end());
  lane.copy = std::make_unique<vulkan::CommandRecording>(std::move(copy));
  return {};
}

std::span<float> ScorePass::rows(size_t lane) const {
  const vulkan::Buffer& buffer = lanes_[lane].rows;
  return {reinterpret_cast<float*>(buffer.mapped()), static_cast<size_t>(buffer.size() / sizeof(float))};
}

Status ScorePass::begin(size_t lane) {
  Lane& with = lanes_[lane];
  LAPILLI_CHECK(with.rows.flush(0, with.rows.size()));
  with.submitter.emplace(device_);
  with.plan->add_to(*with.submitter);
  with.submitter->add(*with.copy, {});
  LAPILLI_TRY(const bool submitted, with.submitter->submit());
  (void)submitted;  // finish() submits the rest
  return {};
}

Result<std::span<const float>> ScorePass::finish(size_t lane) {
  Lane& with = lanes_[lane];
  LAPILLI_CHECK(with.submitter->submit_all());
  LAPILLI_CHECK(device_->wait(with.submitter->last()));
  with.submitter.reset();
  LAPILLI_CHECK(with.scores.invalidate(0, with.scores.size()));
  return std::span<const float>(reinterpret_cast<const float*>(with.scores.mapped()),
                                static_cast<size_t>(with.scores.size() / sizeof(float)));
}

}  // namespace lapilli
