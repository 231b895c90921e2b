// Machines without Vulkan: no loader, no driver, and functions that are missing.
#include "vulkan/driver/loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// Sets a variable until the end of the scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    set(value);
  }
  ~Environment() { set(had_ ? old_.c_str() : nullptr); }

 private:
  void set(const char* value) {
#ifdef _WIN32
    _putenv_s(name_, value ? value : "");
#else
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
#endif
  }
  const char* name_;
  std::string old_;
  bool had_ = false;
};

void expect_no_device(const DeviceOptions& options, const char* what) {
  auto device = Device::create(options);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::no_device);
  EXPECT_THAT(device.error().message, HasSubstr(what));
  auto list = list_devices(options);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::no_device);
}

TEST(Loader, ALibraryThatIsNotThere) {
  const Environment library("LAPILLI_VULKAN_LIBRARY", "libno-such-vulkan.so.1");
  expect_no_device({}, "libno-such-vulkan.so.1");
}

TEST(Loader, ALibraryThatIsNotVulkan) {
  const Environment library("LAPILLI_VULKAN_LIBRARY", "libm.so.6");
  expect_no_device({}, "cannot be opened");
}

TEST(Loader, NoDriver) {
  const Environment old_name("VK_ICD_FILENAMES", "/dev/null"), new_name("VK_DRIVER_FILES", "/dev/null");
  auto device = Device::create({});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::no_device);
  EXPECT_THAT(device.error().message, AnyOf(HasSubstr("install"), HasSubstr("there is no Vulkan loader")));
}

// ---- a loader made of nothing
// ----------------------------------------------------------------------------------------

VkResult instance_result = VK_SUCCESS;
uint32_t instance_version = VK_API_VERSION_1_1;
int dummy = 0;
int destroyed = 0;

VkResult VKAPI_CALL create_instance_fake(const VkInstanceCreateInfo*, const VkAllocationCallbacks*, VkInstance* out) {
  *out = reinterpret_cast<VkInstance>(&dummy);
  return instance_result;
}
void VKAPI_CALL destroy_instance_fake(VkInstance, const VkAllocationCallbacks*) { ++destroyed; }
VkResult VKAPI_CALL extensions_fake(const char*, uint32_t* n, VkExtensionProperties*) { return *n = 0, VK_SUCCESS; }
VkResult VKAPI_CALL layers_fake(uint32_t* n, VkLayerProperties*) { return *n = 0, VK_SUCCESS; }
VkResult VKAPI_CALL version_fake(uint32_t* v) { return *v = instance_version, VK_SUCCESS; }
VkResult VKAPI_CALL devices_fake(VkInstance, uint32_t* n, VkPhysicalDevice*) { return *n = 0, VK_SUCCESS; }
void VKAPI_CALL never_called() { ADD_FAILURE() << "a function was called that should not be"; }

std::map<std::string, PFN_vkVoidFunction>& functions() {
  static std::map<std::string, PFN_vkVoidFunction> f;
  return f;
}
PFN_vkVoidFunction VKAPI_CALL get_fake(VkInstance, const char* name) {
  const auto it = functions().find(name);
  return it == functions().end() ? nullptr : it->second;
}

class FakeLoader : public testing::Test {
 protected:
  void SetUp() override {
    instance_result = VK_SUCCESS;
    instance_version = VK_API_VERSION_1_1;
    destroyed = 0;
    auto& f = functions();
    f.clear();
#define LAPILLI_FAKE(name) f["vk" #name] = &never_called;
    LAPILLI_INSTANCE_FUNCTIONS(LAPILLI_FAKE)
#undef LAPILLI_FAKE
    f["vkCreateInstance"] = reinterpret_cast<PFN_vkVoidFunction>(&create_instance_fake);
    f["vkDestroyInstance"] = reinterpret_cast<PFN_vkVoidFunction>(&destroy_instance_fake);
    f["vkEnumerateInstanceExtensionProperties"] = reinterpret_cast<PFN_vkVoidFunction>(&extensions_fake);
    f["vkEnumerateInstanceLayerProperties"] = reinterpret_cast<PFN_vkVoidFunction>(&layers_fake);
    f["vkEnumerateInstanceVersion"] = reinterpret_cast<PFN_vkVoidFunction>(&version_fake);
    f["vkEnumeratePhysicalDevices"] = reinterpret_cast<PFN_vkVoidFunction>(&devices_fake);
    options_.get_instance_proc_addr = reinterpret_cast<void*>(&get_fake);
  }
  DeviceOptions options_;
};

TEST_F(FakeLoader, WithoutDevices) {
  expect_no_device(options_, "no device");
  EXPECT_EQ(destroyed, 2);
}

TEST_F(FakeLoader, WithoutDriver) {
  instance_result = VK_ERROR_INCOMPATIBLE_DRIVER;
  expect_no_device(options_, "no driver");
  EXPECT_EQ(destroyed, 0);
}

TEST_F(FakeLoader, OfVulkan10) {
  instance_version = VK_API_VERSION_1_0;
  expect_no_device(options_, "1.1 is needed");
  functions().erase("vkEnumerateInstanceVersion");
  expect_no_device(options_, "1.1 is needed");
}

TEST_F(FakeLoader, EveryMissingFunctionIsNamed) {
  const auto all = functions();
  for (const auto& [name, f] : all) {
    if (name == "vkEnumerateInstanceVersion") continue;
    functions() = all;
    functions().erase(name);
    auto device = Device::create(options_);
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().code, ErrorCode::no_device);
    EXPECT_THAT(device.error().message, AnyOf(HasSubstr(name), HasSubstr("vkCreateInstance or its siblings")));
  }
}

TEST_F(FakeLoader, OutOfMemory) {
  instance_result = VK_ERROR_OUT_OF_HOST_MEMORY;
  auto device = Device::create(options_);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::out_of_memory);
}

TEST(DeviceEnvironment, IsIgnoredIfAsked) {
  const Environment library("LAPILLI_VULKAN_LIBRARY", "/there/is/no/such/loader.so");
  const Environment mask("LAPILLI_CAPS", "floor");
  EXPECT_FALSE(Device::create({}).ok());
  auto device = Device::create({.ignore_environment = true});
  ASSERT_TRUE(device.ok()) << device.error().message;
  EXPECT_TRUE((*device)->caps().masks.empty());
}

}  // namespace
}  // namespace lapilli::vulkan
