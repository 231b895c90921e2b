// What a device keeps between runs, in a Store: the driver's pipeline cache, the verdicts of the self-test, what a
// tuner found, and which pipelines searches need.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/stored.hpp"

namespace lapilli::vulkan {

class Device;

// How a device keeps them.
struct KeepOptions {
  std::shared_ptr<Store> store;  // null: nothing is kept
  uint64_t shaders = 0;          // a checksum of every shader module
};

// Safe to use from several threads. The store is read when this is made, and only then; keep() and trials write to it.
//
// A trial says that a driver was given what is stored. If the process ends before the trial does, the next one finds
// its mark, and what was on trial is removed: a driver that crashes on it does so once.
//
//   The mark holds the checksum of what is on trial, so it says nothing of a blob that took its place since. Of several
//   processes one has the mark: who begins while another one lives (the store's hold()) goes unmarked, and is the one
//   that has it when it is first again. Where the mark cannot be written nothing is handed to the driver.
class Kept {
 public:
  Kept(std::shared_ptr<Store> store, const StoredIdentity& identity);
  // What an earlier run kept, once; empty if there is nothing that matches.
  Blob take(StoredKind kind);
  // For the next run. What is kept already is not written again.
  void keep(StoredKind kind, std::span<const std::byte> payload);
  // False: it is not to be used. True: begun.
  bool begin_trial(StoredKind kind, std::span<const std::byte> payload);
  void end_trial();
  [[nodiscard]] const StoredIdentity& identity() const { return identity_; }
  [[nodiscard]] const std::shared_ptr<Store>& store() const { return store_; }

 private:
  struct Known {
    Blob payload;           // until it is taken
    uint64_t checksum = 0;  // of what is kept; 0: nothing
  };
  void read(StoredKind kind);
  [[nodiscard]] bool was_on_trial(uint64_t what) const;
  const std::shared_ptr<Store> store_;
  const StoredIdentity identity_;
  std::mutex mutex_;
  std::map<StoredKind, Known> known_;
  std::shared_ptr<void> trial_;  // held while the mark is ours
};

// Whose pipelines and verdicts a device's are.
StoredIdentity stored_identity(const Device& device, uint64_t shaders);

// What is in a store for a device, without using it.
enum class KeptState : uint8_t { none, good, of_others, damaged };
struct KeptBlob {
  const char* what = "";
  KeptState state = KeptState::none;
  uint64_t bytes = 0;
};
std::vector<KeptBlob> examine_kept(Store& store, const StoredIdentity& identity);

}  // namespace lapilli::vulkan
