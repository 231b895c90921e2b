// lapilli::Device: several models on one, at once and after its handle.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "lapilli/lapilli.hpp"

namespace {

const std::string kSharedModel = LAPILLI_SOURCE_DIR "/models/en-fr";

TEST(CppDeviceShared, OneDeviceForTwoModels) {
  auto load_both = [] {
    const auto device = lapilli::Device::open().value();
    auto first = lapilli::Model::load(device, kSharedModel).value();
    const auto stats_of = [](const lapilli::Model& model) {
      return model.translate({"Where is the station?"}).value().stats();
    };
    const lapilli_stats alone = stats_of(first);
    EXPECT_GT(alone.pipelines, 0u);
    auto second = lapilli::Model::load(device, kSharedModel).value();
    (void)stats_of(second);
    // The first one's device has the second one's weights, and no pipeline more.
    const lapilli_stats both = stats_of(first);
    EXPECT_EQ(both.pipelines, alone.pipelines);
    EXPECT_GE(both.device_bytes_peak, alone.device_bytes_peak + second.info().value().weight_bytes / 2);
    return std::pair(std::move(first), std::move(second));
  };
  auto both = load_both();  // the device's handle is gone
  const auto work = [](const lapilli::Model& model, const char* text, const char* french) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(model.translate({text}).value()[0].text(), french);
  };
  std::thread other([&] { work(both.first, "What time is it?", "Quelle heure est-il ?"); });
  work(both.second, "Where is the station?", "Où est la gare ?");
  other.join();
}

TEST(CppDeviceShared, OptionsOfDeviceAndModelArrive) {
  lapilli::DeviceOptions options;
  options.select = "no such device";
  EXPECT_EQ(lapilli::Device::open(options).error().status(), lapilli::Status::no_device);
  EXPECT_EQ(lapilli::Model::load(kSharedModel, options).error().status(), lapilli::Status::no_device);
  options = {};
  options.memory_limit = 1000;
  const auto too_large = lapilli::Model::load(kSharedModel, options);
  EXPECT_EQ(too_large.error().status(), lapilli::Status::out_of_memory);
  EXPECT_NE(too_large.error().message().find("memory limit of the device"), std::string::npos);
  options = {};
  options.caps = "floor";
  const auto device = lapilli::Device::open(options).value();
  const auto copy = device;
  EXPECT_EQ(copy.handle(), device.handle());
  lapilli::ModelOptions limits;
  limits.memory_limit = 1000;
  EXPECT_EQ(lapilli::Model::load(device, kSharedModel, limits).error().status(), lapilli::Status::out_of_memory);
  EXPECT_EQ(lapilli::Model::load(device, "no/such/model").error().status(), lapilli::Status::not_found);
  // One model's failure is not the next one's.
  EXPECT_EQ(lapilli::Model::load(device, kSharedModel).value().translate({"Where is the station?"}).value()[0].text(),
            "Où est la gare ?");
}

TEST(CppDeviceShared, HostsAreAdoptedByTheirHandles) {
  const auto adopted = lapilli::Device::adopt(lapilli_default_host_device());
  ASSERT_FALSE(adopted.ok());
  EXPECT_EQ(adopted.error().status(), lapilli::Status::invalid_argument);
  EXPECT_NE(adopted.error().message().find("VkDevice is missing"), std::string::npos);
  EXPECT_EQ(lapilli::device_requirements(nullptr, nullptr, nullptr).error().status(),
            lapilli::Status::invalid_argument);

  lapilli::DeviceOptions options;
  options.low_priority = options.debug_names = options.ignore_environment = true;
  const auto own = lapilli::Device::open(options).value();
  int something = 0;
  EXPECT_EQ(own.append(&something, 1).error().status(), lapilli::Status::invalid_argument);
  ASSERT_FALSE(own.completed(1));
  EXPECT_NE(own.completed(1).error().message().find("was not adopted for appending"), std::string::npos);
  EXPECT_FALSE(own.dropped(1));
}

}  // namespace
