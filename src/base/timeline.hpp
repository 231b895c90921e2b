// A trace of events on the host's threads and the device, for viewers of the Trace Event Format (Perfetto, Chrome).
// Without a timeline nothing is kept: callers test a null pointer.
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

// Safe to use from several threads. Times are microseconds: the host's since the timeline was made, the device's by its
// own clock, which is aligned with the host's when the file is written.
class Timeline {
 public:
  using Numbers = std::vector<std::pair<const char*, double>>;
  struct Slice {
    std::string name;
    double begin_us = 0, end_us = 0;
    Numbers numbers;
    uint32_t lane = 0;  // among concurrent ones; slices of one lane contain or follow each other
  };
  // One submission: the device's work between two looks of the host's.
  struct DeviceWork {
    double submitted_us = 0, done_us = 0;  // host clock
    bool by_device = false;                // slices are in the device's clock, otherwise the host's
    std::vector<Slice> slices;
  };

  // A timeline whose file is written when its last user is gone. Fails now if the file cannot be written.
  static Result<std::shared_ptr<Timeline>> into_file(const std::string& path);
  // Writes the file now, for callers that need to know whether that works: it is rewritten only for later events, and a
  // failure is not reported again. An error without a file.
  Status write();

  [[nodiscard]] double at(Clock::time_point time) const { return milliseconds(time - begin_) * 1e3; }
  void host(Slice slice);  // recorded for the calling thread; its lane is ignored
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
  bool news_ = true;  // events that the file does not hold yet

  std::mutex writing_;
  std::string path_;           // "": no file
  std::FILE* file_ = nullptr;  // open until the file is written for the first time
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
  // Drops the slice: nothing worth one happened.
  void forget() { timeline_ = nullptr; }

 private:
  Timeline* timeline_;
  const char* name_;
  Clock::time_point begin_;
  Timeline::Numbers numbers_;
};

}  // namespace lapilli
