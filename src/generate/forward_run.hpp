// A pass of the network without a search (ForwardRequest): forward() without waiting.
#pragma once

#include <functional>
#include <memory>

#include "generate/generate.hpp"

namespace lapilli {

// For one thread at a time; may be dropped at any time.
class ForwardRun {
 public:
  // Refuses as forward() does.
  static Result<std::unique_ptr<ForwardRun>> start(const std::shared_ptr<Model>& model, ForwardRequest request);
  // Runs a finished search again, with as many sources and targets as before, none longer, and the same outputs.
  // Nothing is created anew.
  Status again(ForwardRequest request);
  ~ForwardRun();
  // True: the device is done. Does not wait for it, except to get memory back from idle searches when it has run out.
  // Does nothing while the device is paused.
  Result<bool> poll();
  // Waits, bounded, for what poll() was waiting for.
  Status wait();
  // After poll() has returned true: passes on the outputs one by one, so that the host need not hold all of them. An
  // error of `give` ends it.
  Status take(const std::function<Status(ForwardTensor output)>& give);

 private:
  ForwardRun();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
