#include "generate/encoders/score_pass.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/products/matmul.hpp"
#include "runtime/check/self_test.hpp"

namespace lapilli {

namespace {

WeightLayout layout_of(const ScoreShape& shape) { return {shape.vectors, shape.dimensions}; }

graph::TensorId add_queries(graph::Graph& g, const ScoreShape& shape) {
  graph::Tensor t;
  t.name = "queries";
  t.rows = shape.queries;
  t.cols = shape.dimensions;
  t.ld = round_up<uint64_t>(shape.dimensions, 4);
  t.space = graph::Space::state;
  t.id = state_id(StateKind::queries);
  return g.add_tensor(std::move(t));
}

graph::TensorId add_vectors(graph::Graph& g, const ScoreShape& shape) {
  graph::Tensor t;
  t.name = "vectors";
  t.cols = t.ld = layout_of(shape).words();
  t.space = graph::Space::weight;
  return g.add_tensor(std::move(t));
}

// As many depths as a line of a cache has numbers.
constexpr size_t kTile = 16;

// Turns up to a panel of vectors into its columns. Each tile is written as a whole, in order: the memory may be slow to
// write otherwise.
void put_panel(std::span<const float> vectors, size_t dimensions, float* to) {
  const size_t count = vectors.size() / dimensions;
  std::array<float, kTile * packed::kPanel> tile{};
  for (size_t begin = 0; begin < dimensions; begin += kTile) {
    const size_t depth = std::min(kTile, dimensions - begin);
    for (size_t c = 0; c < count; ++c) {
      const float* from = vectors.data() + c * dimensions + begin;
      for (size_t k = 0; k < depth; ++k) tile[k * packed::kPanel + c] = from[k];
    }
    std::memcpy(to + begin * packed::kPanel, tile.data(), depth * packed::kPanel * sizeof(float));
  }
}

}  // namespace

ScorePass::ScorePass(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape)
    : device_(std::move(device)), shape_(shape) {
  scores_ = ops::linear(graph_, "scores", add_queries(graph_, shape), add_vectors(graph_, shape), shape.vectors);
  graph_.tensor(scores_).keep = true;
}

Result<std::unique_ptr<ScorePass>> ScorePass::create(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape,
                                                     std::span<const float> queries) {
  std::unique_ptr<ScorePass> pass(new ScorePass(std::move(device), shape));
  LAPILLI_TRY(const auto plan, compile_tested(pass->device_, pass->graph_));
  LAPILLI_CHECK(pass->reserve(*plan));
  LAPILLI_CHECK(pass->put_queries(queries));
  LAPILLI_TRY(pass->session_, Session::create(pass->device_));
  pass->session_->require_arena(plan->arena_bytes());
  LAPILLI_CHECK(pass->session_->allocate());
  for (Lane& lane : pass->lanes_) LAPILLI_CHECK(pass->bind(plan, lane));
  return pass;
}

// Counts the memory against the device's limit.
Status ScorePass::reserve(const Plan& plan) {
  const uint64_t lane = layout_of(shape_).words() * sizeof(float) + plan.graph.tensor(scores_).bytes();
  const vulkan::MemoryNeed need{vulkan::MemoryNeed::For::searches, kLanes * lane + plan.arena_bytes(),
                                "a block of vectors", "close what else is on the device"};
  LAPILLI_TRY(share_, device_->ledger()->reserve(need));
  return {};
}

Status ScorePass::put_queries(std::span<const float> queries) {
  const uint64_t stride = round_up<uint64_t>(shape_.dimensions, 4);
  std::vector<float> rows(shape_.queries * stride);
  for (uint64_t q = 0; q < shape_.queries; ++q)
    std::copy_n(queries.data() + q * shape_.dimensions, shape_.dimensions, rows.data() + q * stride);
  const auto bytes = std::as_bytes(std::span(rows));
  LAPILLI_TRY(queries_, device_->make_buffer(bytes.size(), vulkan::MemoryUse::shared, "queries"));
  return device_->write(queries_, 0, bytes, 0);
}

// The kernel reads the vectors where the host wrote them: each is read once, so that a copy would gain nothing.
Status ScorePass::bind(const std::shared_ptr<const Plan>& plan, Lane& lane) {
  const uint64_t bytes = layout_of(shape_).words() * sizeof(float);
  LAPILLI_TRY(lane.vectors, device_->make_buffer(bytes, vulkan::MemoryUse::upload, "vectors"));
  if (!lane.vectors.mapped()) return fail(ErrorCode::internal, "the host cannot write vectors");
  std::memset(lane.vectors.mapped(), 0, bytes);
  const auto find = [&](graph::Space space, uint32_t) {
    if (space == graph::Space::arena) return session_->arena();
    const vulkan::Buffer& buffer = space == graph::Space::weight ? lane.vectors : queries_;
    return BufferRef{&buffer, 0, buffer.size()};
  };
  LAPILLI_TRY(auto bound, BoundPlan::bind(device_, plan, find));
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

void ScorePass::put(size_t lane, size_t first, std::span<const float> vectors) {
  auto* to = reinterpret_cast<float*>(lanes_[lane].vectors.mapped());
  put_panel(vectors, shape_.dimensions, to + first / kTogether * layout_of(shape_).panel_words());
}

Status ScorePass::begin(size_t lane) {
  Lane& with = lanes_[lane];
  LAPILLI_CHECK(with.vectors.flush(0, with.vectors.size()));
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
