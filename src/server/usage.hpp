// The use of the server, by protocol and by key.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace lapilli::server {

struct Usage {
  uint64_t requests = 0;
  uint64_t characters = 0, documents = 0, pictures = 0;  // that came
  uint64_t sound_ms = 0;                                 // of recordings
  uint64_t read_tokens = 0, written_tokens = 0;          // by models; written: of the best sequences
  Usage& operator+=(const Usage& more);
};

// Thread-safe.
class Account {
 public:
  void add(const Usage& more);
  [[nodiscard]] Usage now() const;

 private:
  mutable std::mutex mutex_;
  Usage usage_;
};

// Thread-safe. Keys are numbers, for nobody may read a key in /metrics: from 1 in the order of their file, 0: none is
// asked for.
class Ledger {
 public:
  std::shared_ptr<Account> account(const std::string& protocol, size_t key);
  // The sum over all protocols with this key.
  [[nodiscard]] Usage of_key(size_t key) const;
  // The counts in the text format of Prometheus.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, size_t>, std::shared_ptr<Account>> accounts_;
};

}  // namespace lapilli::server
