// The progress of requests, for clients that watch them. A request names itself; whoever has its key may watch it, from
// before it comes until it is answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "server/http/exchange.hpp"

namespace lapilli::server {

// `done` of `total` as the library counts them; `tokens` have been written.
struct JobProgress {
  uint64_t done = 0, total = 0, tokens = 0;
};

// Thread-safe.
class JobEvents {
 public:
  using Name = std::pair<size_t, std::string>;  // the number of the key, and the request's name for itself

  // A request that is at work, or that watchers wait for. A request may have several works.
  class Job {
   public:
    void tell(const void* work, const JobProgress& progress);

   private:
    friend class JobEvents;
    using Clock = std::chrono::steady_clock;
    static constexpr size_t kMostWatchers = 8;  // then the oldest ends: each holds a connection, for nothing else
    void add(const std::shared_ptr<Exchange>& watcher);
    void remove(const Exchange* watcher);
    void end(int status);  // 0: it never came
    void send(const std::string& event);
    [[nodiscard]] std::string progress_event() const;

    std::mutex mutex_;
    std::list<std::shared_ptr<Exchange>> watchers_;
    std::map<const void*, JobProgress> works_;
    Clock::time_point told_{};
    bool running_ = false;  // these two are the JobEvents'
    Clock::time_point since_ = Clock::now();
  };

  // A request begins; null: another one of this name is at work.
  std::shared_ptr<Job> begin(const Name& name);
  void end(const Name& name, int status);
  // Tells the watcher, whose answer this begins, all that comes.
  void watch(const Name& name, const std::shared_ptr<Exchange>& watcher);
  // Ends the watchers whose request has not come, now and later.
  void close();

  // 1 to 64 letters, digits, - and _.
  static bool is_name(std::string_view name);

 private:
  static constexpr size_t kMostWaiting = 256;  // then the oldest, whose request has not come, ends
  void leave(const Name& name, const Exchange* watcher);
  std::shared_ptr<Job> drop_oldest();

  std::mutex mutex_;
  std::map<Name, std::shared_ptr<Job>> jobs_;
  bool closed_ = false;
};

}  // namespace lapilli::server
