// The jobs of a model that a program has started: pumped together, by a thread that sleeps while there is nothing to
// do.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace lapilli::api {

class Job;

// Thread-safe. No lock is held while a job is pumped.
class JobList {
 public:
  // A job that is in it stays in it once.
  void add(const std::shared_ptr<Job>& job);
  // Ends a wait(): a job has changed in a way that pumping may go on with.
  void wake();
  // Pumps every job that no other thread is using, for about this long in all. Returns how many have not ended.
  size_t pump(double budget_us);
  // Sleeps until pump() may go on: after wake(), or a short while if jobs are at work.
  void wait(double timeout_us);

  // A thread is in pump() or wait(): others need not pump.
  [[nodiscard]] bool is_pumped() const { return threads_ > 0; }
  // Sleeps, bounded, until pump() has ended this job.
  void wait_for_end(const Job& job, double timeout_us);

 private:
  std::vector<std::shared_ptr<Job>> begin_pump();
  void end_pump(double longest_us);

  std::atomic<uint32_t> threads_{0};
  std::mutex mutex_;  // guards the rest
  std::condition_variable woken_, pumped_;
  uint64_t changes_ = 0, seen_ = 0;  // calls of wake(), and those before the last pump() began
  double longest_us_ = std::numeric_limits<double>::infinity();  // of a wait(), as the jobs are
  std::vector<std::weak_ptr<Job>> jobs_;
};

}  // namespace lapilli::api
