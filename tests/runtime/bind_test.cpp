// The recordings that binding makes: barriers that wait for the arguments of indirect dispatches, and replays.
#include <gtest/gtest.h>

#include "ops/rows/basic.hpp"
#include "runtime/run/session.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"
#include "support/search_graph.hpp"

namespace lapilli {
namespace {

constexpr uint32_t kRows = 3, kLive = 2;
constexpr uint64_t kStep = 1024;  // columns; no kernel's group takes more

// `count` copies of ever more columns of a weight, each of a grid of its own, and the start of a search, which writes
// the grids.
graph::Graph copies(uint32_t count, bool start_first) {
  graph::Graph g;
  const SearchShape shape{kRows, 4, 1, kRows, kRows, 1};
  const auto state = search_records::add_search(g, shape, kRows);
  if (start_first) ops::advance(g, state, {shape, kRows, 0});
  for (uint32_t i = 0; i < count; ++i) {
    graph::Tensor x;
    x.name = "x";
    x.rows = kRows;
    x.cols = x.ld = (i + 1) * kStep;
    x.space = graph::Space::weight;
    x.live_rows = true;
    const auto y = ops::copy(g, "copy", g.add_tensor(std::move(x)));
    g.tensor(y).space = graph::Space::state;
    g.tensor(y).id = state_id(StateKind::self_kv, i);
  }
  if (!start_first) ops::advance(g, state, {shape, kRows, 0});
  return g;
}

class DeviceBind : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    vulkan::DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
  }
  void TearDown() override {
    x_ = {};
    session_.reset();
    device_.reset();
    counting::reset();
  }
  // A session in which kLive sentences run.
  Result<BoundPlan> bind(std::shared_ptr<const Plan> plan, const BindOptions& options) {
    LAPILLI_TRY(session_, Session::create(device_));
    session_->require(*plan);
    LAPILLI_CHECK(session_->allocate());
    LAPILLI_CHECK(session_->write(StateKind::grids, grid_words(plan->grids, plan->max_group_x)));
    LAPILLI_CHECK(session_->write(StateKind::step, std::vector<uint32_t>(state::STEP_WORDS, 0)));
    const uint32_t stride = state::search_stride(1);
    std::vector<uint32_t> search(kRows * stride, 0);
    for (uint32_t slot = 0; slot < kLive; ++slot)
      search[slot * stride + state::SEARCH_STATUS] = static_cast<uint32_t>(SentenceStatus::running);
    LAPILLI_CHECK(session_->write(StateKind::search, search));
    for (uint32_t i = 0; i < plan->graph.nodes().size() - 1; ++i)
      LAPILLI_CHECK(device_->zero(*session_->state(StateKind::self_kv, i).buffer));
    words_.resize(kRows * (plan->graph.nodes().size() - 1) * kStep);
    for (size_t i = 0; i < words_.size(); ++i) words_[i] = static_cast<uint32_t>(i) + 1;
    LAPILLI_TRY(x_, device_->make_buffer(words_.size() * 4, vulkan::MemoryUse::device, "x"));
    LAPILLI_CHECK(device_->write(x_, 0, std::as_bytes(std::span(words_))));
    const auto memory = session_->memory([&](graph::Space, uint32_t) { return BufferRef{&x_, 0, x_.size()}; });
    return BoundPlan::bind(device_, std::move(plan), memory, options);
  }
  // Live rows of every copy are there.
  void check(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const auto y = session_->state(StateKind::self_kv, i);
      std::vector<uint32_t> got(kLive * (i + 1) * kStep);
      LAPILLI_ASSERT_OK(session_->read(y, 0, std::as_writable_bytes(std::span(got))));
      EXPECT_TRUE(std::equal(got.begin(), got.end(), words_.begin())) << "copy " << i;
    }
  }
  std::shared_ptr<vulkan::Device> device_;
  std::unique_ptr<Session> session_;
  vulkan::Buffer x_;
  std::vector<uint32_t> words_;
};

// True for each of the last `count` barriers before the closing one of a recording that waits for arguments.
std::vector<bool> indirect_ones(size_t count) {
  const auto all = counting::barriers();
  std::vector<bool> found;
  for (size_t i = all.size() - std::min(all.size(), count + 1); i + 1 < all.size(); ++i) {
    found.push_back((all[i].to & VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT) != 0);
    EXPECT_EQ((all[i].from | all[i].to) & VK_PIPELINE_STAGE_TRANSFER_BIT, 0u);
  }
  return found;
}

TEST_F(DeviceBind, ABarrierWaitsForArgumentsOnlyWhereTheyAreNew) {
  if (!device_->caps().indirect_dispatch) return;
  for (const bool start_first : {true, false}) {
    LAPILLI_ASSERT_VALUE(const auto plan, compile(copies(5, start_first), device_->caps()));
    ASSERT_EQ(plan->schedule.levels.size(), 2u);
    ASSERT_EQ(plan->schedule.segments.size(), 1u);
    ASSERT_EQ(plan->grids.size(), 5u);
    LAPILLI_ASSERT_VALUE(const auto bound, bind(plan, {.repeats = 3}));
    // Before the copies wherever the start ran before them, and never before the start.
    const std::vector<bool> want =
        start_first ? std::vector{true, false, true, false, true} : std::vector{false, true, false, true, false};
    EXPECT_EQ(indirect_ones(5), want) << start_first;
    LAPILLI_ASSERT_OK(bound.run());
    check(5);
  }
}

// More grids than the buffer has entries: what finds none runs in full.
TEST_F(DeviceBind, GridsThatDoNotFitTheirBufferAreFull) {
  constexpr uint32_t count = state::MAX_GRIDS + 3;
  CompileOptions uncut;  // what is repeated within a recording is one segment, also where those are small
  uncut.work = WorkLimit(1e18);
  for (const bool start_first : {true, false}) {
    LAPILLI_ASSERT_VALUE(const auto plan, compile(copies(count, start_first), device_->caps(), uncut));
    LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
    const auto follows = [](const PlannedDispatch& d) { return d.grid >= 0; };
    const bool can = device_->caps().indirect_dispatch;
    EXPECT_EQ(plan->grids.size(), can ? state::MAX_GRIDS : 0u);
    EXPECT_EQ(std::count_if(plan->dispatches.begin(), plan->dispatches.end(), follows), can ? state::MAX_GRIDS : 0u);
    LAPILLI_ASSERT_VALUE(const auto bound, bind(plan, {.repeats = 2}));
    LAPILLI_ASSERT_OK(bound.run());
    check(count);
    for (const uint32_t i : {0u, count - 1}) {  // one that follows the live rows, and one that does not
      const auto y = session_->state(StateKind::self_kv, i);
      std::vector<uint32_t> last(1);
      LAPILLI_ASSERT_OK(session_->read(y, y.size - 4, std::as_writable_bytes(std::span(last))));
      EXPECT_EQ(last[0] == 0, can && i == 0) << "copy " << i;
    }
  }
}

TEST_F(DeviceBind, OnlyWhatIsReplayedIsRecordedForIt) {
  LAPILLI_ASSERT_VALUE(const auto plan, compile(copies(1, true), device_->caps()));
  const auto submit_twice = [&](const BoundPlan& bound) -> Status {
    auto twice = bound.recordings();
    twice.insert(twice.end(), twice.begin(), twice.end());
    LAPILLI_TRY(const auto ticket, device_->submit(twice));
    return device_->wait(ticket);
  };
  {
    LAPILLI_ASSERT_VALUE(const auto bound, bind(plan, {}));
    EXPECT_EQ(counting::recordings().back(), VkCommandBufferUsageFlags(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT));
    LAPILLI_EXPECT_OK(submit_twice(bound));
  }
  LAPILLI_ASSERT_VALUE(const auto bound, bind(plan, {.use = vulkan::RecordingUse::single}));
  EXPECT_EQ(counting::recordings().back(), 0u);
  EXPECT_EQ(submit_twice(bound).error().code, ErrorCode::internal);
  for (int i = 0; i < 2; ++i) LAPILLI_ASSERT_OK(bound.run());
  check(1);
}

// Neither the self-test nor the packing of weights replays anything.
TEST_F(DeviceBind, SetupReplaysNothing) {
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network("data/t5-v1_1"));
  LAPILLI_ASSERT_VALUE(const auto sources, weight_sources(loaded.network));
  LAPILLI_ASSERT_OK(Weights::load(device_, sources));
  size_t recordings = 0;
  for (const auto usage : counting::recordings()) {
    EXPECT_EQ(usage & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, 0u);
    ++recordings;
  }
  EXPECT_GT(recordings, 1u);
}

}  // namespace
}  // namespace lapilli
