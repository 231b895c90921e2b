#include "search/prefix_cache.hpp"

#include <algorithm>
#include <limits>

#include "search/workspace.hpp"

namespace lapilli {

namespace {

constexpr uint64_t kShare = 8;         // the entries take one part of so many of the memory
constexpr size_t kMostEntries = 2048;  // so that looking through them costs next to nothing

// Rows of a decoder with memory are numbered by segments, which begin anywhere.
bool suits(const model::Config& config) {
  return config.kind().decodes && !config.kind().encodes && !config.decoder.recurrent && config.decoder.memory == 0;
}

// Positions that all layers still hold when a prompt has come to their end: the shortest ring of a layer with a window.
uint32_t most_positions(const model::StackConfig& decoder) {
  uint32_t most = std::numeric_limits<uint32_t>::max();
  for (uint32_t i = 0; i < decoder.layers; ++i) most = std::min(most, decoder.cache_positions(i, most));
  return most;
}

}  // namespace

uint32_t common_beginning(std::span<const int32_t> a, std::span<const int32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<uint32_t>(std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first -
                               a.begin());
}

// ---- an entry -----------------------------------------------------------------------------------------------------

// The heads of one layer; their rows are strided in the session.
struct KeptPrefix::Region {
  const vulkan::Buffer* session = nullptr;
  uint64_t here = 0, there = 0, here_stride = 0, there_stride = 0;
};

// The prompt's positions lie in the first beam slot of the sentence.
std::vector<KeptPrefix::Region> KeptPrefix::regions(const Workspace& workspace, uint32_t slot) const {
  const SessionShape& shape = workspace.key.shape;
  const uint64_t own = uint64_t{ids_.size()} * row_bytes_;
  std::vector<Region> all;
  for (uint32_t layer = 0; layer < layers_; ++layer) {
    const BufferRef state = workspace.session->state(StateKind::self_kv, layer);
    const uint64_t beam_slot = uint64_t{model::self_kv_shape(*config_, shape.room(), layer).positions} * row_bytes_;
    all.push_back({state.buffer, uint64_t{layer} * heads_ * own,
                   state.offset + slot * shape.beams * beam_slot + from_ * uint64_t{row_bytes_}, own,
                   shape.beam_slots() * beam_slot});
  }
  return all;
}

void KeptPrefix::copy_in(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot,
                         uint32_t positions) const {
  for (const KeptPrefix* entry = this; entry; entry = entry->parent_.get()) {
    const uint64_t bytes = uint64_t{positions - entry->from_} * row_bytes_;
    for (const Region& r : entry->regions(workspace, slot))
      recording.copy(entry->buffer_, *r.session, {heads_, bytes, r.here_stride, r.there_stride, r.here, r.there});
    positions = entry->from_;
  }
}

void KeptPrefix::copy_out(vulkan::CommandRecording& recording, const Workspace& workspace, uint32_t slot) const {
  for (const Region& r : regions(workspace, slot))
    recording.copy(*r.session, buffer_, {heads_, r.here_stride, r.there_stride, r.here_stride, r.there, r.here});
}

// ---- the entries --------------------------------------------------------------------------------------------------

PrefixCache::PrefixCache(const NetworkOnDevice& network, vulkan::MemoryLedger& memory)
    : network_(network), memory_(memory), enabled_(suits(network.config())) {}

void PrefixCache::disable() {
  {
    const std::lock_guard lock(mutex_);
    enabled_ = false;
  }
  clear();
}

uint64_t PrefixCache::next_engine() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

// The cache's mutex is held.
bool PrefixCache::may_read(const KeptPrefix& entry, const Reader& reader) {
  using State = KeptPrefix::State;
  const bool there = entry.state_ == State::filled || (entry.state_ == State::queued && entry.maker_ == reader.engine);
  return there && entry.deterministic_ == reader.deterministic;
}

// Each step takes the entry behind the match so far that goes on longest.
PrefixCache::Match PrefixCache::find(std::span<const int32_t> ids, const Reader& reader) {
  const std::lock_guard lock(mutex_);
  Match match;
  for (bool longer = enabled_; longer;) {
    longer = false;
    const auto parent = match.entry;
    const uint32_t behind = match.positions;
    for (const auto& e : entries_) {
      if (e->parent_ != parent || e->from_ > behind) continue;
      if (!may_read(*e, reader)) continue;
      const uint32_t end = e->from_ + common_beginning(ids.subspan(e->from_), e->ids_);
      if (end <= match.positions) continue;
      match = {e, end};
      longer = true;
    }
  }
  if (match.positions < kLeast) return {};
  touch(*match.entry);
  return match;
}

// The ancestors are in use, too.
void PrefixCache::touch(KeptPrefix& entry) {
  ++uses_;
  for (KeptPrefix* e = &entry; e; e = e->parent_.get()) e->used_ = uses_;
}

// Bytes that the entries may take: a part of the memory limit, or without one of what the device has left.
uint64_t PrefixCache::share() const {
  uint64_t most = std::numeric_limits<uint64_t>::max();
  for (const vulkan::MemoryLedger* ledger : {&memory_, network_.device->ledger().get()})
    if (ledger->left() != most) return (ledger->left() + ledger->held()) / kShare;
  return (network_.device->memory_left() + bytes()) / kShare;
}

// Null: there is no memory for it.
std::shared_ptr<KeptPrefix> PrefixCache::make(const Match& match, std::span<const int32_t> ids) const {
  const model::StackConfig& decoder = network_.config().decoder;
  const KvLayout layout({decoder.kv_heads(), decoder.head_dim}, network_.network.kv_format);
  std::shared_ptr<KeptPrefix> e(new KeptPrefix());
  e->parent_ = match.entry;
  e->from_ = match.positions;
  e->ids_.assign(ids.begin() + match.positions, ids.end());
  e->layers_ = decoder.layers;
  e->heads_ = decoder.kv_heads();
  e->row_bytes_ = static_cast<uint32_t>(layout.cell_words() * 4);
  e->config_ = &network_.config();
  const uint64_t bytes = bytes_of(static_cast<uint32_t>(e->ids_.size()));
  // A copy is optional: nobody else makes room for it. Entries that have just left free theirs with the work in flight.
  if (bytes > std::min(memory_.left(), network_.device->ledger()->left())) return nullptr;
  auto share = memory_.reserve({.bytes = bytes, .what = "a kept prompt", .advice = "keep none"});
  if (!share) return nullptr;
  auto buffer = network_.device->make_buffer(bytes, vulkan::MemoryUse::device, "kept prompt");
  if (!buffer) return nullptr;
  e->buffer_ = std::move(buffer).value();
  e->buffer_.keep(std::make_shared<vulkan::MemoryShare>(std::move(share).value()));
  return e;
}

uint64_t PrefixCache::bytes_of(uint32_t positions) const {
  const model::StackConfig& decoder = network_.config().decoder;
  const KvLayout layout({decoder.kv_heads(), decoder.head_dim}, network_.network.kv_format);
  return uint64_t{decoder.layers} * decoder.kv_heads() * positions * layout.cell_words() * 4;
}

// Memory is asked for without the lock: the ledger may ask the cache for room.
std::shared_ptr<KeptPrefix> PrefixCache::add(const Match& match, std::span<const int32_t> ids, const Reader& reader) {
  ids = ids.first(std::min<size_t>(ids.size(), most_positions(network_.config().decoder)));
  if (ids.size() < uint64_t{match.positions} + kLeast) return nullptr;
  if (!hold_room(match, bytes_of(static_cast<uint32_t>(ids.size()) - match.positions))) return nullptr;
  auto entry = make(match, ids);
  const std::lock_guard lock(mutex_);
  const bool parent_left = match.entry && !match.entry->listed_;
  if (!entry || parent_left || !enabled_) {
    if (match.entry) --match.entry->children_;
    return nullptr;
  }
  entry->maker_ = reader.engine;
  entry->deterministic_ = reader.deterministic;
  entry->listed_ = true;
  entries_.push_back(entry);
  bytes_ += entry->buffer_.size();
  touch(*entry);
  return entry;
}

// Makes room for these bytes, and counts the match's entry as a parent, so that it stays. False: they do not fit.
bool PrefixCache::hold_room(const Match& match, uint64_t bytes) {
  const uint64_t free = std::min(memory_.left(), network_.device->ledger()->left()), share = this->share();
  Entries left;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  if (!enabled_ || bytes > share) return false;
  const uint64_t most = std::min(share, free > share ? share : bytes_ + free);
  uint64_t stays = bytes;  // the new entry and those that it continues
  for (const KeptPrefix* e = match.entry.get(); e; e = e->parent_.get()) stays += e->buffer_.size();
  if (stays > most) return false;
  if (match.entry) ++match.entry->children_;
  while (bytes_ + bytes > most || entries_.size() >= kMostEntries)
    if (!drop_oldest(left)) break;
  const bool fits = bytes_ + bytes <= most && entries_.size() < kMostEntries;
  if (!fits && match.entry) --match.entry->children_;
  return fits;
}

// Only entries without children leave, so that all others can be reached.
bool PrefixCache::drop_oldest(Entries& to) {
  auto oldest = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it)
    if ((*it)->children_ == 0 && (oldest == entries_.end() || (*it)->used_ < (*oldest)->used_)) oldest = it;
  if (oldest == entries_.end()) return false;
  take_out(oldest, to);
  return true;
}

void PrefixCache::take_out(Entries::iterator entry, Entries& to) {
  KeptPrefix& e = **entry;
  e.listed_ = false;
  bytes_ -= e.buffer_.size();
  if (e.parent_) --e.parent_->children_;
  to.splice(to.end(), entries_, entry);
}

void PrefixCache::queued(KeptPrefix& entry) {
  const std::lock_guard lock(mutex_);
  entry.state_ = KeptPrefix::State::queued;
}

void PrefixCache::filled(KeptPrefix& entry) {
  const std::lock_guard lock(mutex_);
  entry.state_ = KeptPrefix::State::filled;
}

void PrefixCache::drop(const KeptPrefix& entry) {
  Entries left;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find_if(entries_, [&](const auto& e) { return e.get() == &entry; });
  if (it != entries_.end()) take_out(it, left);
}

// Its entries are read by nobody else, so their descendants are its own, too.
void PrefixCache::forget(uint64_t engine) {
  Entries left;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto next = std::next(it);
    if ((*it)->maker_ == engine && (*it)->state_ != KeptPrefix::State::filled) take_out(it, left);
    it = next;
  }
}

void PrefixCache::clear() {
  Entries left;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  while (!entries_.empty()) take_out(entries_.begin(), left);
}

uint64_t PrefixCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace lapilli
