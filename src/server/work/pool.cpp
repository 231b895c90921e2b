#include "server/work/pool.hpp"

#include <cstdio>
#include <exception>
#include <utility>

namespace lapilli::server {

Pool::Pool(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Pool::~Pool() { close(); }

void Pool::close() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  woken_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Pool::run(std::function<void()> function) {
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    waiting_.push_back(std::move(function));
  }
  woken_.notify_one();
}

bool Pool::take(std::function<void()>& function) {
  std::unique_lock lock(mutex_);
  woken_.wait(lock, [this] { return over_ || !waiting_.empty(); });
  if (waiting_.empty()) return false;
  function = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

// A request that runs out of memory drops its exchange, which answers 500.
void Pool::work() {
  for (std::function<void()> function; take(function); function = nullptr) {
    ++busy_;
    try {
      function();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "lapilli: a request failed: %s\n", e.what());
    }
    function = nullptr;
    --busy_;
  }
}

}  // namespace lapilli::server
