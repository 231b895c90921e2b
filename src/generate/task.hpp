// A task: inputs on their way through a model. Kinds of tasks implement hooks; how they are pumped, waited for,
// cancelled, paused, and continued after a lost device stands here once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "generate/front_end.hpp"
#include "generate/generate.hpp"

namespace lapilli {

// In units of the kind of task: inputs, sentences, frames. `tokens` counts the ids given out so far.
struct TaskProgress {
  uint64_t done = 0, total = 0, tokens = 0;
};

// For one thread at a time; cancel() may come from any.
class Task {
 public:
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  // Submits what fits, at most this much estimated device time, polls, harvests; the budget also bounds the time spent
  // on the host. True once the task has ended, well or not. Does not wait for the device.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  // Waits, bounded, for what pump() waits for, or for the end of a pause, but not for samples.
  void wait();
  // Pumps and waits until the end; returns the task's status. `progress` is called often; false cancels. Fails if the
  // task needs samples.
  Status run(const std::function<bool(uint64_t done, uint64_t total)>& progress = {});
  // Ends the task at one of the next calls of pump(), with the results so far.
  void cancel() { cancelled_ = true; }

  // pump() needs more samples, or the end of a recording.
  [[nodiscard]] bool is_hungry() const { return hungry_; }
  [[nodiscard]] virtual TaskProgress progress() const = 0;
  // Valid after the end: the error of the task as a whole; a cancelled task has none.
  [[nodiscard]] const Status& status() const { return status_; }

  // The task ended because the device was lost, and holds nothing of model and device.
  [[nodiscard]] bool is_interrupted() const { return interrupted_; }
  // Continues an interrupted task with this model, of the same files, on any device: finished results stay. Refuses a
  // model that cannot be the same, and stays interrupted then.
  Status resume(std::shared_ptr<Model> model, const FrontEnd& front);
  // Ends an interrupted task as if cancelled.
  Status abandon();

 protected:
  explicit Task(std::shared_ptr<Model> model) : model_(std::move(model)), info_(model_->info()) {}

  // The hooks. An error of step() or wait_for_device() ends the task, or interrupts it if the device is lost.
  virtual Status step(double budget_us) = 0;
  // Waits, bounded, for what step() waits for.
  virtual Status wait_for_device() = 0;
  // Drops everything that belongs to model and device; called at every end.
  virtual void release() = 0;
  // Prepares to continue with model(), after a lost device.
  virtual Status begin_again(const FrontEnd& front) = 0;
  // Called before release() at an end without an error.
  virtual void conclude() {}
  // Called instead of step() once the task is cancelled.
  virtual Status step_cancelled(double budget_us);
  // False: step() is called while the device is paused as well, since it has work to do on the host.
  [[nodiscard]] virtual bool idles_in_pauses() const { return true; }

  // For step() to return.
  Status end();
  void set_hungry(bool hungry) { hungry_ = hungry; }
  [[nodiscard]] const std::shared_ptr<Model>& model() const { return model_; }  // null after the end
  [[nodiscard]] const ModelInfo& info() const { return info_; }                 // of the first model
  [[nodiscard]] bool has_ended() const { return ended_; }
  // The task ended with a cancellation, before everything was done.
  [[nodiscard]] bool is_cut_short() const { return cut_short_; }

 private:
  [[nodiscard]] Status check_interrupted() const;
  void stop(Status status);
  void let_go();

  std::shared_ptr<Model> model_;
  const ModelInfo info_;
  std::atomic<bool> cancelled_{false};
  bool hungry_ = false, ended_ = false, interrupted_ = false, cut_short_ = false;
  Status status_;
};

}  // namespace lapilli
