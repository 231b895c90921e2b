#include "recordings/sample_pipe.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace lapilli::recordings {

namespace {
constexpr size_t kMostSeconds = 60;  // of samples that may wait
constexpr size_t kBlocksASecond = 10;
}  // namespace

struct SamplePipe::Shared {
  std::unique_ptr<Recording> recording;  // owned by the thread until it has ended
  size_t rate = 0;

  std::mutex lock;
  std::condition_variable changed;
  std::deque<float> waiting;
  std::optional<Error> error;
  bool ended = false, unwanted = false;

  void run();
  Status read_all();
  bool hand_over(std::span<const float> samples);
};

// False: the samples are no longer wanted.
bool SamplePipe::Shared::hand_over(std::span<const float> samples) {
  std::unique_lock held(lock);
  changed.wait(held, [&] { return unwanted || waiting.size() < kMostSeconds * rate; });
  if (unwanted) return false;
  waiting.insert(waiting.end(), samples.begin(), samples.end());
  changed.notify_all();
  return true;
}

Status SamplePipe::Shared::read_all() {
  std::vector<float> block(rate / kBlocksASecond + 1);
  uint64_t done = 0;
  for (size_t got = block.size(); got == block.size(); done += got) {
    LAPILLI_TRY(got, recording->read(done, block));
    if (!hand_over(std::span(block).first(got))) break;
  }
  return {};
}

void SamplePipe::Shared::run() {
  Status read;
  try {
    read = read_all();
  } catch (const std::bad_alloc&) {
    read = fail(ErrorCode::out_of_memory, "there is no memory for what comes through a pipe");
  }
  const std::lock_guard held(lock);
  if (!read) error = std::move(read).error();
  ended = true;
  changed.notify_all();
}

Result<std::unique_ptr<SamplePipe>> SamplePipe::open(const Opener& opener, const std::string& name, uint32_t rate) {
  auto shared = std::make_shared<Shared>();
  LAPILLI_TRY(shared->recording, Recording::open(opener, name, rate));
  shared->rate = rate;
  try {
    std::thread([shared] { shared->run(); }).detach();
  } catch (const std::system_error& e) {
    return fail(ErrorCode::out_of_memory, "%s: no thread reads it: %s", name, e.what());
  }
  return std::unique_ptr<SamplePipe>(new SamplePipe(std::move(shared)));
}

SamplePipe::~SamplePipe() {
  const std::lock_guard held(shared_->lock);
  shared_->unwanted = true;
  shared_->changed.notify_all();
}

Result<SamplePipe::Taken> SamplePipe::take(std::span<float> to, std::chrono::milliseconds most) {
  Shared& s = *shared_;
  std::unique_lock held(s.lock);
  s.changed.wait_for(held, most, [&] { return s.ended || !s.waiting.empty(); });
  const size_t n = std::min(to.size(), s.waiting.size());
  std::copy_n(s.waiting.begin(), n, to.begin());
  s.waiting.erase(s.waiting.begin(), s.waiting.begin() + static_cast<std::ptrdiff_t>(n));
  s.changed.notify_all();
  if (s.error && n == 0) return *s.error;
  return Taken{n, s.ended && s.waiting.empty() && !s.error};
}

std::string SamplePipe::shortage() const {
  const std::lock_guard held(shared_->lock);
  return shared_->ended ? shared_->recording->shortage() : "";
}

std::string SamplePipe::silence() const {
  const std::lock_guard held(shared_->lock);
  return shared_->ended ? shared_->recording->silence() : "";
}

}  // namespace lapilli::recordings
