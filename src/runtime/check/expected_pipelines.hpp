// The pipelines that a network's first search needs, kept between runs where the host lends threads: the next run makes
// them while the weights load.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "base/store.hpp"
#include "runtime/plan/plan.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// By Network::fingerprint().
using PipelinesByNetwork = std::map<uint64_t, std::vector<PlannedPipeline>>;

Blob blob_of(const PipelinesByNetwork& expected);
// Empty if the blob is not of this kind.
PipelinesByNetwork expected_pipelines_of(const Blob& blob);

// Safe to use from several threads.
class ExpectedPipelines {
 public:
  // The device's own, made at the first call; lives as long as the device.
  static std::shared_ptr<ExpectedPipelines> of(vulkan::Device& device);

  // Notes the pipelines of a search of this network. Only the first call per network in a run counts.
  void note(uint64_t network, std::span<const PlannedPipeline> pipelines);
  // Pipelines noted in an earlier run or in this one; empty if unknown.
  [[nodiscard]] std::vector<PlannedPipeline> find(uint64_t network) const;
  // Stores them for the next run, if there is anything new.
  void keep(vulkan::PersistentCache& cache);

 private:
  mutable std::mutex mutex_;
  PipelinesByNetwork known_;
  std::set<uint64_t> noted_;  // in this run
  bool of_use_ = false;       // threads are available to make them
  bool fresh_ = false;        // not kept yet
};

}  // namespace lapilli
