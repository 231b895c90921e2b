#include "search/engine_pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace lapilli {

namespace {

constexpr size_t kFreeEngines = 4;         // kept for the next search
constexpr uint32_t kSharedSentences = 32;  // that run at a time, of a search that finds others at work

// Keys of unused engines that serve a search with company: the widest first, for others will come.
std::vector<WorkspaceKey> as_wide(const WorkspaceKey& key) {
  std::vector<WorkspaceKey> keys;
  for (uint32_t running = kSharedSentences; running > key.shape.running; running /= 2) {
    keys.push_back(key);
    keys.back().shape.running = keys.back().shape.slots = running;
  }
  keys.push_back(key);
  return keys;
}

}  // namespace

// Limit on source ids of an admission of more than one source: enough to keep the device busy.
constexpr uint64_t kMostEncodeRows = 2048;

uint32_t EnginePool::encode_room(uint32_t running, uint32_t source_positions, uint64_t all_ids) const {
  // The keys and values of all rows in one head must fit one binding; half of it, because the request is rounded up.
  const uint64_t row_bytes = 2 * uint64_t{std::max(1u, workspaces_.network().config().encoder.head_dim)} * 4;
  const uint64_t bound = workspaces_.network().device->caps().max_storage_range / row_bytes / 2;
  const uint64_t most = std::max<uint64_t>(source_positions, std::min(kMostEncodeRows, bound));
  return length_bucket(std::min({all_ids, most, uint64_t{running} * source_positions}));
}

// A search that finds others of its kind at work gets a session with room for more of them, of usual lengths.
// `prepares`: with the most that run at a time, others wait on the device, so that one starts when another ends.
WorkspaceKey EnginePool::wider(WorkspaceKey key, uint32_t others, bool prepares) const {
  constexpr uint32_t kSharedPositions = 32, kRoomForMore = 4;
  const bool encodes = workspaces_.network().config().kind().encodes;
  SessionShape& s = key.shape;
  const uint32_t most = std::min(kSharedSentences, state::MAX_ROWS / s.beams);
  const uint32_t wanted = std::bit_ceil(kRoomForMore * std::min(others + s.running, state::MAX_ROWS));
  uint32_t waiting = s.slots - s.running;
  s.running = std::max(s.running, std::min(wanted, most));
  if (prepares && s.running >= most) waiting = std::max(waiting, prepared_beside(s.running, encodes));
  if (encodes) s.source_positions = std::max(s.source_positions, kSharedPositions);
  key.encode_rows = encode_room(s.running, s.source_positions, uint64_t{s.running} * s.source_positions);
  complete_key(key, waiting);
  key.narrow = narrow_pays(s);
  return key;
}

// Where grids follow the live rows, narrower steps only gain better variants for few rows. By measurement, that pays
// for compiling and binding only where very many rows become few (docs/decisions/narrower-steps.md).
bool EnginePool::narrow_pays(const SessionShape& shape) const {
  const bool few_beams = shape.beams == 1 && narrow_from > 0;
  return !workspaces_.network().device->caps().indirect_dispatch || (!few_beams && shape.rows() >= narrow_from);
}

// They are asked without the pool's lock: an engine that holds its own lock may ask the pool for room (drop_free). Weak
// pointers, because owning ones would mark the engines as used.
std::vector<std::weak_ptr<SearchEngine>> EnginePool::there(const Engines& engines) {
  const std::lock_guard lock(mutex_);
  return {engines.begin(), engines.end()};
}

template <class Ask>
std::shared_ptr<SearchEngine> EnginePool::first_that(const Engines& engines, Ask ask) {
  for (const auto& weak : there(engines))
    if (auto engine = weak.lock(); engine && ask(*engine)) return engine;
  return nullptr;
}

// Steps of many rows cost less a row than steps of few.
std::shared_ptr<SearchEngine> EnginePool::busiest(const WorkspaceKey& key, uint32_t sentences) {
  std::shared_ptr<SearchEngine> found;
  uint32_t most = 0;
  for (const auto& weak : there(engines_)) {
    auto engine = weak.lock();
    if (!engine || !engine->serves(key, sentences)) continue;
    const uint32_t busy = engine->busy_with(key);
    if (found && busy <= most) continue;
    most = busy;
    found = std::move(engine);
  }
  return found;
}

std::shared_ptr<SearchEngine> EnginePool::find(const Wanted& wanted) {
  forget_failed();
  forget_outdated();
  (void)first_that(engines_, [](auto& e) { return e.look_after_copies(), false; });
  if (wanted.reserve_for) return find_reserved(wanted.key);
  auto found = busiest(wanted.key, wanted.sentences);
  const std::lock_guard lock(mutex_);
  const auto it = std::find(engines_.begin(), engines_.end(), found);
  if (it != engines_.end()) engines_.splice(engines_.begin(), engines_, it);
  return found;
}

std::shared_ptr<SearchEngine> EnginePool::find_reserved(const WorkspaceKey& key) {
  return first_that(reserved_,
                    [&](const auto& e) { return e.serves(key, 0) && e.positions() >= key.shape.target_positions; });
}

// Number of unfinished sentences of searches of this kind.
uint32_t EnginePool::others_at_work(const WorkspaceKey& key) {
  uint32_t others = 0;
  (void)first_that(engines_, [&](const auto& engine) {
    others += engine.busy_with(key);
    return false;
  });
  return others;
}

void EnginePool::reserve(const std::shared_ptr<SearchEngine>& engine) {
  engine->reserve();
  const std::lock_guard lock(mutex_);
  reserved_.push_back(engine);
}

EnginePool::Taking::Taking(EnginePool& pool, const Wanted& wanted)
    : pool_(pool), wanted_(wanted), may_widen_(!wanted.reserve_for && !wanted.key.capture) {
  prepare(wanted_.key);
}

void EnginePool::Taking::prepare(const WorkspaceKey& key) { preparation_.emplace(pool_.workspaces_.plans(), key); }

void EnginePool::Taking::widen(uint32_t others) {
  const WorkspaceKey widest = pool_.wider(wanted_.key, others, true), wide = pool_.wider(wanted_.key, others, false);
  if (!(wide == widest)) narrower_.push_back(wide);
  narrower_.push_back(wanted_.key);
  prepare(widest);
}

// False: there is nothing smaller.
bool EnginePool::Taking::narrow() {
  if (!widened()) return false;
  prepare(narrower_.front());
  narrower_.erase(narrower_.begin());
  return true;
}

// Looks for others at work until it finds some, then no more, so that it ends even if others keep coming and going.
Result<std::shared_ptr<SearchEngine>> EnginePool::Taking::poll() {
  for (;;) {
    auto engine = pool_.find(wanted_);
    const uint32_t others = !engine && may_widen_ ? pool_.others_at_work(wanted_.key) : 0;
    if (others > 0) widen(others);
    if (others > 0) may_widen_ = false;
    if (widened())
      for (const WorkspaceKey& key : as_wide(preparation_->key()))
        if (!engine) engine = pool_.busiest(key, wanted_.sentences);
    if (!engine) {
      auto made = make();
      const bool too_large =
          !made && (made.error().code == ErrorCode::out_of_memory || made.error().code == ErrorCode::unsupported);
      if (too_large && narrow()) continue;
      LAPILLI_TRY(engine, std::move(made));
    }
    if (engine && wanted_.reserve_for) pool_.reserved_sources_ = *wanted_.reserve_for;
    return engine;
  }
}

// Null: its kernels are on trial.
Result<std::shared_ptr<SearchEngine>> EnginePool::Taking::make() {
  auto proven = preparation_->poll();
  if (!proven && proven.error().code == ErrorCode::out_of_memory && !std::exchange(made_room_, true)) {
    pool_.make_room();
    proven = preparation_->poll();
  }
  if (!proven) return std::move(proven).failure();
  if (!*proven) return std::shared_ptr<SearchEngine>();
  const WorkspaceKey& key = preparation_->key();
  LAPILLI_TRY(auto engine, widened() ? pool_.make(key) : pool_.make_in_any_case(key));
  if (wanted_.reserve_for) pool_.reserve(engine);
  return engine;
}

uint32_t EnginePool::usual_sources(uint32_t otherwise) const {
  const uint32_t kept = reserved_sources_;
  return kept ? kept : otherwise;
}

void EnginePool::forget_failed() {
  while (const auto failed = first_that(reserved_, [](const auto& e) { return e.failed(); })) {
    const std::lock_guard lock(mutex_);
    reserved_.remove(failed);
  }
}

void EnginePool::forget_outdated() {
  while (const auto outdated = first_that(engines_, [](const auto& e) { return e.outdated(); })) {
    const std::lock_guard lock(mutex_);
    engines_.remove(outdated);
  }
}

Result<std::shared_ptr<SearchEngine>> EnginePool::make_in_any_case(const WorkspaceKey& key) {
  auto made = make(key);
  if (made || made.error().code != ErrorCode::out_of_memory) return made;
  make_room();
  return make(key);
}

// Drops unused engines, which may hold the memory; it is free once earlier submissions, also of other searches, are
// done.
void EnginePool::make_room() {
  drop_free();
  workspaces_.network().device->settle();
}

Result<std::shared_ptr<SearchEngine>> EnginePool::make(const WorkspaceKey& key) {
  const uint32_t counter = first_counter;
  LAPILLI_TRY(auto workspace, workspaces_.make(key, counter));
  auto engine = std::make_shared<SearchEngine>(SearchEngine::Shared{workspaces_, known_, prefixes_},
                                               std::move(workspace), counter);
  Engines dropped;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  engines_.push_front(engine);
  size_t kept = 0;
  for (auto it = engines_.begin(); it != engines_.end();) {
    const auto next = std::next(it);
    if (it->use_count() == 1 && ++kept > kFreeEngines) dropped.splice(dropped.end(), engines_, it);
    it = next;
  }
  return engine;
}

void EnginePool::forget_reserved() {
  Engines dropped;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  dropped.swap(reserved_);
  reserved_sources_ = 0;
}

void EnginePool::drop_free() {
  prefixes_.clear();
  Engines dropped;
  std::lock_guard lock(mutex_);
  for (auto it = engines_.begin(); it != engines_.end();) {
    const auto next = std::next(it);
    if (it->use_count() == 1) dropped.splice(dropped.end(), engines_, it);
    it = next;
  }
}

}  // namespace lapilli
