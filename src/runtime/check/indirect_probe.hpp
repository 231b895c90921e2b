// Whether a device may be relied on to do nothing for an indirect dispatch of no groups: steps that are submitted
// before it is known that their search has ended are made of such dispatches. Found out by one of them, from arguments
// in a buffer, between two ordinary ones, and by one of some groups, which must do what it does otherwise.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "runtime/run/paced_submitter.hpp"

namespace lapilli {

// May be destroyed while the device is at work.
class IndirectProbe {
 public:
  // Makes the pipeline that it runs, if that is missing. What is to run is given to the submitter. Does not wait.
  static Result<std::unique_ptr<IndirectProbe>> record(const std::shared_ptr<vulkan::Device>& device,
                                                       PacedSubmitter& submitter);
  ~IndirectProbe();
  // When all of it is done: what is wrong, in words; empty: nothing.
  Result<std::string> compare();

 private:
  IndirectProbe();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
