// Devices and models behind their handles. If a device of ours is lost, another takes its place and the model is loaded
// onto it again, once for all users, by the first that needs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/files.hpp"
#include "generate/generate.hpp"
#include "generate/model_loading.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::api {

// Appends `why` to the error as advice.
Error with_advice(Error error, const Error& why);

// Safe to use from several threads.
class ReplaceableDevice {
 public:
  // `generation` counts replacements.
  struct Held {
    std::shared_ptr<vulkan::Device> device;
    uint64_t generation = 0;
  };
  // `own`: the options it was made with; none for a host's device, which only the host can make anew.
  ReplaceableDevice(std::shared_ptr<vulkan::Device> device, std::optional<vulkan::DeviceOptions> own);

  [[nodiscard]] Held held() const;
  [[nodiscard]] std::shared_ptr<vulkan::Device> device() const { return held().device; }
  // An error with advice if the device is the host's.
  [[nodiscard]] Status replaceable() const;
  // Replaces the lost device of this generation: the same GPU, opened again with the same options, and paused if the
  // old one was. Blocks while it is opened. Refused if the last replacement was lost before completing a submission.
  Result<Held> replace(uint64_t lost);
  // Works during a replacement, too. Returns the device that was paused.
  std::shared_ptr<vulkan::Device> pause();
  void resume();

 private:
  mutable std::mutex mutex_;  // guards held_; never held while calling the host
  Held held_;
  std::mutex replacing_;  // lock first
  const std::optional<vulkan::DeviceOptions> own_;
};

// Opens a model's files again, as long as they can be read.
using Reopen = std::function<Result<Files>()>;

// Safe to use from several threads.
class ReplaceableModel {
 public:
  // `generation` counts replacements.
  struct Held {
    std::shared_ptr<Model> model;
    uint64_t generation = 0;
  };
  struct Source {
    std::shared_ptr<ReplaceableDevice> device;
    uint64_t device_generation = 0;  // of the device that it was loaded onto
    Reopen reopen;                   // empty: cannot be read again
    LoadOptions load;
  };
  ReplaceableModel(std::shared_ptr<Model> model, Source source);

  [[nodiscard]] Held held() const;
  [[nodiscard]] std::shared_ptr<Model> model() const { return held().model; }
  // An error with advice if the device or the files are the host's.
  [[nodiscard]] Status replaceable() const;
  // Loads a replacement for the model of this generation, whose device is lost, for about `budget_us`. Nothing if not
  // done yet. One thread works on it; others get nothing meanwhile.
  Result<std::optional<Held>> replace(uint64_t lost, double budget_us);
  // Waits a bounded time for replace() to progress.
  void wait();
  // Calls replace() and wait() until done.
  Result<Held> replace_now(uint64_t lost);

 private:
  Status begin();
  Result<std::optional<Held>> go_on(double budget_us);

  mutable std::mutex mutex_;  // guards held_
  Held held_;
  std::mutex loading_mutex_;  // guards the rest; lock first
  Source source_;
  ReplaceableDevice::Held onto_;
  std::unique_ptr<ModelLoading> loading_;
};

// Returns run(model); if the device is lost meanwhile and can be replaced, runs again with the new model.
template <class Run>
auto run_replaced(ReplaceableModel& place, const ReplaceableModel::Held& held, Run&& run) -> decltype(run(held.model)) {
  auto ran = run(held.model);
  if (ran || ran.error().code != ErrorCode::device_lost) return ran;
  if (const Status can = place.replaceable(); !can) return with_advice(ran.error(), can.error());
  LAPILLI_TRY(const auto other, place.replace_now(held.generation));
  return run(other.model);
}

}  // namespace lapilli::api
