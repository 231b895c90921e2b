// A device run over a block of vectors, to their dot products with a few queries.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "runtime/run/bind.hpp"
#include "runtime/run/session.hpp"

namespace lapilli {

struct ScoreShape {
  uint32_t rows = 0;  // of a block
  uint32_t dimensions = 0, queries = 0;
  [[nodiscard]] uint64_t row_stride() const { return round_up<uint64_t>(dimensions, 4); }
  [[nodiscard]] uint64_t score_stride() const { return round_up<uint64_t>(queries, 4); }
};

// Two lanes take turns: the host fills one while the device works on the other. For one thread at a time; may be
// dropped at any time.
class ScorePass {
 public:
  static constexpr size_t kLanes = 2;
  // `queries`: one behind the other. Waits for kernels on trial.
  static Result<std::unique_ptr<ScorePass>> create(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape,
                                                   std::span<const float> queries);
  // The lane's rows, row_stride() apart, with zeros behind each. Written while the lane is idle.
  [[nodiscard]] std::span<float> rows(size_t lane) const;
  Status begin(size_t lane);
  // Waits, bounded, and gives the products: those of a row lie score_stride() apart from the next one's. Valid until
  // the lane begins again. Rows that were not written have any.
  Result<std::span<const float>> finish(size_t lane);
  [[nodiscard]] const ScoreShape& shape() const { return shape_; }

 private:
  struct Lane {
    vulkan::Buffer rows, scores;
    std::unique_ptr<BoundPlan> plan;
    std::unique_ptr<vulkan::CommandRecording> copy;
    std::optional<PacedSubmitter> submitter;
  };
  ScorePass(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape);
  Status put_queries(std::span<const float> queries);
  Status bind(const std::shared_ptr<const Plan>& plan, Lane& lane);
  Status record_copy(Lane& lane) const;

  std::shared_ptr<vulkan::Device> device_;
  ScoreShape shape_;
  graph::Graph graph_;
  graph::TensorId scores_ = graph::kNone;
  std::unique_ptr<Session> session_;
  vulkan::Buffer queries_;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace lapilli
