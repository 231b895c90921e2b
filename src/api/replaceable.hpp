// Devices and models behind their handles. Where a device of our own is lost, another takes its place, and the model is
// loaded again onto it: by whoever needs it first, once for all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/files.hpp"
#include "generate/generate.hpp"
#include "generate/model_loading.hpp"
#include "vulkan/device.hpp"

namespace lapilli::api {

// `why` behind what happened, as advice.
Error with_advice(Error error, const Error& why);

// Safe from several threads.
class ReplaceableDevice {
 public:
  // `generation` counts how often it was replaced.
  struct Held {
    std::shared_ptr<vulkan::Device> device;
    uint64_t generation = 0;
  };
  // `own`: what it was made with; nothing of a host's device, which only the host can make anew.
  ReplaceableDevice(std::shared_ptr<vulkan::Device> device, std::optional<vulkan::DeviceOptions> own);

  [[nodiscard]] Held held() const;
  [[nodiscard]] std::shared_ptr<vulkan::Device> device() const { return held().device; }
  // An error with advice: it is the host's.
  [[nodiscard]] Status replaceable() const;
  // What stands in the place of the device with this generation, which is lost: the same GPU, opened anew with the same
  // options, paused if that was. Takes as long as that takes. Refused if the last one was lost before it had completed
  // a submission.
  Result<Held> replace(uint64_t lost);
  // Also where another takes its place at this moment. What was paused.
  std::shared_ptr<vulkan::Device> pause();
  void resume();

 private:
  mutable std::mutex mutex_;  // of what is held; nothing of the host's is called under it
  Held held_;
  std::mutex replacing_;  // taken first
  const std::optional<vulkan::DeviceOptions> own_;
};

// Where a model comes from, as long as it can be read again.
using Reopen = std::function<Result<Files>()>;

// Safe from several threads.
class ReplaceableModel {
 public:
  // `generation` counts how often it was replaced.
  struct Held {
    std::shared_ptr<Model> model;
    uint64_t generation = 0;
  };
  struct Source {
    std::shared_ptr<ReplaceableDevice> device;
    uint64_t device_generation = 0;  // that it was loaded onto
    Reopen reopen;                   // empty: it cannot be read again
    LoadOptions load;
  };
  ReplaceableModel(std::shared_ptr<Model> model, Source source);

  [[nodiscard]] Held held() const;
  [[nodiscard]] std::shared_ptr<Model> model() const { return held().model; }
  // An error with advice: the device or the files are the host's.
  [[nodiscard]] Status replaceable() const;
  // Goes on for about so long with loading what stands in the place of the model with this generation, whose device is
  // lost. Nothing: not yet. One thread works on it, the others are told so.
  Result<std::optional<Held>> replace(uint64_t lost, double budget_us);
  // Waits, bounded, for what replace() waits for.
  void rest();
  // The loop around them.
  Result<Held> replace_now(uint64_t lost);

 private:
  Status begin();
  Result<std::optional<Held>> go_on(double budget_us);

  mutable std::mutex mutex_;  // of what is held
  Held held_;
  std::mutex loading_mutex_;  // of the rest; taken first
  Source source_;
  ReplaceableDevice::Held onto_;
  std::unique_ptr<ModelLoading> loading_;
};

// What run(model) gives; of another model, if the device is lost meanwhile and can be replaced.
template <class Run>
auto run_replaced(ReplaceableModel& place, const ReplaceableModel::Held& held, Run&& run) -> decltype(run(held.model)) {
  auto ran = run(held.model);
  if (ran || ran.error().code != ErrorCode::device_lost) return ran;
  if (const Status can = place.replaceable(); !can) return with_advice(ran.error(), can.error());
  LAPILLI_TRY(const auto other, place.replace_now(held.generation));
  return run(other.model);
}

}  // namespace lapilli::api
