#include "tools/search_tuning.hpp"

#include "runtime/check/agreement.hpp"
#include "runtime/check/kernel_proof.hpp"
#include "runtime/check/self_test.hpp"

namespace lapilli::tools {

namespace {

class Timed : public TimedPlan {
 public:
  Timed(SearchTuning& tuning, DispatchTimer timer) : tuning_(tuning), timer_(std::move(timer)) {}
  Result<std::vector<double>> run() override {
    LAPILLI_CHECK(tuning_.make_room());
    return timer_.run();
  }

 private:
  SearchTuning& tuning_;
  DispatchTimer timer_;
};

}  // namespace

SearchTuning::SearchTuning(std::shared_ptr<vulkan::Device> device, MiddleOfSearch& search, Part part)
    : device_(std::move(device)), search_(search), part_(part), verdicts_(SelfTest::of(*device_)->verdicts()) {}

const Plan& SearchTuning::plan() const {
  const WorkspacePlans& plans = search_.workspace().plans;
  return part_ == Part::encode ? *plans.encode.front() : *plans.step;
}

unsigned SearchTuning::rows() const {
  const WorkspaceKey& key = search_.workspace().key;
  return part_ == Part::encode ? key.encode_rows : key.shape.rows();
}

// Dispatches full grids: all rows are live, and the session's indirect grids are those of its own plans, not the
// candidates'.
TuningSubject SearchTuning::subject(bool deterministic) const {
  TuningSubject s{plan().graph, device_->caps(), {}};
  s.caps.indirect_dispatch = false;
  s.options.verdicts = &verdicts_;
  s.options.deterministic = deterministic;
  s.options.work = Pace::of(*device_)->limit();
  return s;
}

Result<std::vector<bool>> SearchTuning::prove(std::span<const KernelInTest> kernels) {
  return prove_kernels(device_, kernels);
}

Result<std::unique_ptr<TimedPlan>> SearchTuning::bind(std::shared_ptr<const Plan> plan) {
  LAPILLI_TRY(auto timer, DispatchTimer::make(device_, *plan, memory()));
  return std::unique_ptr<TimedPlan>(std::make_unique<Timed>(*this, std::move(timer)));
}

MemoryMap SearchTuning::memory() const {
  return search_.memory(part_ == Part::encode ? ArenaOf::admission : ArenaOf::steps);
}

// A step starts from its predecessor's state: restarts, so that each begins at the same place.
Result<std::vector<uint32_t>> SearchTuning::values_of(const std::shared_ptr<const Plan>& plan) {
  if (part_ == Part::step) {
    LAPILLI_CHECK(search_.restart());
    steps_ = 1;
  }
  return run_for_values(device_, plan, memory());
}

Result<bool> SearchTuning::agree(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& standing) {
  LAPILLI_TRY(const auto expected, values_of(standing));
  LAPILLI_TRY(const auto values, values_of(plan));
  return values_agree(*plan, values, expected);
}

Status SearchTuning::make_room() {
  if (part_ == Part::encode) return {};
  if (steps_ == kSteps) {
    LAPILLI_CHECK(search_.check_steps(steps_));
    LAPILLI_CHECK(search_.restart());
    steps_ = 0;
  }
  ++steps_;
  return {};
}

}  // namespace lapilli::tools
