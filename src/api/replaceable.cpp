#include "api/replaceable.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "base/log.hpp"

namespace lapilli::api {

Error with_advice(Error error, const Error& why) {
  error.message += "; " + why.message;
  return error;
}

// ---- devices ------------------------------------------------------------------------------------------------------

namespace {

// Selects the same GPU by its UUID, even if another would be the best by now.
vulkan::DeviceOptions options_for(const Capabilities& caps, vulkan::DeviceOptions options) {
  if (std::all_of(caps.uuid.begin(), caps.uuid.end(), [](uint8_t byte) { return byte == 0; })) return options;
  options.select.clear();
  for (const uint8_t byte : caps.uuid) options.select += format("%02x", byte);
  return options;
}

}  // namespace

ReplaceableDevice::ReplaceableDevice(std::shared_ptr<vulkan::Device> device, std::optional<vulkan::DeviceOptions> own)
    : held_{std::move(device), 0}, own_(std::move(own)) {}

ReplaceableDevice::Held ReplaceableDevice::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

Status ReplaceableDevice::replaceable() const {
  if (own_) return {};
  return fail(ErrorCode::device_lost,
              "it is the host's, who alone can make it anew: free what is on it, adopt the new device, load the model "
              "there, and let jobs go on with lapilli_job_resume, or start again");
}

Result<ReplaceableDevice::Held> ReplaceableDevice::replace(uint64_t lost) {
  const std::lock_guard replacing(replacing_);
  const Held now = held();
  if (now.generation != lost) return now;
  LAPILLI_CHECK(replaceable());
  const Capabilities& caps = now.device->caps();
  if (lost > 0 && now.device->counters().completed == 0)
    return fail(ErrorCode::device_lost,
                "%s was lost again before it had done anything: trying again helps only once it works (its driver, "
                "another program on it)",
                caps.device_name);
  log(LogLevel::warning, caps.device_name + " was lost: it is opened anew");
  auto made = vulkan::Device::create(options_for(caps, *own_));
  if (!made)
    return fail(ErrorCode::device_lost,
                "%s could not be opened anew (%s): open another device and load the model there", caps.device_name,
                made.error().message);
  const std::lock_guard lock(mutex_);
  if (held_.device->is_paused()) (*made)->pause();
  held_ = {std::move(*made), lost + 1};
  return held_;
}

std::shared_ptr<vulkan::Device> ReplaceableDevice::pause() {
  const std::lock_guard lock(mutex_);
  held_.device->pause();
  return held_.device;
}

void ReplaceableDevice::resume() {
  const std::lock_guard lock(mutex_);
  held_.device->resume();
}

// ---- models -------------------------------------------------------------------------------------------------------

ReplaceableModel::ReplaceableModel(std::shared_ptr<Model> model, Source source)
    : held_{std::move(model), 0}, source_(std::move(source)) {}

ReplaceableModel::Held ReplaceableModel::held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

Status ReplaceableModel::replaceable() const {
  LAPILLI_CHECK(source_.device->replaceable());
  if (source_.reopen) return {};
  return fail(ErrorCode::device_lost,
              "its files may be gone: load the model again and let jobs go on with lapilli_job_resume, or start again "
              "(lapilli_model_options.files_stay says that they can be read again)");
}

Result<std::optional<ReplaceableModel::Held>> ReplaceableModel::replace(uint64_t lost, double budget_us) {
  const std::unique_lock lock(loading_mutex_, std::try_to_lock);
  if (!lock) return std::optional<Held>();
  if (const Held now = held(); now.generation != lost) return std::optional(now);
  if (!loading_) LAPILLI_CHECK(begin());
  return go_on(budget_us);
}

Status ReplaceableModel::begin() {
  LAPILLI_CHECK(replaceable());
  held().model->give_back();  // frees unused memory, which the new one needs
  LAPILLI_TRY(onto_, source_.device->replace(source_.device_generation));
  auto files = source_.reopen();
  if (!files) return std::move(files).error().in("loading the model again");
  loading_ = std::make_unique<ModelLoading>(onto_.device, std::move(*files), source_.load);
  return {};
}

// A failed load is over: the next caller that needs the model begins anew.
Result<std::optional<ReplaceableModel::Held>> ReplaceableModel::go_on(double budget_us) {
  if (!loading_->pump(budget_us)) return std::optional<Held>();
  const auto ended = std::exchange(loading_, nullptr);
  auto model = ended->take();
  source_.device_generation = onto_.generation;
  onto_ = {};
  if (!model && model.error().code == ErrorCode::device_lost)
    return fail(ErrorCode::device_lost,
                "it was lost again while the model was loaded again: trying again helps only once the device works");
  if (!model) return std::move(model).error().in("loading the model again");
  const std::lock_guard lock(mutex_);
  held_ = {std::move(*model), held_.generation + 1};
  return std::optional(held_);
}

void ReplaceableModel::wait() {
  const std::unique_lock lock(loading_mutex_, std::try_to_lock);
  if (lock && loading_) return loading_->wait();
  constexpr std::chrono::milliseconds kOthersWork{1};
  std::this_thread::sleep_for(kOthersWork);
}

Result<ReplaceableModel::Held> ReplaceableModel::replace_now(uint64_t lost) {
  while (true) {
    LAPILLI_TRY(auto held, replace(lost, std::numeric_limits<double>::infinity()));
    if (held) return std::move(*held);
    wait();
  }
}

}  // namespace lapilli::api
