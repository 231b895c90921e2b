// A pass of the network without a search (ForwardRequest) on its way: what forward() does, without waiting.
#pragma once

#include <functional>
#include <memory>

#include "generate/generate.hpp"

namespace lapilli {

// Of one thread at a time; may be dropped at any time.
class ForwardJob {
 public:
  // Refuses as forward() does.
  static Result<std::unique_ptr<ForwardJob>> start(const std::shared_ptr<Model>& model, ForwardRequest request);
  // Of one that is done: the same with other sources and targets, as many as before, none longer, and of the same
  // outputs. Nothing is made anew.
  Status again(ForwardRequest request);
  ~ForwardJob();
  // True: the device is done. Does not wait for it, but where memory has run out that idle searches may give back. Does
  // nothing while the device is paused.
  Result<bool> poll();
  // Waits, bounded, for what poll() was waiting for.
  Status rest();
  // Once poll() has said so: the outputs, one after the other, so that the host need not hold all of them. An error of
  // `give` ends it.
  Status take(const std::function<Status(ForwardTensor output)>& give);

 private:
  ForwardJob();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
