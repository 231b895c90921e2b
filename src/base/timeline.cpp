#include "base/timeline.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.hpp"
#include "base/path.hpp"

namespace lapilli {

namespace {

using nlohmann::json;

// Keeps a run of hours from filling the memory: slices beyond are only counted.
constexpr size_t kMostSlices = 1'000'000;
constexpr int kHostProcess = 1, kDeviceProcess = 2;

json named(const char* kind, int process, size_t track, const std::string& name) {
  return {{"ph", "M"}, {"name", kind}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}};
}

json event(const Timeline::Slice& slice, int process, size_t track, double shift_us) {
  json e = {{"ph", "X"},
            {"name", slice.name},
            {"pid", process},
            {"tid", track},
            {"ts", slice.begin_us + shift_us},
            {"dur", std::max(0.0, slice.end_us - slice.begin_us)}};
  for (const auto& [name, value] : slice.numbers) e["args"][name] = value;
  return e;
}

}  // namespace

Result<std::shared_ptr<Timeline>> Timeline::into_file(const std::string& path) {
  std::FILE* const file = open_stream(path, "wb");
  if (!file) return fail(ErrorCode::not_found, "cannot write a trace to %s: %s", path, std::strerror(errno));
  const auto end = [](Timeline* timeline) noexcept {
    try {
      if (const auto written = timeline->write(); !written) log(LogLevel::error, written.error().message);
    } catch (...) {  // no memory for the text: the file stays unchanged
    }
    delete timeline;
  };
  std::shared_ptr<Timeline> timeline(new Timeline(), end);
  timeline->path_ = path;
  timeline->file_ = file;
  return timeline;
}

Status Timeline::write() {
  const std::lock_guard writing(writing_);
  if (path_.empty()) return fail(ErrorCode::invalid_argument, "there is no file for the trace");
  if (!take_news()) return {};
  const std::string text = json();
  errno = 0;
  std::FILE* file = std::exchange(file_, nullptr);
  if (!file) file = open_stream(path_, "wb");
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int why = errno;
  if (file && std::fclose(file) != 0 && written) {
    written = false;
    why = errno;
  }
  if (written) return {};
  return fail(ErrorCode::not_found, "cannot write the trace to %s: %s", path_, std::strerror(why));
}

bool Timeline::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, false);
}

bool Timeline::has_room(size_t slices) {
  const bool room = slices_ + slices <= kMostSlices;
  (room ? slices_ : left_out_) += slices;
  news_ = true;
  return room;
}

void Timeline::host(Slice slice) {
  const std::lock_guard lock(mutex_);
  if (has_room(1)) host_.push_back({std::this_thread::get_id(), std::move(slice)});
}

void Timeline::device(DeviceWork work) {
  const std::lock_guard lock(mutex_);
  if (has_room(work.slices.size())) device_.push_back(std::move(work));
}

// Work begins after its submission and ends before the host sees it done. Among the shifts that satisfy all of these,
// takes the smallest, with which an idle device begins at once; if the clocks drift and none fits, the middle.
double Timeline::device_to_host_us() const {
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  for (const DeviceWork& work : device_) {
    if (!work.by_device || work.slices.empty()) continue;
    double begin = work.slices.front().begin_us, end = begin;
    for (const Slice& s : work.slices) begin = std::min(begin, s.begin_us), end = std::max(end, s.end_us);
    least = std::max(least, work.submitted_us - begin);
    most = std::min(most, work.done_us - end);
  }
  if (most == std::numeric_limits<double>::max()) return 0;
  return least <= most ? least : (least + most) / 2;
}

std::string Timeline::json() const {
  const std::lock_guard lock(mutex_);
  nlohmann::json events = nlohmann::json::array();
  events.push_back(named("process_name", kHostProcess, 0, "host"));
  events.push_back(named("process_name", kDeviceProcess, 0, "device"));
  std::map<std::thread::id, size_t> tracks;
  for (const HostSlice& h : host_) {
    const size_t track = tracks.emplace(h.thread, tracks.size() + 1).first->second;
    events.push_back(event(h.slice, kHostProcess, track, 0));
  }
  const double shift = device_to_host_us();
  for (const DeviceWork& work : device_)
    for (const Slice& s : work.slices)
      events.push_back(event(s, kDeviceProcess, size_t{1} + s.lane, work.by_device ? shift : 0));
  return nlohmann::json{
      {"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}, {"otherData", {{"slices_left_out", left_out_}}}}
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

TimelineScope::~TimelineScope() {
  if (!timeline_) return;
  try {
    timeline_->host({name_, timeline_->at(begin_), timeline_->at(Clock::now()), std::move(numbers_)});
  } catch (...) {  // no memory: the slice is left out
  }
}

}  // namespace lapilli
