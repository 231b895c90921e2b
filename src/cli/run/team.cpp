#include "cli/run/team.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

using Chunk = std::vector<size_t>;

// Like lengths together, the longest first: what is left for the end is short.
std::deque<Chunk> chunks_of(const std::vector<size_t>& lengths, size_t rows) {
  Chunk order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lengths[a] > lengths[b]; });
  std::deque<Chunk> chunks;
  for (size_t begin = 0; begin < order.size(); begin += rows) {
    const size_t end = std::min(begin + rows, order.size());
    chunks.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                        order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return chunks;
}

bool is_loss(const Error& error) { return error.status() == Status::device_lost || error.status() == Status::timeout; }

// Adds up what the members report of their chunks.
class JointReport {
 public:
  JointReport(size_t inputs, const Team::Report& report) : left_(inputs), report_(report) {}

  // One for each chunk that is run.
  class Share {
   public:
    Share(JointReport& joint, size_t inputs) : joint_(joint), all_(inputs) {}
    bool tell(uint64_t done, uint64_t all) {
      const std::lock_guard lock(joint_.mutex_);
      joint_.done_ += done - done_;
      joint_.left_ += all - all_;
      done_ = done;
      all_ = all;
      return joint_.report_(joint_.done_, joint_.left_);
    }
    // The chunk is run once more, by another member.
    void take_back(size_t inputs) {
      const std::lock_guard lock(joint_.mutex_);
      joint_.done_ -= done_;
      joint_.left_ += inputs - all_;
    }

   private:
    JointReport& joint_;
    uint64_t done_ = 0, all_;
  };

 private:
  std::mutex mutex_;
  uint64_t done_ = 0, left_;  // numbers may pass through values below zero, which wrap and come back
  const Team::Report& report_;
};

// One call of a team.
class Sharing {
 public:
  Sharing(std::vector<Member>& members, std::deque<Chunk> chunks, const Team::Run& run, JointReport& report)
      : members_(members), waiting_(std::move(chunks)), run_(run), report_(report) {}
  Result<std::vector<Portion>> go();

 private:
  void work(Member& member);
  std::optional<Chunk> next();
  void run_on(Member& member, Chunk chunk);
  void lose(Member& member, Chunk chunk, const Error& error);
  [[nodiscard]] bool anyone() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return !m.lost; });
  }

  std::vector<Member>& members_;
  std::mutex mutex_;  // guards the rest, and Member::lost
  std::condition_variable changed_;
  std::deque<Chunk> waiting_;
  size_t running_ = 0;
  bool stopped_ = false;
  std::vector<Portion> parts_;
  std::optional<Error> error_;
  std::exception_ptr thrown_;
  const Team::Run& run_;
  JointReport& report_;
};

// Nothing at the end. A member that has nothing to do waits for what another may lose.
std::optional<Chunk> Sharing::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !waiting_.empty() || running_ == 0; });
  if (stopped_ || waiting_.empty() || interrupted()) return std::nullopt;
  Chunk chunk = std::move(waiting_.front());
  waiting_.pop_front();
  ++running_;
  return chunk;
}

void Sharing::lose(Member& member, Chunk chunk, const Error& error) {
  member.lost = true;
  waiting_.push_front(std::move(chunk));
  if (!anyone()) {
    error_ = error;
    stopped_ = true;
    return;
  }
  std::fprintf(stderr, "lapilli: %s; the other devices take over its work\n", error.message().c_str());
}

void Sharing::run_on(Member& member, Chunk chunk) {
  JointReport::Share share(report_, chunk.size());
  auto made = run_(member, chunk, [&share](uint64_t done, uint64_t all) { return share.tell(done, all); });
  const std::lock_guard lock(mutex_);
  --running_;
  if (made) {
    stopped_ = stopped_ || made->cancelled();
    parts_.push_back({std::move(chunk), &member, std::move(*made)});
  } else if (is_loss(made.error())) {
    share.take_back(chunk.size());
    lose(member, std::move(chunk), made.error());
  } else {
    error_ = made.error();
    stopped_ = true;
  }
}

void Sharing::work(Member& member) {
  try {
    while (!member.lost) {
      auto chunk = next();
      if (!chunk) break;
      run_on(member, std::move(*chunk));
      changed_.notify_all();
    }
  } catch (...) {  // from this thread to the caller's
    const std::lock_guard lock(mutex_);
    thrown_ = std::current_exception();
    stopped_ = true;
  }
  changed_.notify_all();
}

Result<std::vector<Portion>> Sharing::go() {
  std::vector<Member*> able;
  for (Member& member : members_)
    if (!member.lost) able.push_back(&member);
  if (able.empty()) return Error(Status::device_lost, "every device is lost");
  std::vector<std::thread> threads;
  try {
    for (size_t i = 1; i < able.size(); ++i) threads.emplace_back([this, member = able[i]] { work(*member); });
  } catch (const std::system_error&) {  // no more threads: fewer members work
  }
  work(*able.front());
  for (std::thread& thread : threads) thread.join();
  if (thrown_) std::rethrow_exception(thrown_);
  if (error_) return *error_;
  return std::move(parts_);
}

}  // namespace

Result<std::vector<Portion>> Team::share(const std::vector<size_t>& lengths, size_t rows, const Run& run,
                                         const Report& report) {
  const size_t inputs = lengths.size();
  if (members_.size() == 1) {
    Chunk all(inputs);
    std::iota(all.begin(), all.end(), size_t{0});
    auto made = run(members_.front(), all, report);
    if (!made) return made.error();
    std::vector<Portion> parts;
    parts.push_back({std::move(all), &members_.front(), std::move(*made)});
    return parts;
  }
  const size_t fair = (inputs + members_.size() - 1) / members_.size();
  JointReport joint(inputs, report);
  return Sharing(members_, chunks_of(lengths, std::max<size_t>(std::min(rows, fair), 1)), run, joint).go();
}

}  // namespace lapilli::cli
