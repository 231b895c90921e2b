#include "server/kept_files.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace lapilli::server {

std::string random_digits() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::random_device system;
  std::string name;
  for (int i = 0; i < 32; ++i) name += kDigits[system() & 15];
  return name;
}

void KeptFiles::drop_old(uint64_t room) {
  const auto oldest =
      Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_));
  while (!entries_.empty() && (entries_.front().since < oldest || bytes_ + room > most_bytes_)) {
    bytes_ -= entries_.front().file->bytes.size();
    entries_.pop_front();
  }
}

std::string KeptFiles::keep(KeptFile file) {
  const uint64_t size = file.bytes.size();
  const std::string name = random_digits();
  const std::lock_guard lock(mutex_);
  drop_old(size);
  entries_.push_back({name, Clock::now(), std::make_shared<const KeptFile>(std::move(file))});
  bytes_ += size;
  return name;
}

std::shared_ptr<const KeptFile> KeptFiles::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  drop_old(0);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : found->file;
}

}  // namespace lapilli::server
