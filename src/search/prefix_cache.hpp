// Keys and values of prompts that ran, for later prompts that begin alike: requests that share a system prompt compute
// it once. For models of a decoder alone, whose positions depend on the ids before them and on nothing else.
//
// The entries form a tree: each holds the positions that no other entry had when its prompt ran, behind a beginning of
// its parent's. They take at most an eighth of the memory; those not used for the longest time leave first, and all
// leave where memory is short (EnginePool::drop_free).
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "search/network_on_device.hpp"
#include "vulkan/device/memory_ledger.hpp"

namespace lapilli {

struct Workspace;

// One entry. Its memory counts against the model's limit as long as anybody holds it.
class KeptPrefix {
 public:
  [[nodiscard]] uint32_t end() const { return from_ + static_cast<uint32_t>(ids_.size()); }
  // Appends copies of the first `positions` positions, those of its ancestors included, to the sentence's slot. The
  // entry must outlive the recording's execution.
  void copy_in(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot,
               uint32_t positions) const;
  // Appends copies of its own positions from the slot.
  void copy_out(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot) const;

 private:
  friend class PrefixCache;
  KeptPrefix() = default;
  struct Region;
  [[nodiscard]] std::vector<Region> regions(const Workspace& workspace, uint32_t slot) const;

  std::shared_ptr<KeptPrefix> parent_;  // null: it begins at position 0
  uint32_t from_ = 0;                   // its first position
  std::vector<int32_t> ids_;            // by position
  uint32_t layers_ = 0, heads_ = 0, row_bytes_ = 0;
  vulkan::Buffer buffer_;  // [layers][heads][positions] rows
  uint64_t maker_ = 0;     // the engine that fills it
  // The cache's mutex guards these.
  enum class State : uint8_t { begun, queued, filled } state_ = State::begun;
  bool deterministic_ = false, listed_ = false;
  uint32_t children_ = 0;
  uint64_t used_ = 0;  // when, in uses of the cache

  const model::Config* config_ = nullptr;
};

// Thread-safe.
class PrefixCache {
 public:
  // Beginnings shorter than this are computed again: copies would cost as much.
  static constexpr uint32_t kLeast = 16;

  // Both outlive the cache.
  PrefixCache(const NetworkOnDevice& network, vulkan::MemoryLedger& memory);
  // Keeps and finds nothing from now on.
  void disable();

  // An engine. It may read in later work what its own queue fills; others read entries once they are filled.
  struct Reader {
    uint64_t engine = 0;
    bool deterministic = false;  // sums are made in one order: entries of other engines may differ in the last bits
  };
  static uint64_t next_engine();

  struct Match {
    std::shared_ptr<KeptPrefix> entry;  // null: none
    uint32_t positions = 0;             // that begin alike
  };
  // The longest kept beginning of these ids, at least kLeast of them.
  Match find(std::span<const int32_t> ids, const Reader& reader);
  // An entry for the positions of these ids behind the match, to be filled by KeptPrefix::copy_out() when the prompt
  // has come to its end, which is before the last of these ids if some layer's cache is a shorter ring. Null if they
  // are few, or there is no room.
  std::shared_ptr<KeptPrefix> add(const Match& match, std::span<const int32_t> ids, const Reader& reader);
  // The engine's later work may read the entry, because what fills it is queued.
  void queued(KeptPrefix& entry);
  // All may read it.
  void filled(KeptPrefix& entry);
  // It will not be filled.
  void drop(const KeptPrefix& entry);
  // Drops what this engine began and did not fill.
  void forget(uint64_t engine);
  void clear();
  [[nodiscard]] uint64_t bytes() const;

 private:
  using Entries = std::list<std::shared_ptr<KeptPrefix>>;
  [[nodiscard]] static bool may_read(const KeptPrefix& entry, const Reader& reader);
  [[nodiscard]] uint64_t share() const;
  std::shared_ptr<KeptPrefix> make(const Match& match, std::span<const int32_t> ids) const;
  [[nodiscard]] uint64_t bytes_of(uint32_t positions) const;
  bool hold_room(const Match& match, uint64_t bytes);
  bool drop_oldest(Entries& to);
  void take_out(Entries::iterator entry, Entries& to);
  void touch(KeptPrefix& entry);

  const NetworkOnDevice& network_;
  vulkan::MemoryLedger& memory_;
  mutable std::mutex mutex_;
  bool enabled_ = false;
  Entries entries_;
  uint64_t bytes_ = 0, uses_ = 0;
};

// Ids at which both begin alike.
uint32_t common_beginning(std::span<const int32_t> a, std::span<const int32_t> b);

}  // namespace lapilli
