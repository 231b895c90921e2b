#include "support/shared_device.hpp"

namespace lapilli::testing_support {

namespace {

// Before any test runs: no environment may be added later.
SharedDevices* const registered = static_cast<SharedDevices*>(testing::AddGlobalTestEnvironment(new SharedDevices));

}  // namespace

SharedDevices& SharedDevices::get() { return *registered; }

Result<std::shared_ptr<vulkan::Device>> SharedDevices::of(const vulkan::DeviceOptions& options) {
  auto& device = open_[options.mask + "," + std::to_string(options.max_submit_us)];
  if (!device) {
    LAPILLI_TRY(device, vulkan::Device::create(options));
  }
  return device;
}

Result<std::shared_ptr<vulkan::Device>> shared_device(const vulkan::DeviceOptions& options) {
  return SharedDevices::get().of(options);
}

}  // namespace lapilli::testing_support
