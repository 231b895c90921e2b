// A device run over a block of vectors, to their dot products with a few queries. The vectors take the place of a
// weight, so that each kernel reads them once and in order, whatever the number of queries.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "ops/core/weight_layout.hpp"
#include "runtime/run/bind.hpp"
#include "runtime/run/session.hpp"

namespace lapilli {

struct ScoreShape {
  uint32_t vectors = 0;  // of a block
  uint32_t dimensions = 0, queries = 0;
  [[nodiscard]] uint64_t score_stride() const { return round_up<uint64_t>(vectors, 4); }
};

// Two lanes take turns: the host fills one while the device works on the other. For one thread at a time; may be
// dropped at any time.
class ScorePass {
 public:
  static constexpr size_t kLanes = 2;
  // `queries`: one behind the other. Waits for kernels on trial.
  static Result<std::unique_ptr<ScorePass>> create(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape,
                                                   std::span<const float> queries);
  // Copies up to kTogether vectors to the places from `first` on, a multiple of that, while the lane is idle.
  static constexpr size_t kTogether = packed::kPanel;
  void put(size_t lane, size_t first, std::span<const float> vectors);
  Status begin(size_t lane);
  // Waits, bounded, and gives the products of each query, score_stride() from one query to the next. Valid until the
  // lane begins again. Where no vector was put there may be any.
  Result<std::span<const float>> finish(size_t lane);
  [[nodiscard]] const ScoreShape& shape() const { return shape_; }

 private:
  struct Lane {
    vulkan::Buffer vectors, scores;
    std::unique_ptr<BoundPlan> plan;
    std::unique_ptr<vulkan::CommandRecording> copy;
    std::optional<PacedSubmitter> submitter;
  };
  ScorePass(std::shared_ptr<vulkan::Device> device, const ScoreShape& shape);
  Status reserve(const Plan& plan);
  Status put_queries(std::span<const float> queries);
  Status bind(const std::shared_ptr<const Plan>& plan, Lane& lane);
  Status record_copy(Lane& lane) const;

  std::shared_ptr<vulkan::Device> device_;
  vulkan::MemoryShare share_;
  ScoreShape shape_;
  graph::Graph graph_;
  graph::TensorId scores_ = graph::kNone;
  std::unique_ptr<Session> session_;
  vulkan::Buffer queries_;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace lapilli
