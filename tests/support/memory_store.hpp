// A store that lasts as long as the test, and can fail.
#pragma once

#include <map>
#include <mutex>

#include "base/store.hpp"

namespace lapilli::testing_support {

inline Blob bytes_of_text(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class MemoryStore : public Store {
 public:
  std::optional<Blob> load(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    ++loads;
    const auto found = blobs.find(key);
    return found == blobs.end() ? std::nullopt : std::optional(found->second);
  }
  bool save(const std::string& key, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    ++saves;
    if (full) return false;
    if (bytes.empty())
      blobs.erase(key);
    else
      blobs[key] = Blob(bytes.begin(), bytes.end());
    return true;
  }
  std::shared_ptr<void> hold(const std::string& key) override { return others_hold ? nullptr : Store::hold(key); }
  // The one whose key begins so; the test's fault if there is none.
  Blob& starting_with(const std::string& kind) {
    const auto at = blobs.lower_bound(kind);
    return at != blobs.end() && at->first.starts_with(kind) ? at->second : blobs[kind];
  }
  [[nodiscard]] bool has(const std::string& kind) const {
    const auto at = blobs.lower_bound(kind);
    return at != blobs.end() && at->first.starts_with(kind);
  }

  std::map<std::string, Blob> blobs;
  bool full = false;         // nothing can be saved
  bool others_hold = false;  // another process lives that holds every name
  int loads = 0, saves = 0;

 private:
  std::mutex mutex_;
};

}  // namespace lapilli::testing_support
