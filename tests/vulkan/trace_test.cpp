// The trace of transfers and of memory that is used again, before the checker; and refused recordings.
#include "vulkan/device/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/real_events.hpp"
#include "vulkan/work.hpp"

namespace lapilli::vulkan {
namespace {

using graph::Event;
using testing::HasSubstr;
using testing_support::RealEvents;

// Only waits tell that work is done.
class DeviceTrace : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    counting::reset();
    DeviceOptions options;
    options.mask = GetParam();
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_ASSERT_VALUE(device_, Device::create(options));
    counting::hide_progress(true);
    trace_ = Trace::begin(*device_);
  }
  void TearDown() override { counting::hide_progress(false); }

  // Everything is in order, and nothing is without any one of the waits that an access of the host comes behind.
  uint32_t check_waits(const char* buffer) {
    auto real = RealEvents::of(trace_->events());
    EXPECT_TRUE(real.ok()) << testing_support::message_of(real);
    if (!real) return 0;
    LAPILLI_EXPECT_OK(real->check());
    uint32_t needed = 0;
    for (size_t i = 1; i < real->events.size(); ++i) {
      if (real->events[i].kind != Event::Kind::host || !real->touches(real->events[i], buffer)) continue;
      if (real->events[i - 1].kind != Event::Kind::wait) continue;
      auto edited = real->events;
      edited.erase(edited.begin() + static_cast<ptrdiff_t>(i) - 1);
      const Status s = real->check(edited);
      EXPECT_FALSE(s.ok()) << "event " << i;
      EXPECT_THAT(testing_support::message_of(s), HasSubstr("no wait for ticket"));
      ++needed;
    }
    return needed;
  }
  std::shared_ptr<Device> device_;
  std::shared_ptr<Trace> trace_;
};

TEST_P(DeviceTrace, TransfersWaitForWhatTheyReplace) {
  LAPILLI_ASSERT_VALUE(const auto buffer, device_->make_buffer(20 << 20, MemoryUse::device, "large"));
  const bool staged = buffer.mapped() == nullptr;
  std::vector<uint32_t> words(5 << 20, 7);
  LAPILLI_ASSERT_OK(device_->write(buffer, 0, bytes_of(words)));
  words.assign(words.size(), 0);
  LAPILLI_ASSERT_OK(device_->read(buffer, 0, std::as_writable_bytes(std::span(words))));
  EXPECT_EQ(words.back(), 7u);
  LAPILLI_ASSERT_OK(device_->zero(buffer));
  // Five halves of a staging buffer: the third and those behind it replace what was copied, and all are read behind a
  // wait.
  EXPECT_EQ(check_waits("staging"), staged ? 3u + 5u : 0u);
}

TEST_P(DeviceTrace, KernelsSayWhatTheyTouch) {
  LAPILLI_ASSERT_VALUE(auto work, Work::make(device_, 1000));
  LAPILLI_ASSERT_OK(work.run());
  const auto real = RealEvents::of(trace_->events());
  ASSERT_FALSE(real.ok());
  EXPECT_THAT(real.error().message, HasSubstr("does not say what it touches"));
}

// A buffer that is destroyed while it is read keeps its memory; the next one that gets it is the same bytes.
TEST_P(DeviceTrace, MemoryThatIsUsedAgain) {
  constexpr uint64_t kBytes = 4096;
  const std::vector<uint32_t> words(kBytes / 4, 1);
  const auto fill = [&](const Buffer& b) -> Status {
    std::memcpy(b.mapped(), words.data(), kBytes);
    return b.flush(0, kBytes);
  };
  LAPILLI_ASSERT_VALUE(const auto to, device_->make_buffer(kBytes, MemoryUse::device, "to"));
  LAPILLI_ASSERT_VALUE(auto from, device_->make_buffer(kBytes, MemoryUse::upload, "from"));
  LAPILLI_ASSERT_OK(fill(from));
  LAPILLI_ASSERT_VALUE(auto copy, CommandRecording::create(device_));
  LAPILLI_ASSERT_OK(copy.begin());
  copy.copy(from, 0, to, 0, kBytes);
  LAPILLI_ASSERT_OK(copy.end());
  const CommandRecording* list[] = {&copy};
  LAPILLI_ASSERT_VALUE(const auto ticket, device_->submit(list));
  std::byte* const at = from.mapped();
  from = Buffer();
  LAPILLI_ASSERT_VALUE(const auto beside, device_->make_buffer(kBytes, MemoryUse::upload, "beside"));
  EXPECT_NE(beside.mapped(), at);
  LAPILLI_ASSERT_OK(fill(beside));
  LAPILLI_ASSERT_OK(device_->wait(ticket));
  LAPILLI_ASSERT_VALUE(const auto again, device_->make_buffer(kBytes, MemoryUse::upload, "again"));
  EXPECT_EQ(again.mapped(), at);
  LAPILLI_ASSERT_OK(fill(again));
  EXPECT_EQ(check_waits("again"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceTrace, testing::Values("full", "staging", "no-timeline"), [](const auto& i) {
  std::string name = i.param;
  std::erase(name, '-');
  return name;
});

// ---- recordings that were put together by hand ----------------------------------------------------------------------

class Recordings : public testing::Test {
 protected:
  using Kind = TracedCommand::Kind;
  Touch touch(uint64_t begin, bool writes) { return {buffer_, begin, begin + 16, !writes, writes, 0}; }
  TracedCommand dispatch(uint64_t begin, bool writes) {
    TracedCommand c;
    c.touches = {touch(begin, writes)};
    c.bound = {{buffer_, 0, 256}};
    return c;
  }
  static TracedCommand barrier(BarrierScope scope = {}) {
    TracedCommand c;
    c.kind = Kind::barrier;
    c.scope = scope;
    return c;
  }
  static Result<RealEvents> read(TracedRecording recording) {
    Trace::Event e;
    e.ticket = 1;
    e.recordings = {std::make_shared<const TracedRecording>(std::move(recording))};
    return RealEvents::of({e});
  }
  static void expect_refused(const Result<RealEvents>& real, const char* what) {
    ASSERT_FALSE(real.ok());
    EXPECT_THAT(real.error().message, HasSubstr(what));
  }
  std::shared_ptr<const TracedBuffer> buffer_ = std::make_shared<TracedBuffer>(TracedBuffer{this, 0, 256, "x"});
};

TEST_F(Recordings, AreReadByTheirBarriers) {
  LAPILLI_ASSERT_VALUE(const auto good, read({barrier(), dispatch(0, true), barrier(), dispatch(0, false), barrier()}));
  LAPILLI_EXPECT_OK(good.check());
  LAPILLI_ASSERT_VALUE(const auto bad, read({barrier(), dispatch(0, true), dispatch(0, false), barrier()}));
  EXPECT_FALSE(bad.check().ok());
  expect_refused(read({barrier(), dispatch(0, true)}), "not closed by a barrier");
}

TEST_F(Recordings, AreOpenedByABarrier) {
  Trace::Event e;
  e.ticket = 1;
  for (const bool opened : {true, false}) {
    TracedRecording second{barrier(), dispatch(0, false), barrier()};
    if (!opened) second.erase(second.begin());
    e.recordings = {std::make_shared<const TracedRecording>(TracedRecording{barrier(), dispatch(0, true), barrier()}),
                    std::make_shared<const TracedRecording>(second)};
    LAPILLI_ASSERT_VALUE(const auto real, RealEvents::of({e}));
    EXPECT_EQ(real.check().ok(), opened);
  }
}

TEST_F(Recordings, TouchWhatIsBound) {
  TracedCommand c = dispatch(0, true);
  c.bound = {{buffer_, 16, 256}};
  expect_refused(read({barrier(), c, barrier()}), "which is not bound");
}

TEST_F(Recordings, HaveBarriersThatNameTheirStages) {
  TracedCommand indirect = dispatch(64, true);
  indirect.arguments = {touch(0, false)};
  expect_refused(read({barrier(), dispatch(0, true), barrier(), indirect, barrier()}), "names indirect reads");
  LAPILLI_EXPECT_OK(read({barrier(), dispatch(0, true), barrier({.indirect = true}), indirect, barrier()}));
  TracedCommand transfer = dispatch(0, true);
  transfer.kind = Kind::transfer;
  expect_refused(read({barrier(), transfer, barrier(), dispatch(0, false), barrier()}), "transfer and a dispatch");
  LAPILLI_EXPECT_OK(read({barrier(), transfer, barrier({.transfer = true}), dispatch(0, false), barrier()}));
}

// A step's row of a ring of two: the third step writes where the first one did.
TEST_F(Recordings, StepsMoveOn) {
  TracedCommand step = dispatch(0, true);
  step.touches[0] = {buffer_, 0, 128, false, true, 128};
  TracedCommand end;
  end.kind = Kind::step_end;
  end.touches = {touch(0, false)};
  Trace::Event start;
  start.kind = Trace::Event::Kind::at_step;
  start.touch = touch(0, false);
  start.step = 7;
  Trace::Event steps;
  steps.ticket = 1;
  steps.recordings = {std::make_shared<const TracedRecording>(
      TracedRecording{barrier(), step, end, barrier(), step, end, barrier(), step, end, barrier()})};
  LAPILLI_ASSERT_VALUE(const auto real, RealEvents::of({start, steps}));
  LAPILLI_EXPECT_OK(real.check());
  ASSERT_EQ(real.events.size(), 3u);
  EXPECT_EQ(real.events[0].step, 1u);
  EXPECT_EQ(real.events[1].step, 0u);
  EXPECT_EQ(real.events[2].step, 1u);
}

}  // namespace
}  // namespace lapilli::vulkan
