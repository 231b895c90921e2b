// How much work goes to a device at once: for a dispatch, a segment of a plan and a submission. Operating systems kill
// what occupies a GPU for seconds, and a wait gives up on submissions that take too long. A policy and no ability: no
// driver reports it. Everybody who cuts work asks here; what a device is found to do in a given time
// (runtime/run/pace.hpp) decides how much of it goes together.
#pragma once

#include <cstdint>
#include <limits>

#include "vulkan/capabilities.hpp"

namespace lapilli {

class WorkLimit {
 public:
  // The limit for a type of device, or less where a mask asks for it (small-work; floor: that of the least type).
  static WorkLimit of(const Capabilities& caps);
  // Of a dispatch and of a segment, the smallest that is recorded: any number of them makes a submission.
  static WorkLimit finest(const Capabilities& caps);
  // Of so many operations, estimated as in Dispatch::cost, and bytes.
  constexpr explicit WorkLimit(double operations, double bytes = std::numeric_limits<double>::infinity())
      : operations_(operations), bytes_(bytes) {}

  [[nodiscard]] bool allows(double cost, double bytes = 0) const { return cost <= operations_ && bytes <= bytes_; }
  // How many of `count` equal parts may go together, if each costs so much; at least one.
  [[nodiscard]] uint64_t parts(uint64_t count, double cost_each, double bytes_each = 0) const;
  [[nodiscard]] double operations() const { return operations_; }
  [[nodiscard]] double bytes() const { return bytes_; }
  friend bool operator==(const WorkLimit&, const WorkLimit&) = default;

 private:
  double operations_, bytes_;
};

}  // namespace lapilli
