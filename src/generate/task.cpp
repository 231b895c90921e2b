#include "generate/task.hpp"

#include <utility>

namespace lapilli {

bool Task::pump(double budget_us) {
  if (ended_) return true;
  Status stepped;
  if (cancelled_)
    stepped = step_cancelled(budget_us);
  else if (!idles_in_pauses() || !model_->device()->is_paused())
    stepped = step(budget_us);
  if (!stepped) stop(std::move(stepped));
  return ended_;
}

void Task::wait() {
  if (ended_) return;
  if (idles_in_pauses() && model_->device()->is_paused())
    (void)model_->device()->wait_while_paused(vulkan::kPauseRound);
  else if (auto waited = wait_for_device(); !waited)
    stop(std::move(waited));
}

Status Task::run(const std::function<bool(uint64_t done, uint64_t total)>& progress) {
  const auto ask = [&] {
    const TaskProgress now = this->progress();
    if (progress && !progress(now.done, now.total)) cancel();
  };
  while (!pump()) {
    if (is_hungry()) return fail(ErrorCode::invalid_argument, "a recording has not come to its end");
    ask();
    wait();
  }
  if (status_) ask();
  return status_;
}

Status Task::step_cancelled(double) {
  cut_short_ = true;
  return end();
}

// ---- the end -------------------------------------------------------------------------------------------------------

Status Task::end() {
  conclude();
  let_go();
  return {};
}

void Task::stop(Status status) {
  interrupted_ = status.error().code == ErrorCode::device_lost;
  status_ = std::move(status);
  let_go();
}

void Task::let_go() {
  ended_ = true;
  hungry_ = false;
  release();
  model_.reset();
}

// ---- after a lost device -------------------------------------------------------------------------------------------

Status Task::check_interrupted() const {
  if (interrupted_) return {};
  return fail(ErrorCode::invalid_argument, "the job has not ended because of a lost device");
}

Status Task::resume(std::shared_ptr<Model> model, const FrontEnd& front) {
  LAPILLI_CHECK(check_interrupted());
  LAPILLI_CHECK(check_same_model(model->info(), info_));
  model_ = std::move(model);
  if (auto begun = begin_again(front); !begun) {
    let_go();
    return begun;
  }
  status_ = {};
  interrupted_ = ended_ = false;
  return {};
}

Status Task::abandon() {
  LAPILLI_CHECK(check_interrupted());
  interrupted_ = false;
  status_ = {};
  cut_short_ = true;
  return end();
}

}  // namespace lapilli
