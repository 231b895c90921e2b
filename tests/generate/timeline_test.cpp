// The trace of a device during searches: every dispatch, in its place, and the same results.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "generate/searches.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using nlohmann::json;

class DeviceTimeline : public testing::TestWithParam<const char*> {
 protected:
  static Result<std::string> run(const std::shared_ptr<Timeline>& timeline, uint32_t ids) {
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    options.timeline = timeline;
    LAPILLI_TRY(const auto device, vulkan::Device::create(options));
    LAPILLI_TRY(const auto model, Model::load(device, marian()));
    LAPILLI_TRY(const auto out, run_search(model, request_of({7, 12}, 3, ids)));
    return bits_of(out);
  }
  // Device slices of this name, or that contain it.
  static std::vector<json> slices(const json& trace, const std::string& name, bool whole) {
    std::vector<json> found;
    for (const json& e : trace.at("traceEvents"))
      if (e.at("ph") == "X" && e.at("pid") == 2 &&
          (whole ? e.at("name") == name : e.at("name").get<std::string>().find(name) != std::string::npos))
        found.push_back(e);
    return found;
  }
  static bool within(const json& inner, const json& outer) {
    constexpr double kRounding = 0.01;
    const double begin = inner.at("ts"), end = begin + inner.at("dur").get<double>(), from = outer.at("ts");
    return begin >= from - kRounding && end <= from + outer.at("dur").get<double>() + kRounding;
  }
};

TEST_P(DeviceTimeline, TellsEachDispatchOfEachStep) {
  constexpr uint32_t kIds = 9;
  LAPILLI_ASSERT_VALUE(const std::string want, run(nullptr, kIds));
  const auto timeline = std::make_shared<Timeline>();
  LAPILLI_ASSERT_VALUE(const std::string got, run(timeline, kIds));
  EXPECT_EQ(got, want);
  const json trace = json::parse(timeline->json());
  const bool by_device = std::string(GetParam()) != "floor";  // else there is a slice for each submission
  const auto steps = slices(trace, "step", true), encodes = slices(trace, "encode", by_device);
  EXPECT_GE(steps.size(), kIds);
  EXPECT_FALSE(slices(trace, "admit", by_device).empty());
  ASSERT_FALSE(encodes.empty());
  if (!by_device) return;
  for (const char* op : {"matmul", "attention_step", "layer_norm", "beam_step"}) {
    const auto told = slices(trace, std::string(": ") + op, false);
    EXPECT_GE(told.size(), kIds) << op;
    for (const json& slice : told) {
      EXPECT_GT(slice.at("args").at("bytes").get<double>(), 0) << slice;
      const auto holds = [&](const json& outer) { return within(slice, outer); };
      EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), holds) || std::any_of(encodes.begin(), encodes.end(), holds))
          << slice;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceTimeline, testing::Values("", "gpu", "floor"));

}  // namespace
}  // namespace lapilli
