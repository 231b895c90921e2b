// Time is bounded on devices of any pace: the lab layer's (LAPILLI_LAB=pace=GB_PER_S, tests/lab/README.md), whose clock
// is a virtual one, so that nothing here depends on the machine. What a dispatch takes there only the layer knows.
#include "lab/layer/pace.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "generate/generate.hpp"
#include "runtime/run/pace.hpp"
#include "search/workspace.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

constexpr double kFrameNs = 1e9 / 60;
constexpr double kBudgetUs = 1000;

// The layer's clock, by the library that the Vulkan loader has opened.
class Lab {
 public:
  Lab() {
    const char* folder = std::getenv("LAPILLI_LAB_LAYER");
    const std::string file = std::string(folder ? folder : "") + "/libVkLayer_lab_device.so";
    library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
    advance_ = find<decltype(&lab_pace_advance)>("lab_pace_advance");
    now_ = find<decltype(&lab_pace_now)>("lab_pace_now");
    submissions_ = find<decltype(&lab_pace_submissions)>("lab_pace_submissions");
  }
  ~Lab() {
    if (library_) dlclose(library_);
  }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;
  [[nodiscard]] bool there() const { return advance_ && now_ && submissions_; }
  void advance(double to_ns) const { advance_(to_ns); }
  [[nodiscard]] double now() const { return now_(); }
  [[nodiscard]] unsigned count() const { return submissions_(nullptr, 0, 0); }
  [[nodiscard]] std::vector<lab_pace_submission> since(unsigned first) const {
    std::vector<lab_pace_submission> all(count() - first);
    submissions_(all.data(), first, static_cast<unsigned>(all.size()));
    return all;
  }

 private:
  template <class F>
  F find(const char* name) const {
    return library_ ? reinterpret_cast<F>(dlsym(library_, name)) : nullptr;
  }
  void* library_ = nullptr;
  decltype(&lab_pace_advance) advance_ = nullptr;
  decltype(&lab_pace_now) now_ = nullptr;
  decltype(&lab_pace_submissions) submissions_ = nullptr;
};

double us_of(const lab_pace_submission& s) { return (s.end_ns - s.begin_ns) * 1e-3; }

GenerateRequest translation(uint32_t steps) {
  GenerateRequest request;
  request.sources = testing_support::random_sources({32, 32, 32, 32}, 256, 3);
  request.options.num_beams = request.options.num_return_sequences = 1;
  request.options.max_new_tokens = request.options.min_new_tokens = steps;
  request.options.forced_eos_token_id = std::vector<int32_t>{};
  return request;
}

class DevicePace : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create({}));
    lab_ = std::make_unique<Lab>();
    ASSERT_TRUE(lab_->there()) << "run this by tests/lab/run -p pace=GB_PER_S, with LAPILLI_LAB_LAYER";
    // Zeros, which are not even filled in: the layer drops what is large.
    LAPILLI_ASSERT_VALUE(model_, Model::random(device_, GetParam(), 0));
  }
  // Kernels are proven before the frames begin, as an app that has frames to keep does.
  void prepare() { LAPILLI_ASSERT_OK(model_->workspaces().plans().plans(plain_key(4, 1, 32, 64))); }
  // One search to its end, a frame after the other; how many frames it took.
  void run_frames(uint32_t& frames, uint32_t most) {
    LAPILLI_ASSERT_VALUE(auto search, Search::start(model_, translation(24)));
    for (double at = lab_->now(); frames < most; ++frames) {
      lab_->advance(at += kFrameNs);
      const double begin = lab_->now();
      const unsigned before = lab_->count();
      const bool ended = search->pump(kBudgetUs);
      EXPECT_EQ(lab_->now(), begin) << "a pump has waited";
      check_frame(before, begin);
      if (ended) {
        LAPILLI_ASSERT_OK(search->run_to_end());
        return;
      }
    }
  }
  // Checks the submissions of one pump, and those still in flight.
  void check_frame(unsigned first, double begin_ns) {
    const auto submitted = lab_->since(first);
    if (submitted.empty()) return;
    double longest_ns = 0;
    for (const auto& s : submitted) longest_ns = std::max(longest_ns, s.longest_buffer_ns);
    const double busy_us = (submitted.back().end_ns - begin_ns) * 1e-3;
    EXPECT_LT(busy_us, kBudgetUs + longest_ns * 1e-3) << "submission " << first;
    busy_us_.push_back(busy_us);
  }
  // Prints, for frames with submissions, how long the device was busy after their beginning.
  void say_frames(uint32_t searches) const {
    ASSERT_FALSE(busy_us_.empty());
    const double sum = std::accumulate(busy_us_.begin(), busy_us_.end(), 0.0);
    std::printf("%s: %u jobs, %.0f us a frame, %.0f us at most\n", GetParam(), searches,
                sum / static_cast<double>(busy_us_.size()), *std::max_element(busy_us_.begin(), busy_us_.end()));
  }
  std::shared_ptr<vulkan::Device> device_;
  std::unique_ptr<Lab> lab_;
  std::shared_ptr<Model> model_;
  std::vector<double> busy_us_;
};

TEST_P(DevicePace, NoSubmissionTakesLongerThanItMay) {
  const double most = device_->max_submit_us();
  const unsigned first = lab_->count();
  for (int i = 0; i < 2; ++i) {
    LAPILLI_ASSERT_VALUE(auto search, Search::start(model_, translation(24)));
    LAPILLI_ASSERT_OK(search->run_to_end());
  }
  const auto all = lab_->since(0);
  double longest_us = 0;
  for (size_t i = first; i < all.size(); ++i) {
    EXPECT_LT(us_of(all[i]), 250'000) << "submission " << i;
    if (i < first + 10) continue;
    EXPECT_LE(us_of(all[i]), 1.25 * most) << "submission " << i;
    longest_us = std::max(longest_us, us_of(all[i]));
  }
  ASSERT_GT(all.size(), first + 10);
  EXPECT_GT(Pace::of(*device_)->counts().measured, 10u);
  std::printf("%s: %zu submissions, the longest of %.1f ms\n", GetParam(), all.size() - first, longest_us * 1e-3);
}

TEST_P(DevicePace, FramesAreOverrunByLessThanOneSegment) {
  prepare();
  uint32_t frames = 0;
  constexpr uint32_t kFrames = 500;
  while (frames < kFrames && !HasFailure()) run_frames(frames, kFrames);
}

class DevicePaceSlow : public DevicePace {};
TEST_P(DevicePaceSlow, TenThousandFramesAreOverrunByLessThanOneSegment) {
  prepare();
  uint32_t frames = 0, searches = 0;
  constexpr uint32_t kFrames = 10'000;
  for (; frames < kFrames && !HasFailure(); ++searches) run_frames(frames, kFrames);
  say_frames(searches);
}

// Loading and the self-test are bounded as searches are: what is longer than it may be cannot be cut.
TEST(DevicePaceLoading, NoSubmissionTakesLongerThanItMay) {
  vulkan::DeviceOptions options;
  options.max_submit_us = 1000;
  LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create(options));
  const Lab lab;
  ASSERT_TRUE(lab.there()) << "run this by tests/lab/run -p pace=GB_PER_S, with LAPILLI_LAB_LAYER";
  const unsigned first = lab.count();
  LAPILLI_ASSERT_OK(Model::load(device, LAPILLI_SOURCE_DIR "/models/en-fr"));
  const auto all = lab.since(first);
  ASSERT_GT(all.size(), 20u);
  double longest_us = 0;
  for (size_t i = 10; i < all.size(); ++i) {
    EXPECT_LE(us_of(all[i]), std::max(1.25 * options.max_submit_us, all[i].longest_buffer_ns * 1.001e-3))
        << "submission " << i;
    longest_us = std::max(longest_us, us_of(all[i]));
  }
  EXPECT_GT(Pace::of(*device)->counts().measured, 10u);
  std::printf("loading: %zu submissions, the longest of %.1f ms\n", all.size(), longest_us * 1e-3);
}

// The bundled model's shape, and that of NLLB-200 with 600 M parameters, whose steps read 1.9 GB; with two layers of
// its encoder, for lavapipe has 2 GiB. The weights are nowhere in memory.
constexpr const char* kNllb = "d=1024,heads=16,ffn=4096,encoder=2,decoder=12,vocabulary=256206";
INSTANTIATE_TEST_SUITE_P(Small, DevicePace, testing::Values("small"));
INSTANTIATE_TEST_SUITE_P(Base, DevicePace, testing::Values("transformer-base"));
INSTANTIATE_TEST_SUITE_P(Nllb, DevicePace, testing::Values(kNllb));
INSTANTIATE_TEST_SUITE_P(Small, DevicePaceSlow, testing::Values("small"));
INSTANTIATE_TEST_SUITE_P(Base, DevicePaceSlow, testing::Values("transformer-base"));
INSTANTIATE_TEST_SUITE_P(Nllb, DevicePaceSlow, testing::Values(kNllb));

}  // namespace
}  // namespace lapilli
