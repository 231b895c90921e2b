// Documents that are translated while their client asks now and then, and fetches them at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "server/kept_files.hpp"

namespace lapilli::server {

struct DocumentState {
  bool done = false;
  std::string error;  // "": none; it is done as well
  uint64_t characters = 0;
  std::optional<uint64_t> seconds_left;  // an estimate, once its translation has begun
  std::shared_ptr<const KeptFile> file;  // if it is done without an error
};

// Thread-safe. Those that are done go after `seconds`, and the oldest when there are too many bytes.
class DocumentJobs {
 public:
  struct Name {
    std::string id, key;  // both random
  };
  DocumentJobs(double seconds, uint64_t most_bytes) : seconds_(seconds), most_bytes_(most_bytes) {}
  // Nothing while kMostWaiting documents are not done.
  std::optional<Name> add(uint64_t characters);
  static constexpr size_t kMostWaiting = 64;
  // The part of it that is translated, from 0 to 1.
  void progress(const std::string& id, double part);
  void finish(const std::string& id, std::string error, KeptFile file);
  // Nothing if there is none of this id with this key.
  [[nodiscard]] std::optional<DocumentState> find(const std::string& id, const std::string& key);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Name name;
    Clock::time_point since;  // it was asked for, or done
    DocumentState state;
    std::optional<Clock::time_point> begun;
    double part = 0;
  };
  void drop_old();
  [[nodiscard]] Entry* entry_of(const std::string& id);
  static uint64_t seconds_left(const Entry& entry);

  const double seconds_;
  const uint64_t most_bytes_;
  std::mutex mutex_;
  std::deque<Entry> entries_;  // the oldest first
};

}  // namespace lapilli::server
