// Some work for a device: y = x * scale + bias + offset + push over n words, and a check of the result.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}

// Everything that a run needs, made at once. Members are destroyed in an order that suits Vulkan.
struct Work {
  static constexpr uint32_t kScale = 3, kBias = 5, kOffset = 1000, kPush = 20;
  uint32_t n = 0;
  std::shared_ptr<Device> device;
  Buffer x, y, uniform;
  std::optional<DescriptorArena> arena;
  std::optional<CommandRecording> commands;

  // y is zeroed; each submission of commands writes it anew.
  static Result<Work> make(std::shared_ptr<Device> device, uint32_t n);
  // Submits once, waits, reads y back and compares.
  Status run();
  // Reads y back and compares.
  Status check();
};

}  // namespace lapilli::vulkan
