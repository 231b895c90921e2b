// What the first search of a network needs, kept between runs where the host lends threads: they make it in the next
// run while the weights come.
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
#include "vulkan/device.hpp"

namespace lapilli {

// By Network::fingerprint().
using PipelinesByNetwork = std::map<uint64_t, std::vector<PlannedPipeline>>;

Blob blob_of(const PipelinesByNetwork& expected);
// None if it is no such blob.
PipelinesByNetwork expected_pipelines_of(const Blob& blob);

// Safe to use from several threads.
class ExpectedPipelines {
 public:
  // The device's own, made at the first call; lives as long as the device.
  static std::shared_ptr<ExpectedPipelines> of(vulkan::Device& device);

  // The pipelines of a search of this network. The first of a run counts.
  void note(uint64_t network, std::span<const PlannedPipeline> pipelines);
  // Of an earlier run or of this one; none if nothing is known.
  [[nodiscard]] std::vector<PlannedPipeline> find(uint64_t network) const;
  // For the next run, if there is anything new.
  void keep(vulkan::Kept& kept);

 private:
  mutable std::mutex mutex_;
  PipelinesByNetwork known_;
  std::set<uint64_t> noted_;  // in this run
  bool of_use_ = false;       // there are threads to make them
  bool fresh_ = false;        // not kept yet
};

}  // namespace lapilli
