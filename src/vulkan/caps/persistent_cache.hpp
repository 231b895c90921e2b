// A device's persistent cache: what a Store keeps between runs of the driver's pipeline cache, the self-test's
// verdicts, a tuner's results, and the pipelines that searches need.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/caps/stored.hpp"

namespace lapilli::vulkan {

class Device;

// Where a device keeps it.
struct PersistentCacheOptions {
  std::shared_ptr<Store> store;  // null: nothing is kept
  uint64_t shaders = 0;          // checksum of all shader modules
};

// Safe to use from several threads. The store is read only on construction; keep() and trials write to it.
//
// A trial marks stored data as handed to a driver. If the process ends before the trial does, the next one finds the
// mark and removes that data: a driver crashes on it only once.
//
// The mark holds the checksum of the data on trial, so it does not apply to a blob that replaced it since. Only one of
// several processes has the mark: one that starts while another holds it (the store's hold()) goes unmarked, and has
// the mark the next time it starts first. If the mark cannot be written, nothing is handed to the driver.
class PersistentCache {
 public:
  PersistentCache(std::shared_ptr<Store> store, const StoredIdentity& identity);
  // An earlier run's data, once; empty if none matches.
  Blob take(StoredKind kind);
  // Stores data for the next run. Data already stored is not written again.
  void keep(StoredKind kind, std::span<const std::byte> payload);
  // True if begun; false if the data must not be used.
  bool begin_trial(StoredKind kind, std::span<const std::byte> payload);
  void end_trial();
  [[nodiscard]] const StoredIdentity& identity() const { return identity_; }
  [[nodiscard]] const std::shared_ptr<Store>& store() const { return store_; }

 private:
  struct Known {
    Blob payload;           // until it is taken
    uint64_t checksum = 0;  // of the stored data; 0: none
  };
  void read(StoredKind kind);
  [[nodiscard]] bool was_on_trial(uint64_t what) const;
  const std::shared_ptr<Store> store_;
  const StoredIdentity identity_;
  std::mutex mutex_;
  std::map<StoredKind, Known> known_;
  std::shared_ptr<void> trial_;  // held while the mark is ours
};

// Identity of the device that its pipelines and verdicts belong to.
StoredIdentity stored_identity(const Device& device, uint64_t shaders);

// A store's contents for a device, examined without using them.
enum class CacheState : uint8_t { none, good, of_others, damaged };
struct CachedBlob {
  const char* what = "";
  CacheState state = CacheState::none;
  uint64_t bytes = 0;
};
std::vector<CachedBlob> examine_persistent_cache(Store& store, const StoredIdentity& identity);

}  // namespace lapilli::vulkan
