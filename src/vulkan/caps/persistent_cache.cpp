#include "vulkan/caps/persistent_cache.hpp"

#include <array>
#include <utility>

#include "base/log.hpp"
#include "base/result.hpp"

namespace lapilli::vulkan {

namespace {

std::array<std::byte, 8> mark_of(uint64_t what) {
  std::array<std::byte, 8> mark{};
  for (size_t i = 0; i < mark.size(); ++i) mark[i] = static_cast<std::byte>(what >> (8 * i));
  return mark;
}

}  // namespace

PersistentCache::PersistentCache(std::shared_ptr<Store> store, const StoredIdentity& identity)
    : store_(std::move(store)), identity_(identity) {
  for (const StoredKind kind : {StoredKind::pipelines, StoredKind::verdicts, StoredKind::tunings, StoredKind::expected})
    read(kind);
}

void PersistentCache::read(StoredKind kind) {
  const std::string key = stored_key(kind, identity_);
  const auto blob = store_->load(key);
  if (!blob) return;
  auto payload = unseal(kind, identity_, *blob);
  log(LogLevel::verbose, payload ? format("%s: %u bytes of an earlier run", key, payload->size())
                                 : key + " is of another driver or version of Lapilli, or damaged, and is made anew");
  if (!payload) return;
  const uint64_t sum = checksum(*payload);
  known_[kind] = {std::move(*payload), sum};
}

Blob PersistentCache::take(StoredKind kind) {
  const std::lock_guard lock(mutex_);
  return std::exchange(known_[kind].payload, {});
}

void PersistentCache::keep(StoredKind kind, std::span<const std::byte> payload) {
  const std::lock_guard lock(mutex_);
  const uint64_t sum = checksum(payload);
  uint64_t& kept = known_[kind].checksum;
  if (sum == kept) return;
  if (store_->save(stored_key(kind, identity_), seal(kind, identity_, payload))) kept = sum;
}

bool PersistentCache::was_on_trial(uint64_t what) const {
  const auto blob = store_->load(stored_key(StoredKind::trial, identity_));
  const auto mark = blob ? unseal(StoredKind::trial, identity_, *blob) : std::nullopt;
  return mark && std::ranges::equal(*mark, mark_of(what));
}

bool PersistentCache::begin_trial(StoredKind kind, std::span<const std::byte> payload) {
  const std::lock_guard lock(mutex_);
  const uint64_t what = checksum(payload);
  const std::string mark = stored_key(StoredKind::trial, identity_);
  trial_ = store_->hold(mark);
  if (!trial_) return true;
  if (!was_on_trial(what)) {
    if (store_->save(mark, seal(StoredKind::trial, identity_, mark_of(what)))) return true;
  } else if (store_->save(stored_key(kind, identity_), {})) {
    log(LogLevel::note, "an earlier run ended while the driver used the stored pipelines: they are made anew");
    known_[kind].checksum = 0;
    store_->save(mark, {});
  }
  trial_.reset();
  return false;
}

void PersistentCache::end_trial() {
  const std::lock_guard lock(mutex_);
  if (!trial_) return;
  store_->save(stored_key(StoredKind::trial, identity_), {});
  trial_.reset();
}

namespace {

CacheState state_of(StoredKind kind, const StoredIdentity& identity, const std::optional<Blob>& blob) {
  if (!blob) return CacheState::none;
  if (!is_whole(*blob)) return CacheState::damaged;
  return unseal(kind, identity, *blob) ? CacheState::good : CacheState::of_others;
}

}  // namespace

std::vector<CachedBlob> examine_persistent_cache(Store& store, const StoredIdentity& identity) {
  std::vector<CachedBlob> blobs;
  for (const auto& [kind, what] : {std::pair{StoredKind::pipelines, "pipelines"},
                                   {StoredKind::verdicts, "verdicts"},
                                   {StoredKind::tunings, "tunings"},
                                   {StoredKind::expected, "expectations"}}) {
    const auto blob = store.load(stored_key(kind, identity));
    blobs.push_back({what, state_of(kind, identity, blob), blob ? blob->size() : 0});
  }
  return blobs;
}

}  // namespace lapilli::vulkan
