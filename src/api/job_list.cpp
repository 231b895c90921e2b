#include "api/job_list.hpp"

#include <algorithm>
#include <chrono>

#include "api/job.hpp"
#include "base/clock.hpp"

namespace lapilli::api {

namespace {

// The device tells no sleeping thread that it is done, and a signal handler that cancels wakes none.
constexpr double kAtWorkUs = 200, kIdleUs = 10'000;

std::chrono::duration<double, std::micro> at_most(double timeout_us, double longest_us) {
  constexpr double kRepresentable = 1e12;
  return std::chrono::duration<double, std::micro>(std::min({timeout_us, longest_us, kRepresentable}));
}

class Presence {
 public:
  explicit Presence(std::atomic<uint32_t>& threads) : threads_(threads) { ++threads_; }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() { --threads_; }

 private:
  std::atomic<uint32_t>& threads_;
};

}  // namespace

void JobList::add(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_, [&](const std::weak_ptr<Job>& listed) { return listed.lock() == job; });
    jobs_.push_back(job);
  }
  wake();
}

void JobList::wake() {
  {
    const std::lock_guard lock(mutex_);
    ++changes_;
  }
  woken_.notify_all();
}

std::vector<std::shared_ptr<Job>> JobList::begin_pump() {
  const std::lock_guard lock(mutex_);
  seen_ = changes_;
  std::vector<std::shared_ptr<Job>> running;
  for (const auto& listed : jobs_)
    if (auto job = listed.lock(); job && !job->has_ended()) running.push_back(std::move(job));
  jobs_.assign(running.begin(), running.end());
  return running;
}

void JobList::end_pump(double longest_us) {
  {
    const std::lock_guard lock(mutex_);
    longest_us_ = longest_us;
  }
  pumped_.notify_all();
}

size_t JobList::pump(double budget_us) {
  const Presence here(threads_);
  const auto since = Clock::now();
  size_t running = 0;
  double longest_us = std::numeric_limits<double>::infinity();
  for (const auto& job : begin_pump()) {
    const Job::Pumped now = job->try_pump(std::max(0.0, budget_us - ms_since(since) * 1000));
    if (now == Job::Pumped::ended) continue;
    ++running;
    longest_us = std::min(longest_us, now == Job::Pumped::idle ? kIdleUs : kAtWorkUs);
  }
  end_pump(longest_us);
  return running;
}

void JobList::wait(double timeout_us) {
  const Presence here(threads_);
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, at_most(timeout_us, longest_us_), [this] { return changes_ != seen_; });
}

void JobList::wait_for_end(const Job& job, double timeout_us) {
  std::unique_lock lock(mutex_);
  pumped_.wait_for(lock, at_most(timeout_us, kIdleUs), [&] { return job.has_ended(); });
}

}  // namespace lapilli::api
