// One piece of work of a request: inputs that run through one model as one job, and what is called with the outcome.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"
#include "server/usage.hpp"

namespace lapilli::server {

// How a piece of work ended.
struct Outcome {
  // The results, also those of a job in which single inputs failed (Output::error). None: `error` says why.
  std::optional<Results> results;
  std::optional<Error> error;
  int status = 200;  // of HTTP: 200, or what fits `error` (400, 499, 500, 503, 504)
  // The model that ran it, for what comes behind it: alignment, counting tokens. Null where none ran.
  std::shared_ptr<const Model> model;
};

struct Work {
  std::string model;                                              // its name among the server's models
  std::vector<lapilli_input> inputs;                              // may point into `kept`
  std::shared_ptr<const void> kept;                               // lives until `done` has returned
  Options options;                                                // with the task; no functions
  std::optional<std::chrono::steady_clock::time_point> deadline;  // then it is cancelled: 504
  std::shared_ptr<Account> account;                               // of who asks for it; null: nobody's
  bool counted = false;                                           // the account has its inputs already

  // Called on the pump's thread for each event of the job but PROGRESS and END: quick, and without waiting. Optional.
  std::function<void(const Event&)> on_event;
  // Called there for each PROGRESS. Optional.
  std::function<void(const Event&)> on_progress;
  // Called once on a thread of the pool, whatever happens.
  std::function<void(Outcome)> done;

  // Any thread may set it: the work ends within what is on the device, and `done` gets an error of Status::cancelled.
  std::atomic<bool> cancelled{false};
};

// The inputs of texts or pairs, which the work keeps.
void set_texts(Work& work, std::vector<std::string> texts);
void set_pairs(Work& work, std::vector<std::pair<std::string, std::string>> pairs);

}  // namespace lapilli::server
