#include "dialogue.hpp"

namespace game {
namespace {

void lock_queue(void* gpu) { static_cast<Gpu*>(gpu)->queue_mutex.lock(); }
void unlock_queue(void* gpu) { static_cast<Gpu*>(gpu)->queue_mutex.unlock(); }

}  // namespace

// ---- the device, lent

Dialogue::Dialogue(Gpu& gpu, Work work) : work_(work) {
  if (work == Work::none) return;
  if (gpu.refusal().empty())
    adopt(gpu);
  else
    fail(gpu.refusal());
}

void Dialogue::adopt(Gpu& gpu) {
  lapilli_host_device host = gpu.describe();
  if (work_ == Work::append) {
    host.append = 1;
  } else {
    host.queue = gpu.queue;
    host.user = &gpu;
    host.lock_queue = lock_queue;
    host.unlock_queue = unlock_queue;
  }
  if (lapilli_device_adopt(&host, nullptr, &device_) != LAPILLI_OK) fail(lapilli_last_error());
}

Dialogue::~Dialogue() {
  drop_model();
  lapilli_device_close(device_);
}

void Dialogue::fail(const std::string& what) {
  message_ = what;
  state_ = State::failed;
}

// ---- models

void Dialogue::drop_model() {
  lapilli_job_free(job_);
  job_ = nullptr;
  loader_.reset();
  lapilli_model_free(model_);
  model_ = nullptr;
}

void Dialogue::choose(const std::string& directory) {
  if (!device_) return;
  drop_model();
  message_.clear();
  loader_ = std::make_unique<Loader>(device_, directory);
  state_ = State::loading;
}

void Dialogue::choose_original() {
  drop_model();
  state_ = State::original;
}

void Dialogue::update_loading() {
  if (!loader_->ended()) return;
  model_ = loader_->take();
  if (model_)
    state_ = State::ready;
  else
    fail(loader_->error());
  loader_.reset();
}

// ---- lines

bool Dialogue::ask(const std::string& line) {
  if (!model_) return false;
  lapilli_job_free(job_);  // cancels, and waits for nothing
  job_ = nullptr;
  text_.clear();
  const lapilli_options options = translation_options();
  const lapilli_input input = lapilli_text_of(line.data(), line.size());
  const bool started = lapilli_job_start(model_, &input, 1, &options, &job_) == LAPILLI_OK;
  if (started)
    state_ = State::working;
  else
    fail(lapilli_last_error());
  return started;
}

void Dialogue::cancel() {
  if (job_) lapilli_job_cancel(job_);
}

void Dialogue::update(uint64_t budget_us) {
  if (state_ == State::loading) return update_loading();
  if (state_ != State::working) return;
  int32_t finished = 0;
  if (lapilli_job_pump(job_, budget_us, &finished) != LAPILLI_OK) return fail(lapilli_last_error());
  take_events();
  if (finished) take_result();
}

void Dialogue::take_events() {
  lapilli_event event;
  event.struct_size = sizeof event;
  int32_t has = 1;
  while (lapilli_job_next_event(job_, &event, &has) == LAPILLI_OK && has)
    if (event.kind == LAPILLI_EVENT_TEXT) text_.append(event.of.text.text, event.of.text.text_bytes);
}

// An input that could not be translated has its own status; the job's says what became of all of them.
void Dialogue::take_result() {
  lapilli_result* result = nullptr;
  lapilli_sequence best;
  best.struct_size = sizeof best;
  lapilli_status status = lapilli_job_take(job_, &result);
  if (status == LAPILLI_OK) status = lapilli_result_get(result, 0, 0, &best);
  if (status == LAPILLI_OK) {
    text_.assign(best.text, best.text_bytes);
    state_ = State::complete;
  } else if (status == LAPILLI_CANCELLED) {
    state_ = State::cancelled;
  } else {
    fail(lapilli_last_error());
  }
  lapilli_result_free(result);
  lapilli_job_free(job_);
  job_ = nullptr;
}

// A text that grows ends within a word, until a space or the end has come.
std::string Dialogue::words() const {
  if (state_ == State::complete) return text_;
  const size_t space = text_.rfind(' ');
  return space == std::string::npos ? std::string() : text_.substr(0, space);
}

// ---- in the game's own command buffers

uint64_t Dialogue::append(VkCommandBuffer commands, uint64_t budget_us) {
  if (work_ != Work::append || !device_) return 0;
  lapilli_appended appended;
  appended.struct_size = sizeof appended;
  if (lapilli_device_append(device_, commands, budget_us, &appended) == LAPILLI_OK) return appended.serial;
  fail(lapilli_last_error());
  return 0;
}

void Dialogue::completed(uint64_t serial) {
  if (serial != 0 && lapilli_device_completed(device_, serial) != LAPILLI_OK) fail(lapilli_last_error());
}

}  // namespace game
