// Sends the host's words to a session while the device works: recordings copy areas of host memory into states, so that
// nothing waits, whether memory is mapped or not.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "runtime/run/session.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// One area: a copy of some states, each as a whole. The host writes it while no submission of copy() is in flight.
class UploadArea {
 public:
  // The session must be allocated and outlive the area.
  static Result<std::unique_ptr<UploadArea>> create(const Session& session, std::span<const StateKind> kinds);
  // The state's words in the area; empty if the area does not contain it.
  [[nodiscard]] std::span<uint32_t> words(StateKind kind);
  // Call after writing, before copy() is submitted.
  Status flush() const;
  [[nodiscard]] const vulkan::CommandRecording& copy() const { return *copy_; }

  bool busy = false;  // copy() is submitted, or about to be; for the owner

 private:
  UploadArea() = default;
  vulkan::Buffer buffer_;
  std::map<StateKind, std::pair<uint64_t, uint64_t>> places_;  // offset and size in bytes
  std::unique_ptr<vulkan::CommandRecording> copy_;
};

}  // namespace lapilli
