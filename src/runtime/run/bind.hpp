// Binds plans to memory: descriptor sets written once, command buffers recorded once, replayed as often as wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ops/core/state.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/run/paced_submitter.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// A range of a buffer that backs the arena, one weight or one state.
struct BufferRef {
  const vulkan::Buffer* buffer = nullptr;
  uint64_t offset = 0, size = 0;
};
// Maps (space, id) to memory; a null buffer means that it is missing. Buffers must outlive the bound plan.
using MemoryMap = std::function<BufferRef(graph::Space space, uint32_t id)>;

struct BindOptions {
  // Runs of the plan per recording; more than one only if the plan is one segment (otherwise submit recordings()
  // several times).
  uint32_t repeats = 1;
  // Levels that get no barrier before them: for tests that show what detects this.
  std::vector<uint32_t> left_out_barriers;
  // Entries of the grids buffer for the plan's grids, if several plans share the buffer (share_grids); empty: the
  // plan's own order. Writers of grids write all of them, so hazards do not depend on this.
  std::vector<uint32_t> grids;
  // single: for plans that run once, or again only after they are done.
  vulkan::RecordingUse use = vulkan::RecordingUse::replayed;
  // Every recording writes a timestamp at its start and after each level (runtime/run/profile.hpp); runs once.
  bool timestamps = false;
  const char* name = "plan";  // shown in a timeline
};

// The descriptor sets and recordings of a plan for one session. Belongs to one thread at a time; recordings may be
// pending several times unless BindOptions::use says otherwise. If destroyed while pending, it is freed afterwards.
class BoundPlan {
 public:
  static Result<BoundPlan> bind(std::shared_ptr<vulkan::Device> device, std::shared_ptr<const Plan> plan,
                                const MemoryMap& memory, const BindOptions& options = {});
  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] uint32_t repeats() const { return options_.repeats; }
  [[nodiscard]] const char* name() const { return options_.name; }
  // Estimated cost and measured time of recordings, by segment, repeats included; what is learnt is kept here.
  [[nodiscard]] std::span<SegmentTime> segments() const { return *segments_; }
  // One per segment, in order.
  [[nodiscard]] std::vector<const vulkan::CommandRecording*> recordings() const;
  // For work that runs once: objects given to the submitter must outlive its submission.
  void add_to(PacedSubmitter& submitter) const;
  // Runs once and waits, in submissions of bounded time: for setup and tests.
  Status run() const;

 private:
  BoundPlan() = default;
  Status record(const MemoryMap& memory);
  Status record_level(vulkan::CommandRecording& recording, const graph::Level& level, const MemoryMap& memory) const;
  void tell_touches(vulkan::CommandRecording& recording, uint32_t command, const MemoryMap& memory) const;
  void tell_step_end(vulkan::CommandRecording& recording, const MemoryMap& memory) const;

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<const Plan> plan_;
  BindOptions options_;
  std::vector<const vulkan::Pipeline*> pipelines_;
  std::vector<vulkan::DescriptorArena> arena_;      // one or none
  std::vector<const vulkan::DescriptorSet*> sets_;  // by dispatch
  std::vector<vulkan::CommandRecording> recordings_;
  std::unique_ptr<std::vector<SegmentTime>> segments_;
};

// Makes missing pipelines in one batch; binding plans that use them then makes none.
Status create_pipelines(vulkan::Device& device, std::span<const PlannedPipeline> pipelines);
// Like Device::make_pipelines_beside(), the long ones first.
void create_pipelines_beside(vulkan::Device& device, std::span<const PlannedPipeline> pipelines,
                             const std::function<void()>& work, const std::function<bool()>& wanted);

// The words of a grids buffer (state::MAX_GRIDS entries of GRID_STRIDE words) with these specifications, at most
// state::MAX_GRIDS, and without arguments.
std::vector<uint32_t> grid_words(std::span<const GridSpec> specs, uint32_t max_group_x);

// The grids of plans that share one grids buffer, without duplicates, and for every plan the indices of its own.
struct SharedGrids {
  std::vector<GridSpec> specs;
  std::vector<std::vector<uint32_t>> of_plan;
};
// Takes plans in order while their grids fit the buffer; of_plan has one entry per plan taken.
SharedGrids share_grids(std::span<const std::shared_ptr<const Plan>> plans);

}  // namespace lapilli
