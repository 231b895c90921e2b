// Inputs being processed by a model, for the C interface: arguments are copied; results are queued as events and
// collected. lapilli_generate pumps one to its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/handles.hpp"
#include "api/work.hpp"

namespace lapilli::api {

// Events not yet fetched. Texts of one input are joined, and only the latest progress is kept.
class EventQueue {
 public:
  void add_text(size_t input, std::string_view text, std::span<const int32_t> ids);
  void add_progress(const lapilli_event_progress& progress);  // if it differs from the last one
  void add_segment(size_t input, size_t number, const TranscriptSegment& segment);
  void add_interim(size_t input, std::vector<TranscriptSegment> segments);
  void add_input(size_t input, const Status& status);
  void add_end(const Status& status);
  // Undoes an end that was not fetched, when the job continues after all.
  void take_back_end();
  // The next event; false if there is none. Its pointers are valid until the next call.
  bool next(lapilli_event& out);
  // Segments of the last event fetched, or those of an interim result; empty for other events.
  [[nodiscard]] std::span<const TranscriptSegment> segments() const { return last_.segments; }
  [[nodiscard]] int32_t kind() const { return last_.event.kind; }

 private:
  struct Waiting {
    lapilli_event event{};
    std::string text;  // or an error message
    std::vector<int32_t> ids;
    std::vector<TranscriptSegment> segments;
  };
  Waiting& add(int32_t kind);
  void drop_progress();
  void drop_interim(size_t input);

  std::deque<Waiting> waiting_;
  Waiting last_;
  lapilli_event_progress progress_{};  // the last one added
};

class Job {
 public:
  // Arguments of one call, and its name for messages.
  struct Call {
    const char* function;
    lapilli_model* model;
    const lapilli_input* inputs;
    size_t count;
    const lapilli_options* options;
  };
  // Reports progress and streams through the options' functions.
  static Result<std::unique_ptr<Job>> start(const Call& call);
  // Reports everything by events; refuses options with such functions.
  static Result<std::unique_ptr<Job>> start_with_events(const Call& call);
  // A job without inputs: prepares the model for jobs of this shape.
  static Result<std::unique_ptr<Job>> prepare(const char* function, lapilli_model* model, const lapilli_shape* shape);

  // Like Task's. The list of its model may pump it at any time.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  void wait();
  void cancel();
  enum class Pumped : uint8_t { ended, idle, at_work };  // idle: it waits for samples, or for the end of a pause
  // pump(), unless another thread is using the job.
  Pumped try_pump(double budget_us);
  // Safe to call from any thread.
  [[nodiscard]] bool has_ended() const { return ended_; }
  [[nodiscard]] JobList& list() const { return *list_; }
  // Ends it without an event, for its owner lets go of it: nothing of the caller's is used from now on.
  void drop();
  // True if it has not ended and can do nothing until more samples arrive.
  [[nodiscard]] bool is_hungry() const;
  // For inputs that are recordings still in progress.
  Status append(const char* function, size_t input, std::span<const float> samples);
  Status end_recording(const char* function, size_t input);
  // Stores the device's data between runs.
  void keep() noexcept;
  // Continues a job that ended because its device was lost, with a model of the same files; even if that end was
  // fetched.
  Status resume(const char* function, lapilli_model* model);
  bool next_event(lapilli_event& out);
  // Segments of the last event fetched if it is of this kind; otherwise empty.
  [[nodiscard]] std::span<const TranscriptSegment> last_segments(int32_t kind) const {
    return events_.kind() == kind ? events_.segments() : std::span<const TranscriptSegment>();
  }
  // Bytes are valid as long as that event.
  Result<const std::string*> draw_attention(const lapilli_attention_drawing* how);
  // Call once after the end; after a cancellation it returns that status.
  Status take(lapilli_result** result);

 private:
  Status read(const Call& call, WorkRequest& request);
  void copy_texts(std::vector<Input>& inputs);
  void make_events(WorkRequest& request);
  [[nodiscard]] Status check_takes_samples(const char* function) const;
  void use(const lapilli_model& model, ReplaceableModel::Held held);
  bool pump_locked(double budget_us);
  [[nodiscard]] bool is_hungry_locked() const;
  void step(double budget_us);
  void ask();
  void finish();
  void lose();
  void recover(double budget_us);
  void end(Status status);

  std::shared_ptr<JobList> list_;  // of the model that it was started with
  mutable std::mutex mutex_;       // guards the rest, but for what is atomic and what only the owner's thread uses
  std::shared_ptr<ReplaceableModel> place_;
  ReplaceableModel::Held held_;  // no model: its device is lost
  std::shared_ptr<LogSink> log_;
  double load_ms_ = 0;
  std::shared_ptr<const FrontEnd> front_;
  std::vector<std::string> texts_;                               // by input
  InputCopies copies_;                                           // of the other inputs
  std::function<bool(uint64_t done, uint64_t total)> progress_;  // may be empty
  std::shared_ptr<std::atomic<uint32_t>> cancellations_;         // the model's, and their number at the start
  uint32_t cancellations_before_ = 0;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> ended_{false};
  bool has_events_ = false, taken_ = false;
  bool replaced_ = false;  // the device was replaced, once
  EventQueue events_;
  std::string drawing_;
  std::unique_ptr<Work> work_;  // until the end (losing the device is none); refers to texts_ and copies_
  Status status_;
  std::optional<WorkOutput> output_;
};

}  // namespace lapilli::api
