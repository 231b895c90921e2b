// The encoder's output for one source in its own device memory: the cross keys and values of every decoder layer. It
// can be searched again (GenerateRequest::encoded) with other options, beams or prompt ids without being encoded again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/network_on_device.hpp"
#include "vulkan/device/memory_ledger.hpp"

namespace lapilli {

struct Workspace;

// Its memory counts against the model's limit. Belongs to the model that made it; any number of searches may read it at
// once.
class EncodedSource {
 public:
  // Allocates room for the encoder's output in this many positions; copy_out() fills it. Features have no ids.
  static Result<std::shared_ptr<EncodedSource>> create(const NetworkOnDevice& network, vulkan::MemoryLedger& memory,
                                                       std::vector<int32_t> ids, uint32_t positions);
  [[nodiscard]] const std::vector<int32_t>& ids() const { return ids_; }
  [[nodiscard]] uint32_t positions() const { return positions_; }
  [[nodiscard]] uint64_t bytes() const { return buffer_.size(); }
  [[nodiscard]] bool belongs_to(const NetworkOnDevice& network) const;

  // Append copies between this buffer and a slot of the session. Both must outlive the recording's execution.
  void copy_in(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot) const;
  void copy_out(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot) const;

 private:
  EncodedSource() = default;
  struct Region;
  [[nodiscard]] std::vector<Region> regions(const Workspace& workspace, uint32_t slot) const;
  std::vector<int32_t> ids_;
  uint32_t positions_ = 0, layers_ = 0, heads_ = 0,
           row_bytes_ = 0;  // bytes of a row: keys and values of one position in one head
  std::weak_ptr<const Weights> weights_;
  vulkan::Buffer buffer_;  // [layers][heads][positions] rows
};

}  // namespace lapilli
