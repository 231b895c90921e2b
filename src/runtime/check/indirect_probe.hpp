// Tests whether a device reliably does nothing for an indirect dispatch of no groups: steps submitted before the end of
// their search is known consist of such dispatches. Runs one of them, with arguments in a buffer, between two direct
// ones, and one with some groups, which must work as usual.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "runtime/run/paced_submitter.hpp"

namespace lapilli {

// May be destroyed while the device is working.
class IndirectProbe {
 public:
  // Makes its pipeline if missing and gives the work to the submitter. Does not wait.
  static Result<std::unique_ptr<IndirectProbe>> record(const std::shared_ptr<vulkan::Device>& device,
                                                       PacedSubmitter& submitter);
  ~IndirectProbe();
  // Call when all of it is done; returns the problem in words, or empty if there is none.
  Result<std::string> compare();

 private:
  IndirectProbe();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
