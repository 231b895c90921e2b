#include "server/work/job_events.hpp"

#include <algorithm>
#include <vector>

namespace lapilli::server {

namespace {

// Watchers are told no more often than this.
constexpr auto kTellOften = std::chrono::milliseconds(100);
constexpr uint64_t kMostBehind = 64 << 10;  // bytes that a watcher has not read

std::string event_text(const std::string& name, const std::string& data) {
  return "event: " + name + "\ndata: {" + data + "}\n\n";
}

}  // namespace

// ---- one request ----

void JobEvents::Job::send(const std::string& event) {
  for (const auto& watcher : watchers_)
    if (watcher->unsent() < kMostBehind) watcher->write(event);
}

std::string JobEvents::Job::progress_event() const {
  JobProgress all;
  for (const auto& [work, progress] : works_) {
    all.done += progress.done;
    all.total += progress.total;
    all.tokens += progress.tokens;
  }
  return event_text("progress", "\"done\":" + std::to_string(all.done) + ",\"total\":" + std::to_string(all.total) +
                                    ",\"tokens\":" + std::to_string(all.tokens));
}

void JobEvents::Job::tell(const void* work, const JobProgress& progress) {
  const std::lock_guard lock(mutex_);
  works_[work] = progress;
  if (watchers_.empty() || Clock::now() - told_ < kTellOften) return;
  told_ = Clock::now();
  send(progress_event());
}

void JobEvents::Job::add(const std::shared_ptr<Exchange>& watcher) {
  std::list<std::shared_ptr<Exchange>> oldest;  // dropped without the lock
  const std::lock_guard lock(mutex_);
  if (watchers_.size() == kMostWatchers) oldest.splice(oldest.end(), watchers_, watchers_.begin());
  for (const auto& one : oldest) one->end();
  watchers_.push_back(watcher);
  if (!works_.empty()) watcher->write(progress_event());
}

void JobEvents::Job::remove(const Exchange* watcher) {
  std::list<std::shared_ptr<Exchange>> left;  // dropped without the lock
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find_if(watchers_, [&](const auto& one) { return one.get() == watcher; });
  if (it != watchers_.end()) left.splice(left.end(), watchers_, it);
}

void JobEvents::Job::end(int status) {
  std::list<std::shared_ptr<Exchange>> all;
  const std::lock_guard lock(mutex_);
  if (!works_.empty()) send(progress_event());
  if (status != 0) send(event_text("end", "\"status\":" + std::to_string(status)));
  for (const auto& watcher : watchers_) watcher->end();
  all.swap(watchers_);
}

// ---- all of them ----

bool JobEvents::is_name(std::string_view name) {
  constexpr size_t kLongest = 64;
  constexpr std::string_view kSigns = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !name.empty() && name.size() <= kLongest && name.find_first_not_of(kSigns) == std::string_view::npos;
}

std::shared_ptr<JobEvents::Job> JobEvents::begin(const Name& name) {
  const std::lock_guard lock(mutex_);
  auto& job = jobs_[name];
  if (!job) job = std::make_shared<Job>();
  return std::exchange(job->running_, true) ? nullptr : job;
}

void JobEvents::end(const Name& name, int status) {
  std::shared_ptr<Job> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto it = jobs_.find(name);
    if (it == jobs_.end()) return;
    ended = std::move(it->second);
    jobs_.erase(it);
  }
  ended->end(status);
}

void JobEvents::watch(const Name& name, const std::shared_ptr<Exchange>& watcher) {
  watcher->begin({200, "", "text/event-stream", {{"Cache-Control", "no-store"}}});
  std::shared_ptr<Job> job, dropped;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ && !jobs_.contains(name)) return watcher->end();
    if (!jobs_.contains(name)) dropped = drop_oldest();
    auto& place = jobs_[name];
    if (!place) place = std::make_shared<Job>();
    job = place;
    job->add(watcher);
  }
  if (dropped) dropped->end(0);
  watcher->on_gone([this, name, watcher = watcher.get()] { leave(name, watcher); });
}

// The oldest whose request has not come, if there are too many.
std::shared_ptr<JobEvents::Job> JobEvents::drop_oldest() {
  size_t waiting = 0;
  auto oldest = jobs_.end();
  for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
    if (it->second->running_) continue;
    ++waiting;
    if (oldest == jobs_.end() || it->second->since_ < oldest->second->since_) oldest = it;
  }
  if (waiting < kMostWaiting) return nullptr;
  auto dropped = std::move(oldest->second);
  jobs_.erase(oldest);
  return dropped;
}

void JobEvents::leave(const Name& name, const Exchange* watcher) {
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    const auto it = jobs_.find(name);
    if (it == jobs_.end()) return;
    job = it->second;
  }
  job->remove(watcher);
}

void JobEvents::close() {
  std::vector<std::shared_ptr<Job>> waiting;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    std::erase_if(jobs_, [&](const auto& one) {
      if (!one.second->running_) waiting.push_back(one.second);
      return !one.second->running_;
    });
  }
  for (const auto& job : waiting) job->end(0);
}

}  // namespace lapilli::server
