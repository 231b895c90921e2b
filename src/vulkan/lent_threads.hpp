// Threads that the host lends (DeviceOptions::workers).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "vulkan/device.hpp"

namespace lapilli::vulkan {

// Safe to use from several threads. Nobody is ever made to wait for the host's threads by who waits for him: a task
// asks for no further ones, and while work goes on that others may have to wait for, they are not asked for at all.
class LentThreads {
 public:
  explicit LentThreads(Workers workers = {}) : workers_(std::move(workers)) {}
  // Whether there ever are any.
  [[nodiscard]] bool are_lent() const { return static_cast<bool>(workers_); }
  // Has the host run task(0) to task(count - 1), each at most once, until it says that it has. The first exception is
  // thrown again. False: there are no threads now, and none was run.
  bool run(uint32_t count, const std::function<void(uint32_t index)>& task);
  // Runs `work` on the thread that calls, and tasks on the host's others, in order, as many as are begun before it
  // ends; none if there are no threads now. A host whose threads do not include the one that calls runs all tasks
  // first. Tasks throw nothing.
  void run_beside(const std::function<void()>& work, uint32_t count, const std::function<void(uint32_t index)>& task);

 private:
  enum class Use : uint8_t { tasks, beside_work };
  class Borrowed;
  bool borrow(Use use);
  void give_back(Use use);
  void lend(uint32_t count, const std::function<void(uint32_t index)>& task) const;

  const Workers workers_;
  std::mutex mutex_;
  uint32_t runs_ = 0;         // that go on
  bool beside_work_ = false;  // one of them is beside work
};

}  // namespace lapilli::vulkan
