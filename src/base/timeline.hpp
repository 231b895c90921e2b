// What happened when, on the host's threads and on the device, for viewers of the Trace Event Format (Perfetto,
// Chrome). Nothing is kept where there is none: those who would tell it look at a null pointer.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace lapilli {

// Safe to use from several threads. Times are microseconds: the host's since the timeline was made, the device's by a
// clock of its own, whose place beside the host's is found when all is known.
class Timeline {
 public:
  using Numbers = std::vector<std::pair<const char*, double>>;
  struct Slice {
    std::string name;
    double begin_us = 0, end_us = 0;
    Numbers numbers;
    uint32_t lane = 0;  // of those that go on at the same time; slices of one lane contain or follow each other
  };
  // One submission: what the device did between two looks of the host's.
  struct DeviceWork {
    double submitted_us = 0, done_us = 0;  // by the host
    bool by_device = false;                // the slices are by the device's clock; else by the host's
    std::vector<Slice> slices;
  };

  // A timeline whose file is written when the last who tells it is gone. A file that cannot be written is an error now.
  static Result<std::shared_ptr<Timeline>> into_file(const std::string& path);
  // Writes the file at once, for whoever wants to know whether it can be: it is written anew only for what is told
  // later, and what went wrong is not said again. An error without a file.
  Status write();

  [[nodiscard]] double at(Clock::time_point time) const { return milliseconds(time - begin_) * 1e3; }
  void host(Slice slice);  // of the thread that calls; its lane is nobody's concern
  void device(DeviceWork work);
  [[nodiscard]] std::string json() const;

 private:
  struct HostSlice {
    std::thread::id thread;
    Slice slice;
  };
  bool has_room(size_t slices);
  bool take_news();
  [[nodiscard]] double device_to_host_us() const;

  const Clock::time_point begin_ = Clock::now();
  mutable std::mutex mutex_;
  std::vector<HostSlice> host_;
  std::vector<DeviceWork> device_;
  size_t slices_ = 0, left_out_ = 0;
  bool news_ = true;  // that the file does not hold

  std::mutex writing_;
  std::string path_;           // "": no file
  std::FILE* file_ = nullptr;  // until it is written for the first time
};

// A slice of this thread, from here to the end of the scope.
class TimelineScope {
 public:
  TimelineScope(Timeline* timeline, const char* name) : timeline_(timeline), name_(name) {
    if (timeline_) begin_ = Clock::now();
  }
  ~TimelineScope();
  TimelineScope(const TimelineScope&) = delete;
  TimelineScope& operator=(const TimelineScope&) = delete;
  void number(const char* name, double value) {
    if (timeline_) numbers_.emplace_back(name, value);
  }
  // Nothing happened that is worth a slice.
  void forget() { timeline_ = nullptr; }

 private:
  Timeline* timeline_;
  const char* name_;
  Clock::time_point begin_;
  Timeline::Numbers numbers_;
};

}  // namespace lapilli
