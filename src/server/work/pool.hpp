// A few threads that parse, decode and write for requests, so that neither the connections' nor the device's thread
// does. Long work has a pool of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lapilli::server {

// Thread-safe.
class Pool {
 public:
  explicit Pool(unsigned threads);
  ~Pool();  // closes
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  // Functions begin in the order in which they came. One that throws ends alone, with a message on stderr.
  void run(std::function<void()> function);
  // Runs what has been handed in and ends; functions that come later are dropped.
  void close();
  // Functions that run now.
  [[nodiscard]] unsigned busy() const { return busy_; }

 private:
  void work();
  bool take(std::function<void()>& function);

  std::mutex mutex_;
  std::condition_variable woken_;
  std::deque<std::function<void()>> waiting_;
  bool over_ = false;
  std::atomic<unsigned> busy_{0};
  std::vector<std::thread> threads_;
};

}  // namespace lapilli::server
