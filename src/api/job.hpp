// Inputs on their way through a model, as the C interface has them: what the caller gave is copied, what becomes of it
// waits as events and as a result. lapilli_generate pumps one to its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/handles.hpp"
#include "api/work.hpp"

namespace lapilli::api {

// What happened and was not asked for yet. Texts of one input are joined, of progress only the latest is kept.
class EventQueue {
 public:
  void add_text(size_t input, std::string_view text, std::span<const int32_t> ids);
  void add_progress(const lapilli_event_progress& progress);  // if it is another than the last one
  void add_segment(size_t input, size_t number, const HeardSegment& segment);
  void add_draft(size_t input, std::vector<HeardSegment> segments);
  void add_input(size_t input, const Status& status);
  void add_end(const Status& status);
  // It goes on after all: an end that nobody has asked for yet was none.
  void take_back_end();
  // The next one; false: there is none. What it points to lives until the next call.
  bool next(lapilli_event& out);
  // The event that was told last: its segment, or those of a draft; none if it was another.
  [[nodiscard]] std::span<const HeardSegment> segments() const { return told_.segments; }
  [[nodiscard]] int32_t kind() const { return told_.event.kind; }

 private:
  struct Waiting {
    lapilli_event event{};
    std::string text;  // or a message
    std::vector<int32_t> ids;
    std::vector<HeardSegment> segments;
  };
  Waiting& add(int32_t kind);
  void drop_progress();
  void drop_draft(size_t input);

  std::deque<Waiting> waiting_;
  Waiting told_;
  lapilli_event_progress progress_{};  // the last one that was added
};

class Job {
 public:
  // One call's arguments, and its name for messages.
  struct Call {
    const char* function;
    lapilli_model* model;
    const lapilli_input* inputs;
    size_t count;
    const lapilli_options* options;
  };
  // Progress and streams go to the options' functions.
  static Result<std::unique_ptr<Job>> start(const Call& call);
  // Everything goes to events, and options with such functions are refused.
  static Result<std::unique_ptr<Job>> start_with_events(const Call& call);
  // Of no inputs: the model becomes ready for jobs of this shape.
  static Result<std::unique_ptr<Job>> prepare(const char* function, lapilli_model* model, const lapilli_shape* shape);

  // As Work's.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  void rest();
  void cancel() { cancelled_ = true; }
  // It has not ended, and has nothing to do before more samples come.
  [[nodiscard]] bool is_hungry() const { return !ended_ && held_.model && work_->is_hungry(); }
  // Of inputs that are recordings which go on.
  Status append(const char* function, size_t input, std::span<const float> samples);
  Status end_recording(const char* function, size_t input);
  // What the device is to keep between runs.
  void keep() noexcept;
  // After an end because the device was lost: goes on with a model of the same files. Also where that end was told.
  Status resume(const char* function, lapilli_model* model);
  bool next_event(lapilli_event& out) { return events_.next(out); }
  // Of the event that was told last, if it is of this kind; else none.
  [[nodiscard]] std::span<const HeardSegment> told(int32_t kind) const {
    return events_.kind() == kind ? events_.segments() : std::span<const HeardSegment>();
  }
  // Bytes that live as long as that event.
  Result<const std::string*> draw_looks(const lapilli_drawing* how);
  // After the end, once; also after a cancellation, which is the status then.
  Status take(lapilli_result** result);

 private:
  Status read(const Call& call, WorkRequest& request);
  void copy_texts(std::vector<Input>& inputs);
  void make_events(WorkRequest& request);
  [[nodiscard]] Status check_takes_samples(const char* function) const;
  void use(const lapilli_model& model, ReplaceableModel::Held held);
  void step(double budget_us);
  void ask();
  void finish();
  void lose();
  void recover(double budget_us);
  void end(Status status);

  std::shared_ptr<ReplaceableModel> place_;
  ReplaceableModel::Held held_;  // no model: its device is lost
  std::shared_ptr<LogSink> log_;
  double load_ms_ = 0;
  std::shared_ptr<const FrontEnd> front_;
  std::vector<std::string> texts_;                               // by input
  InputCopies copies_;                                           // of the others
  std::function<bool(uint64_t done, uint64_t total)> progress_;  // or empty
  std::shared_ptr<std::atomic<uint32_t>> cancellations_;         // of the model, and how many there were
  uint32_t cancellations_before_ = 0;
  std::atomic<bool> cancelled_{false};
  bool has_events_ = false, ended_ = false, taken_ = false;
  bool replaced_ = false;  // the device was, once
  EventQueue events_;
  std::string drawing_;
  std::unique_ptr<Work> work_;  // until the end, a lost device is none; points into texts and copies
  Status status_;
  std::optional<WorkOutput> output_;
};

}  // namespace lapilli::api
