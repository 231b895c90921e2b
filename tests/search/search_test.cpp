// Whole searches without a network: the sampler on scores from a table, on the device and in the interpreter, against
// what the reference implementation recorded (tests/data/search).
#include <gtest/gtest.h>

#include <algorithm>

#include "support/fixtures.hpp"
#include "support/search_records.hpp"

namespace lapilli {
namespace {

using search_records::Recorded;

Result<Recorded> open_recorded(const char* folder) {
  return Recorded::open(std::string(LAPILLI_TEST_DATA "/search/") + folder);
}

void expect_agreement(const search_records::Comparison& c) {
  for (const auto& p : c.problems) ADD_FAILURE() << p;
}

TEST(Search, FindsWhatTheReferenceFinds) {
  LAPILLI_ASSERT_VALUE(const auto recorded, open_recorded("bigram"));
  for (const auto& c : recorded.info["cases"]) {
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto bigram, search_records::make_bigram(recorded, c));
    expect_agreement(search_records::compare(bigram, c, search_records::interpret(bigram)));
  }
}

TEST(Search, ProcessesAsTheReferenceDoes) {
  LAPILLI_ASSERT_VALUE(const auto recorded, open_recorded("processors"));
  for (const auto& c : recorded.info["cases"]) {
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto p, search_records::make_processed(recorded, c));
    expect_agreement(search_records::compare(p, search_records::interpret(p)));
  }
}

class DeviceSearch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
  }
  std::shared_ptr<vulkan::Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceSearch, testing::Values("full", "no-indirect", "small-bindings"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(DeviceSearch, FindsWhatTheReferenceFinds) {
  LAPILLI_ASSERT_VALUE(const auto recorded, open_recorded("bigram"));
  // Under the masks, a part will do: prime to the number of ways to stop, so that each has its turn.
  const size_t stride = std::string(GetParam()) == "full" ? 1 : 7;
  for (size_t i = 0; i < recorded.info["cases"].size(); i += stride) {
    const auto& c = recorded.info["cases"][i];
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto bigram, search_records::make_bigram(recorded, c));
    LAPILLI_ASSERT_VALUE(const auto end, search_records::run_on(device_, bigram));
    expect_agreement(search_records::compare(bigram, c, end));
  }
}

TEST_P(DeviceSearch, ProcessesAsTheReferenceDoes) {
  LAPILLI_ASSERT_VALUE(const auto recorded, open_recorded("processors"));
  for (const auto& c : recorded.info["cases"]) {
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto p, search_records::make_processed(recorded, c));
    LAPILLI_ASSERT_VALUE(const auto got, search_records::run_on(device_, p));
    expect_agreement(search_records::compare(p, got));
  }
}

}  // namespace
}  // namespace lapilli
