// How the host's words reach a session while the device works: areas of host memory that recordings copy into states,
// so that nobody waits, on memory that is mapped or not.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "runtime/run/session.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

// One area: a copy of some states, each as a whole. Written by the host while no submission of copy() is in flight.
class UploadArea {
 public:
  // The session, which is allocated, must outlive the area.
  static Result<std::unique_ptr<UploadArea>> create(const Session& session, std::span<const StateKind> kinds);
  // The state's words in the area; empty if it is none of its kinds.
  [[nodiscard]] std::span<uint32_t> words(StateKind kind);
  // After writing, before copy() is submitted.
  Status flush() const;
  [[nodiscard]] const vulkan::CommandRecording& copy() const { return *copy_; }

  bool busy = false;  // copy() is submitted, or about to be; for the owner

 private:
  UploadArea() = default;
  vulkan::Buffer buffer_;
  std::map<StateKind, std::pair<uint64_t, uint64_t>> places_;  // byte and bytes
  std::unique_ptr<vulkan::CommandRecording> copy_;
};

}  // namespace lapilli
