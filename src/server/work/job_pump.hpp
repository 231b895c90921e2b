// The thread that drives a device: it pumps the jobs of all models in turns and hands outcomes to the pool. Jobs begin,
// and read their texts, on the threads that hand in the work; those with much to read are pumped by threads of their
// own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lapilli/lapilli.hpp"
#include "server/work/model_shelf.hpp"
#include "server/work/pool.hpp"
#include "server/work/work.hpp"

namespace lapilli::server {

// Thread-safe.
class JobPump {
 public:
  // Both outlive it. The shelf's `changed` calls wake().
  JobPump(ModelShelf& shelf, Pool& pool);
  ~JobPump();  // closes
  JobPump(const JobPump&) = delete;
  JobPump& operator=(const JobPump&) = delete;

  // Begins on the caller's thread if the model is there and the texts are short.
  void start(std::shared_ptr<Work> work);
  void wake();
  // Cancels all work, also that which comes later.
  void cancel_all();
  // Does the same and waits for its end. Work that comes later is refused on the caller's thread.
  void close();

  struct Counts {
    uint64_t running = 0, waiting = 0;  // jobs, and work whose model is being loaded
    uint64_t ended = 0, tokens = 0, steps = 0;
  };
  [[nodiscard]] Counts counts() const;
  // True while other threads read for jobs.
  [[nodiscard]] bool is_reading() const { return readers_.busy() > 0; }
  // Seconds since the thread last came round; what /health asks.
  [[nodiscard]] double quiet_s() const;

 private:
  struct Running {
    std::shared_ptr<Work> work;
    std::shared_ptr<const Model> model;
    std::shared_ptr<Job> job;
    bool reads_much = false;
    std::shared_ptr<std::atomic<bool>> away = std::make_shared<std::atomic<bool>>(false);  // another thread pumps it
    bool told_to_stop = false, late = false, ended = false;
  };
  using Failures = std::map<std::string, Error>;  // of loads, by the model's name
  void loop();
  void take_new();
  void begin_waiting();
  bool begin(const std::shared_ptr<Work>& work, Failures& failures);
  void start_job(const std::shared_ptr<Work>& work, const std::shared_ptr<const Model>& model);
  void give_out(const std::shared_ptr<Work>& work, const std::shared_ptr<const Model>& model);
  void join(std::optional<Running> begun);
  [[nodiscard]] bool expect_job();
  void stop_left();
  void pump_models();
  void pump_jobs(const std::shared_ptr<const Model>& model, std::optional<uint64_t> turn_us);
  void pump_away(Running& one);
  void read_events();
  void read_events(Running& one);
  void end_jobs();
  void hand_over(const Running& one);
  void refuse(const std::shared_ptr<Work>& work, const Error& error, int status);
  [[nodiscard]] Error left_error() const;
  [[nodiscard]] int left_status() const;
  template <class Step>
  bool survives(const std::shared_ptr<Work>& work, Step step);
  void sleep();
  [[nodiscard]] std::vector<std::shared_ptr<const Model>> models_at_work() const;

  ModelShelf& shelf_;
  Pool& pool_;
  Pool readers_;                // of jobs that read much
  std::list<Running> running_;  // these two are the thread's own
  std::list<std::shared_ptr<Work>> waiting_;
  mutable std::mutex mutex_;  // guards the next seven
  std::condition_variable woken_;
  std::vector<std::shared_ptr<Work>> new_;
  std::vector<Running> begun_;
  size_t beginning_ = 0;  // jobs that other threads begin
  bool changed_ = false, over_ = false, closed_ = false;
  std::atomic<bool> cancel_all_{false};
  std::atomic<uint64_t> running_count_{0}, waiting_count_{0}, ended_{0}, tokens_{0}, steps_{0};
  std::atomic<int64_t> last_round_ns_{0};
  std::thread thread_;
};

// The status of HTTP for an error of the library.
int http_status(lapilli::Status status);

}  // namespace lapilli::server
