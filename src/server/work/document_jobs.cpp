#include "server/work/document_jobs.hpp"

#include <algorithm>
#include <utility>

#include "server/http/origin.hpp"

namespace lapilli::server {

namespace {

uint64_t size_of(const DocumentState& state) { return state.file ? state.file->bytes.size() : 0; }

}  // namespace

void DocumentJobs::drop_old() {
  const auto oldest =
      Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_));
  std::erase_if(entries_, [&](const Entry& entry) { return entry.state.done && entry.since < oldest; });
  uint64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += size_of(entry.state);
  for (auto it = entries_.begin(); it != entries_.end() && bytes > most_bytes_;) {
    bytes -= size_of(it->state);
    it = it->state.done ? entries_.erase(it) : std::next(it);
  }
}

std::optional<DocumentJobs::Name> DocumentJobs::add(uint64_t characters) {
  Entry entry{{random_digits(), random_digits()}, Clock::now(), {}, {}};
  entry.state.characters = characters;
  const std::lock_guard lock(mutex_);
  drop_old();
  const auto waits = [](const Entry& one) { return !one.state.done; };
  if (std::ranges::count_if(entries_, waits) >= static_cast<std::ptrdiff_t>(kMostWaiting)) return {};
  entries_.push_back(entry);
  return entry.name;
}

DocumentJobs::Entry* DocumentJobs::entry_of(const std::string& id) {
  const auto it = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.name.id == id; });
  return it == entries_.end() ? nullptr : &*it;
}

void DocumentJobs::progress(const std::string& id, double part) {
  const std::lock_guard lock(mutex_);
  Entry* entry = entry_of(id);
  if (entry == nullptr) return;
  if (!entry->begun) entry->begun = Clock::now();
  entry->part = std::max(entry->part, std::min(part, 1.0));
}

// The rest goes as fast as what is done; what has done nothing yet takes as long again.
uint64_t DocumentJobs::seconds_left(const Entry& entry) {
  const double passed = std::chrono::duration<double>(Clock::now() - *entry.begun).count();
  const double left = entry.part > 0 ? passed * (1 - entry.part) / entry.part : passed;
  constexpr double kMost = 24 * 3600;
  return static_cast<uint64_t>(std::min(left, kMost)) + 1;
}

void DocumentJobs::finish(const std::string& id, std::string error, KeptFile file) {
  const std::lock_guard lock(mutex_);
  if (Entry* entry = entry_of(id)) {
    entry->since = Clock::now();
    entry->state.done = true;
    entry->state.error = std::move(error);
    if (entry->state.error.empty()) entry->state.file = std::make_shared<const KeptFile>(std::move(file));
  }
  drop_old();
}

std::optional<DocumentState> DocumentJobs::find(const std::string& id, const std::string& key) {
  const std::lock_guard lock(mutex_);
  drop_old();
  const Entry* entry = entry_of(id);
  if (entry == nullptr || !keys_equal(key, entry->name.key)) return {};
  DocumentState state = entry->state;
  if (!state.done && entry->begun) state.seconds_left = seconds_left(*entry);
  return state;
}

}  // namespace lapilli::server
