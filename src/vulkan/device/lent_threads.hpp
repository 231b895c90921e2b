// Threads that the host lends (DeviceOptions::workers).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

// Safe to use from several threads. Avoids deadlocks on the host's threads: a task never asks for further ones, and
// while work that may have to wait for others runs, none are asked for at all.
class LentThreads {
 public:
  explicit LentThreads(Workers workers = {}) : workers_(std::move(workers)) {}
  // True if the host lends threads at all.
  [[nodiscard]] bool are_lent() const { return static_cast<bool>(workers_); }
  // Has the host run task(0) to task(count - 1), each at most once, until it returns. Rethrows the first exception.
  // False: no threads are available now, and no task was run.
  bool run(uint32_t count, const std::function<void(uint32_t index)>& task);
  // Runs `work` on the calling thread, and tasks on the host's other threads, in order, as many as are begun before it
  // ends; none if no threads are available now. A host whose threads do not include the calling one runs all tasks
  // first. Tasks must not throw.
  void run_beside(const std::function<void()>& work, uint32_t count, const std::function<void(uint32_t index)>& task);

 private:
  enum class Use : uint8_t { tasks, beside_work };
  class Borrowed;
  bool borrow(Use use);
  void give_back(Use use);
  void lend(uint32_t count, const std::function<void(uint32_t index)>& task) const;

  const Workers workers_;
  std::mutex mutex_;
  uint32_t runs_ = 0;         // in progress
  bool beside_work_ = false;  // one of them is run_beside()
};

}  // namespace lapilli::vulkan
