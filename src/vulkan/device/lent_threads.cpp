#include "vulkan/device/lent_threads.hpp"

#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace lapilli::vulkan {

namespace {

thread_local bool in_a_task = false;

class InATask {
 public:
  InATask() : before_(std::exchange(in_a_task, true)) {}
  ~InATask() { in_a_task = before_; }
  InATask(const InATask&) = delete;
  InATask& operator=(const InATask&) = delete;

 private:
  const bool before_;
};

// No exception may pass through the host's functions.
class FirstException {
 public:
  void keep() noexcept {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::current_exception();
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace

class LentThreads::Borrowed {
 public:
  Borrowed(LentThreads& from, Use use) : from_(from), use_(use), ok_(from.borrow(use)) {}
  ~Borrowed() {
    if (ok_) from_.give_back(use_);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  LentThreads& from_;
  const Use use_;
  const bool ok_;
};

// Refuses threads beside work: it may wait for a pipeline on another thread, which a host may not run until the work
// ends.
bool LentThreads::borrow(Use use) {
  if (!workers_ || in_a_task) return false;
  const std::lock_guard lock(mutex_);
  if (beside_work_ || (use == Use::beside_work && runs_ > 0)) return false;
  ++runs_;
  beside_work_ = use == Use::beside_work;
  return true;
}

void LentThreads::give_back(Use use) {
  const std::lock_guard lock(mutex_);
  --runs_;
  if (use == Use::beside_work) beside_work_ = false;
}

void LentThreads::lend(uint32_t count, const std::function<void(uint32_t index)>& task) const {
  std::vector<std::atomic<bool>> begun(count);
  FirstException thrown;
  workers_(count, [&](uint32_t index) {
    if (index >= count || begun[index].exchange(true)) return;
    const InATask inside;
    try {
      task(index);
    } catch (...) {
      thrown.keep();
    }
  });
  thrown.rethrow();
}

bool LentThreads::run(uint32_t count, const std::function<void(uint32_t index)>& task) {
  const Borrowed borrowed(*this, Use::tasks);
  if (!borrowed.ok()) return false;
  lend(count, task);
  return true;
}

void LentThreads::run_beside(const std::function<void()>& work, uint32_t count,
                             const std::function<void(uint32_t index)>& task) {
  const auto caller = std::this_thread::get_id();
  std::atomic<uint32_t> next{0};
  bool begun = false;  // only the calling thread uses it
  const auto work_to_its_end = [&] {
    struct NoMore {
      std::atomic<uint32_t>& next;
      uint32_t count;
      ~NoMore() { next = count; }
    } const no_more{next, count};
    begun = true;
    work();
  };
  {
    const Borrowed borrowed(*this, Use::beside_work);
    if (borrowed.ok() && count > 0)
      lend(count + 1, [&](uint32_t) {
        if (std::this_thread::get_id() == caller) {
          if (!begun) work_to_its_end();
        } else if (const uint32_t mine = next++; mine < count) {
          task(mine);
        }
      });
  }
  if (!begun) work();
}

}  // namespace lapilli::vulkan
