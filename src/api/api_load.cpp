// The C interface: models on their way onto a device.
#include <algorithm>
#include <chrono>
#include <thread>

#include "api/handles.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "generate/model_loading.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

struct lapilli_load {
  lapilli_load(std::shared_ptr<lapilli::vulkan::Device> device, const lapilli::api::ModelOptions& options)
      : log(device->log_sink()), files(options.files), loading(std::move(device), files, options.load) {}
  const std::shared_ptr<lapilli::LogSink> log;
  lapilli::Files files;  // until the end
  lapilli::ModelLoading loading;
  lapilli::Clock::time_point since = lapilli::Clock::now();
  bool failed = false;    // with an exception: it cannot go on
  Status could_not_read;  // of the host's files

  bool pump(double budget_us);
  Result<std::unique_ptr<lapilli_model>> take();
};

bool lapilli_load::pump(double budget_us) {
  if (failed) return true;
  const lapilli::LogScope scope(log);
  try {
    if (!loading.pump(budget_us)) return false;
    if (could_not_read) could_not_read = files.failure();
    files = "";  // closed before the host is told of the end
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
  LAPILLI_TRY(handle->model, loading.take());
  if (handle->model->tokenizer()) handle->languages = handle->model->tokenizer()->languages();
  handle->load_ms = lapilli::ms_since(since);
  return handle;
}

namespace {

// Pumps until the end or the time; false: it was the time.
bool load_for(lapilli_load& load, uint64_t timeout_us) {
  constexpr double kLongestSleepUs = 200;
  const auto since = lapilli::Clock::now();
  for (;;) {
    const double left = lapilli::api::microseconds_of(timeout_us) - lapilli::ms_since(since) * 1000;
    if (load.pump(std::max(left, 0.0))) return true;
    if (left <= 0) return false;
    if (timeout_us == LAPILLI_UNLIMITED)
      load.loading.rest();
    else
      std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(std::min(left, kLongestSleepUs)));
  }
}

Result<std::unique_ptr<lapilli_load>> start_loading(lapilli_device* device, const char* directory,
                                                    const lapilli_model_options* options) {
  LAPILLI_CHECK(lapilli::api::check_running(*device->device, "loading a model"));
  LAPILLI_TRY(const auto given, lapilli::api::read_model_options(directory, options));
  return std::make_unique<lapilli_load>(device->device, given);
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
    *done_bytes = load->loading.bytes_done();
    *all_bytes = load->loading.bytes();
    return {};
  });
}

void lapilli_load_cancel(lapilli_load* load) {
  if (load) load->loading.cancel();
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
