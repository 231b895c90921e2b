// Files that wait for their download under random names.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace lapilli::server {

struct KeptFile {
  std::string name;  // for the one who downloads it
  std::string type;  // Content-Type
  std::string bytes;
};

// 32 random hexadecimal digits, which nobody can guess.
std::string random_digits();

// Thread-safe. The oldest go when there are too many bytes.
class KeptFiles {
 public:
  KeptFiles(double seconds, uint64_t most_bytes) : seconds_(seconds), most_bytes_(most_bytes) {}
  // Gives its random name.
  std::string keep(KeptFile file);
  [[nodiscard]] std::shared_ptr<const KeptFile> find(const std::string& name);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::string name;
    Clock::time_point since;
    std::shared_ptr<const KeptFile> file;
  };
  void drop_old(uint64_t room);

  const double seconds_;
  const uint64_t most_bytes_;
  std::mutex mutex_;
  std::deque<Entry> entries_;  // the oldest first
  uint64_t bytes_ = 0;
};

}  // namespace lapilli::server
