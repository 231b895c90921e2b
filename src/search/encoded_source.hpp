// What the encoder made of one source, in device memory of its own: the cross keys and values of every decoder layer.
// It is searched again (GenerateRequest::encoded) with other options, beams or given ids without being encoded again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search/memory_ledger.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

struct Workspace;

// Its memory counts against the model's limit. Belongs to the model that made it; any number of jobs may read it at a
// time.
class EncodedSource {
 public:
  // Room for what the encoder makes of a source in so many positions; copy_out() fills it. Features have no ids.
  static Result<std::shared_ptr<EncodedSource>> create(const NetworkOnDevice& network, MemoryLedger& memory,
                                                       std::vector<int32_t> ids, uint32_t positions);
  [[nodiscard]] const std::vector<int32_t>& ids() const { return ids_; }
  [[nodiscard]] uint32_t positions() const { return positions_; }
  [[nodiscard]] uint64_t bytes() const { return buffer_.size(); }
  [[nodiscard]] bool belongs_to(const NetworkOnDevice& network) const;

  // Between here and a place of the session: appended to a recording, which is done before either goes.
  void copy_in(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t place) const;
  void copy_out(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t place) const;

 private:
  EncodedSource() = default;
  struct Piece;
  [[nodiscard]] std::vector<Piece> pieces(const Workspace& workspace, uint32_t place) const;
  std::vector<int32_t> ids_;
  uint32_t positions_ = 0, layers_ = 0, heads_ = 0,
           row_bytes_ = 0;  // a row: keys and values of one position in one head
  std::weak_ptr<const Weights> weights_;
  vulkan::Buffer buffer_;  // [layers][heads][positions] rows
};

}  // namespace lapilli
