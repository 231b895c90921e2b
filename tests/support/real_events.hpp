// Events for graph::check of the commands that a device got (vulkan/device/trace.hpp): recordings as commands and
// levels, by the barriers that were recorded, steps at their rows of the log, the host's accesses and what it learned.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/schedule.hpp"
#include "vulkan/device/trace.hpp"

namespace lapilli::testing_support {

class RealEvents {
 public:
  // Fails where a recording is not what it should be: a dispatch says of nothing that it touches it, or of what its
  // descriptor set does not hold; a recording is not closed by a barrier, or one of its barriers does not name the
  // stages that it stands between.
  // With a divisor the log has so many times fewer rows.
  static Result<RealEvents> of(const std::vector<vulkan::Trace::Event>& trace, uint32_t log_divisor = 1);

  std::vector<graph::Event> events;

  // graph::check, whose message gets the names of the buffers that the event touches.
  [[nodiscard]] Status check() const { return check(events); }
  // The same for events that were edited: some left out or moved. Others cannot be named.
  [[nodiscard]] Status check(const std::vector<graph::Event>& edited) const;
  // Names of the buffers that an event of this object touches, edited or not.
  [[nodiscard]] const std::set<std::string>& buffers(const graph::Event& event) const;
  [[nodiscard]] bool touches(const graph::Event& event, const char* buffer) const {
    return buffers(event).contains(buffer);
  }

 private:
  // The commands between the ends of two steps.
  struct Part {
    std::vector<graph::Command> commands;
    graph::Schedule schedule;
    bool opened = false;  // by a barrier
    std::set<std::string> buffers;
    const vulkan::TracedBuffer* log = nullptr;  // that it touches a row of
    uint64_t stride = 0;
    std::vector<const vulkan::TracedBuffer*> step_ends;
  };
  using Parts = std::vector<std::shared_ptr<const Part>>;
  class Reader;

  Status add(const vulkan::Trace::Event& event);
  Status submit(const vulkan::Trace::Event& event);
  Status host(const vulkan::Touch& touch);
  uint32_t block(const vulkan::TracedBuffer& buffer);
  uint64_t row(const Part& part) const;

  uint32_t log_divisor_ = 1;
  std::map<const void*, uint32_t> blocks_;
  std::map<const vulkan::TracedRecording*, Parts> recordings_;
  std::map<const graph::Schedule*, const Part*> parts_;
  std::map<const vulkan::TracedBuffer*, uint64_t> steps_, strides_;
  std::map<std::pair<uint64_t, uint64_t>, std::set<std::string>> hosts_;  // by block and first byte
  std::vector<vulkan::Trace::Event> trace_;                               // what others point into
};

// The checker over all that a trace has told so far.
Status check_events(const vulkan::Trace& trace);

}  // namespace lapilli::testing_support
