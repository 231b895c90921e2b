// How much work goes to a device at once: for a dispatch, a segment of a plan and a submission. Operating systems kill
// what occupies a GPU for seconds, and a wait gives up on submissions that take too long. A policy and no ability: no
// driver reports it. Everybody who cuts work asks here.
#pragma once

#include <cstdint>

#include "vulkan/capabilities.hpp"

namespace lapilli {

class WorkLimit {
 public:
  // The limit for a type of device, or less where a mask asks for it (small-work; floor: that of the least type).
  static WorkLimit of(const Capabilities& caps);
  // Of so many operations, estimated as in Dispatch::cost.
  explicit WorkLimit(double operations) : operations_(operations) {}

  [[nodiscard]] bool allows(double cost) const { return cost <= operations_; }
  // How many of `count` equal parts may go together, if each costs so much; at least one.
  [[nodiscard]] uint64_t parts(uint64_t count, double cost_each) const;
  [[nodiscard]] double operations() const { return operations_; }

 private:
  double operations_;
};

}  // namespace lapilli
