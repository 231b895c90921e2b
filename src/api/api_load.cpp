// The C interface: models being loaded onto a device.
#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "api/handles.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "generate/model_loading.hpp"
#include "generate/verbs.hpp"
#include "runtime/run/bind.hpp"
#include "search/network_on_device.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

struct lapilli_load {
  lapilli_load(std::shared_ptr<lapilli::api::ReplaceableDevice> where, lapilli::api::ModelOptions given);
  const std::shared_ptr<lapilli::api::ReplaceableDevice> place;
  lapilli::api::ModelOptions options;
  lapilli::api::ReplaceableDevice::Held onto;  // held until the load ends
  const std::shared_ptr<lapilli::LogSink> log;
  std::optional<lapilli::ModelLoading> loading;
  std::shared_ptr<lapilli::Model> model;  // set once it is loaded, until it is taken
  std::shared_ptr<const lapilli::FrontEnd> front;
  lapilli::Clock::time_point since = lapilli::Clock::now();
  bool failed = false;    // by an exception: cannot continue
  bool again = false;     // the device was lost once
  Status could_not_read;  // error of the host's files
  Status lost;            // error if the device is lost and cannot be replaced
  std::atomic<bool> cancelled{false};

  bool pump(double budget_us);
  Result<std::unique_ptr<lapilli_model>> take();

 private:
  bool begin_again();
  void read_front_end();
};

lapilli_load::lapilli_load(std::shared_ptr<lapilli::api::ReplaceableDevice> where, lapilli::api::ModelOptions given)
    : place(std::move(where)), options(std::move(given)), onto(place->held()), log(onto.device->log_sink()) {
  loading.emplace(onto.device, options.files, options.load);
}

// Begins anew on a replacement device, with the files still open. Only once: a device lost twice in one load would be
// lost again.
bool lapilli_load::begin_again() {
  const Status& status = loading->status();
  if (status || status.error().code != ErrorCode::device_lost) return false;
  auto other = again ? Result<lapilli::api::ReplaceableDevice::Held>(
                           fail(ErrorCode::device_lost,
                                "it was lost again while the load began anew: trying once more "
                                "helps only once the device works"))
                     : place->replace(onto.generation);
  if (!other) {
    lost = lapilli::api::with_advice(status.error(), other.error());
    return false;
  }
  again = true;
  onto = std::move(*other);
  loading.emplace(onto.device, options.files, options.load);
  return true;
}

// Runs once, while its files are still open.
void lapilli_load::read_front_end() {
  if (!loading->status() || front) return;
  model = *loading->take();
  front = std::make_shared<const lapilli::FrontEnd>(lapilli::read_front_end(*model, options.files));
}

bool lapilli_load::pump(double budget_us) {
  if (failed || !onto.device) return true;
  const lapilli::LogScope scope(log);
  try {
    if (cancelled) loading->cancel();
    if (!loading->pump(budget_us) || begin_again()) return false;
    read_front_end();
    if (could_not_read) could_not_read = options.files.failure();
    options.files = "";  // closes them before the host hears of the end
    onto.device = nullptr;
    return true;
  } catch (...) {
    failed = true;
    throw;
  }
}

Result<std::unique_ptr<lapilli_model>> lapilli_load::take() {
  if (failed) return fail(ErrorCode::out_of_memory, "loading the model: out of memory");
  auto handle = std::make_unique<lapilli_model>();
  LAPILLI_CHECK(Status(could_not_read));
  LAPILLI_CHECK(Status(lost));
  if (!model) return loading->take().error();  // the reason, or that it was taken already
  handle->info = model->info();
  handle->front = front;
  handle->device_name = model->device()->caps().device_name;
  handle->commands = lapilli::verbs_for(model->on_device().config());
  handle->input_kind = lapilli::api::input_kind_of(model->on_device().config());
  if (model->tokenizer())
    handle->languages = model->tokenizer()->languages();
  else
    handle->tokenizer_error = model->tokenizer_error().message;
  handle->place = std::make_shared<lapilli::api::ReplaceableModel>(
      std::move(model),
      lapilli::api::ReplaceableModel::Source{place, onto.generation, std::move(options.reopen), options.load});
  handle->load_ms = lapilli::ms_since(since);
  return handle;
}

namespace {

// After the device is replaced, nothing of the old one may be held or created any more.
void load_to_its_end(lapilli_load& load) {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  auto device = load.onto.device;
  if (load.pump(0)) return;
  const auto pipelines = load.loading->expected_pipelines();
  const auto load_onto_it = [&] {
    while (load.onto.device == device && !load.pump(kNoLimit)) load.loading->wait();
  };
  lapilli::create_pipelines_beside(*device, pipelines, load_onto_it, [&] { return !load.cancelled; });
  device.reset();
  while (!load.pump(kNoLimit)) load.loading->wait();
}

// Pumps until the load ends or the time is up; false if the time was up.
bool load_for(lapilli_load& load, uint64_t timeout_us) {
  constexpr double kLongestSleepUs = 200;
  if (timeout_us == LAPILLI_UNLIMITED) return load_to_its_end(load), true;
  const auto since = lapilli::Clock::now();
  for (;;) {
    const double left = lapilli::api::microseconds_of(timeout_us) - lapilli::ms_since(since) * 1000;
    if (load.pump(std::max(left, 0.0))) return true;
    if (left <= 0) return false;
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(std::min(left, kLongestSleepUs)));
  }
}

Result<std::unique_ptr<lapilli_load>> start_loading(lapilli_device* device, const char* directory,
                                                    const lapilli_model_options* options) {
  LAPILLI_CHECK(lapilli::api::check_running(*device->device(), "loading a model"));
  LAPILLI_TRY(auto given, lapilli::api::read_model_options(directory, options));
  return std::make_unique<lapilli_load>(device->place, std::move(given));
}

}  // namespace

extern "C" {

lapilli_status lapilli_model_load(lapilli_device* device, const char* directory, lapilli_model** model) {
  return lapilli_model_load_with(device, directory, nullptr, model);
}

lapilli_status lapilli_model_load_with(lapilli_device* device, const char* directory,
                                       const lapilli_model_options* options, lapilli_model** model) {
  if (model) *model = nullptr;
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_model_load: model is null");
    if (!device) return fail(ErrorCode::invalid_argument, "lapilli_model_load: device is null; open one first");
    LAPILLI_TRY(const auto load, start_loading(device, directory, options));
    load_for(*load, LAPILLI_UNLIMITED);
    LAPILLI_TRY(auto loaded, load->take());
    *model = loaded.release();
    return {};
  });
}

lapilli_status lapilli_load_start(lapilli_device* device, const char* directory, const lapilli_model_options* options,
                                  lapilli_load** load) {
  if (load) *load = nullptr;
  return guarded([&]() -> Status {
    if (!load) return fail(ErrorCode::invalid_argument, "lapilli_load_start: load is null");
    if (!device) return fail(ErrorCode::invalid_argument, "lapilli_load_start: device is null; open one first");
    LAPILLI_TRY(auto started, start_loading(device, directory, options));
    *load = started.release();
    return {};
  });
}

lapilli_status lapilli_load_pump(lapilli_load* load, uint64_t budget_us, int32_t* finished) {
  if (finished) *finished = 0;
  return guarded([&]() -> Status {
    if (!load) return fail(ErrorCode::invalid_argument, "lapilli_load_pump: load is null");
    const bool over = load->pump(lapilli::api::microseconds_of(budget_us));
    if (finished) *finished = over ? 1 : 0;
    return {};
  });
}

lapilli_status lapilli_load_wait(lapilli_load* load, uint64_t timeout_us, int32_t* finished) {
  if (finished) *finished = 0;
  return guarded([&]() -> Status {
    if (!load) return fail(ErrorCode::invalid_argument, "lapilli_load_wait: load is null");
    const bool over = load_for(*load, timeout_us);
    if (finished) *finished = over ? 1 : 0;
    return {};
  });
}

lapilli_status lapilli_load_progress(const lapilli_load* load, uint64_t* done_bytes, uint64_t* all_bytes) {
  if (done_bytes) *done_bytes = 0;
  if (all_bytes) *all_bytes = 0;
  return guarded([&]() -> Status {
    if (!load || !done_bytes || !all_bytes) {
      return fail(ErrorCode::invalid_argument, "lapilli_load_progress: load, done_bytes or all_bytes is null");
    }
    *done_bytes = load->loading->bytes_done();
    *all_bytes = load->loading->bytes();
    return {};
  });
}

void lapilli_load_cancel(lapilli_load* load) {
  if (load) load->cancelled = true;
}

lapilli_status lapilli_load_take(lapilli_load* load, lapilli_model** model) {
  if (model) *model = nullptr;
  return guarded([&]() -> Status {
    if (!load) return fail(ErrorCode::invalid_argument, "lapilli_load_take: load is null");
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_load_take: model is null");
    LAPILLI_TRY(auto loaded, load->take());
    *model = loaded.release();
    return {};
  });
}

void lapilli_load_free(lapilli_load* load) { delete load; }

}  // extern "C"
