// Threads that the host lends (DeviceOptions::workers).
#pragma once

#include "vulkan/device.hpp"

namespace lapilli::vulkan {

// Safe to use from several threads. A task asks for no further ones: a host whose threads are all busy with tasks would
// wait for ever.
class LentThreads {
 public:
  explicit LentThreads(Workers workers = {}) : workers_(std::move(workers)) {}
  // Whether the thread that asks may have some.
  [[nodiscard]] bool any() const;
  // Runs task(0) to task(count - 1), each at most once, and returns when all have. The first exception is thrown again.
  void run(uint32_t count, const std::function<void(uint32_t index)>& task) const;
  // Runs `work` on the thread that calls, and tasks on the others, in order, as many as are begun before it ends. A
  // host whose threads do not include the one that calls runs all tasks first.
  void run_beside(const std::function<void()>& work, uint32_t count,
                  const std::function<void(uint32_t index)>& task) const;

 private:
  const Workers workers_;
};

}  // namespace lapilli::vulkan
