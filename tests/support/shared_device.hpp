// A device that the tests of a program share. Pipelines and the verdicts of the self-test stay with a device, and a
// device of its own makes them anew for each test: most of the time of a test that uses a small model. Tests that count
// what a device is asked for, or break it, have devices of their own.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "vulkan/device/device.hpp"

namespace lapilli::testing_support {

// Closes the devices before main() ends: drivers may be unloaded behind it.
class SharedDevices : public testing::Environment {
 public:
  static SharedDevices& get();
  Result<std::shared_ptr<vulkan::Device>> of(const vulkan::DeviceOptions& options);
  void TearDown() override { open_.clear(); }

 private:
  std::map<std::string, std::shared_ptr<vulkan::Device>> open_;
};

// Opened with these options, of which `mask` and `max_submit_us` alone may be set, by whoever asked for it first.
Result<std::shared_ptr<vulkan::Device>> shared_device(const vulkan::DeviceOptions& options = {});

}  // namespace lapilli::testing_support
