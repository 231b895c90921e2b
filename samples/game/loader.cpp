#include "loader.hpp"

#include <chrono>

namespace game {
namespace {

// The device's time for one step of loading, so that frames that are drawn meanwhile do not stand still.
constexpr uint64_t kLoadBudgetUs = 4000;

// pump() never waits; the device is given time to do what it was handed.
void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace

// Greedy search: each word is known for good once it is written, and it costs the least.
lapilli_options translation_options() {
  lapilli_options options = lapilli_default_options();
  options.task = "translate";
  options.num_beams = 1;
  return options;
}

Loader::Loader(lapilli_device* device, std::string directory)
    : device_(device), directory_(std::move(directory)), thread_([this] { work(); }) {}

Loader::~Loader() {
  stop_ = true;
  thread_.join();
  lapilli_model_free(model_);
}

lapilli_model* Loader::take() { return std::exchange(model_, nullptr); }

void Loader::work() {
  if (!load() || !prepare()) {
    lapilli_model_free(model_);
    model_ = nullptr;
  }
  ended_ = true;
}

// lapilli_last_error() is this thread's.
bool Loader::failed() {
  error_ = lapilli_last_error();
  return false;
}

bool Loader::load() {
  lapilli_load* loading = nullptr;
  if (lapilli_load_start(device_, directory_.c_str(), nullptr, &loading) != LAPILLI_OK) return failed();
  int32_t finished = 0;
  while (!finished && !stop_ && lapilli_load_pump(loading, kLoadBudgetUs, &finished) == LAPILLI_OK) {
    uint64_t done = 0, all = 0;
    if (lapilli_load_progress(loading, &done, &all) == LAPILLI_OK && all) progress_ = double(done) / double(all);
    if (!finished) rest();
  }
  const bool loaded = finished && lapilli_load_take(loading, &model_) == LAPILLI_OK;
  if (!loaded && !stop_) failed();
  lapilli_load_free(loading);
  return loaded;
}

// Pipelines, their test and memory: what the first line would wait for otherwise.
bool Loader::prepare() {
  const lapilli_options options = translation_options();
  lapilli_shape shape = lapilli_default_shape();
  shape.source_tokens = 64;  // of a sentence
  shape.options = &options;
  lapilli_job* job = nullptr;
  if (lapilli_job_prepare(model_, &shape, &job) != LAPILLI_OK) return failed();
  int32_t finished = 0;
  while (!finished && !stop_ && lapilli_job_pump(job, kLoadBudgetUs, &finished) == LAPILLI_OK)
    if (!finished) rest();
  lapilli_result* empty = nullptr;
  const bool prepared = finished && lapilli_job_take(job, &empty) == LAPILLI_OK;
  if (!prepared && !stop_) failed();
  lapilli_result_free(empty);
  lapilli_job_free(job);
  return prepared;
}

}  // namespace game
