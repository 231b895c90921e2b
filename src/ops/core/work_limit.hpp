// The amount of work a device gets at once: per dispatch, segment of a plan and submission. Operating systems kill work
// that occupies a GPU for seconds, and a wait gives up on submissions that take too long. This is policy, not a
// capability: no driver reports it. All code that cuts work asks here; the measured speed of a device
// (runtime/run/pace.hpp) decides how much of it goes together.
#pragma once

#include <cstdint>
#include <limits>

#include "vulkan/caps/capabilities.hpp"

namespace lapilli {

class WorkLimit {
 public:
  // The limit for a type of device, or less if a mask asks for it (small-work; floor: the limit of the least type).
  static WorkLimit of(const Capabilities& caps);
  // The limit of the smallest recorded dispatch or segment: a submission combines any number of them.
  static WorkLimit finest(const Capabilities& caps);
  // Operations are estimated as in Dispatch::cost.
  constexpr explicit WorkLimit(double operations, double bytes = std::numeric_limits<double>::infinity())
      : operations_(operations), bytes_(bytes) {}

  [[nodiscard]] bool allows(double cost, double bytes = 0) const { return cost <= operations_ && bytes <= bytes_; }
  // How many of `count` equal parts may go together, given the cost of each; at least one.
  [[nodiscard]] uint64_t parts(uint64_t count, double cost_each, double bytes_each = 0) const;
  [[nodiscard]] double operations() const { return operations_; }
  [[nodiscard]] double bytes() const { return bytes_; }
  friend bool operator==(const WorkLimit&, const WorkLimit&) = default;

 private:
  double operations_, bytes_;
};

}  // namespace lapilli
