#include "search/engine_pool.hpp"

#include <algorithm>
#include <bit>

namespace lapilli {

namespace {
constexpr size_t kFreeEngines = 4;  // kept for the next job
}  // namespace

// Source ids that one admission brings at most, if it brings more than one source: what keeps the device busy.
constexpr uint64_t kMostEncodeRows = 2048;

uint32_t EnginePool::encode_room(uint32_t running, uint32_t source_positions, uint64_t all_ids) const {
  // The keys and values of all their rows in one head lie in one binding; half of it, for what is asked for is rounded
  // up.
  const uint64_t row_bytes = 2 * uint64_t{std::max(1u, workspaces_.network().config().encoder.head_dim)} * 4;
  const uint64_t bound = workspaces_.network().device->caps().max_storage_range / row_bytes / 2;
  const uint64_t most = std::max<uint64_t>(source_positions, std::min(kMostEncodeRows, bound));
  return length_bucket(std::min({all_ids, most, uint64_t{running} * source_positions}));
}

// Who finds others of its kind at work gets a session with room for more of them.
WorkspaceKey EnginePool::wider(WorkspaceKey key, uint32_t others) const {
  constexpr uint32_t kSharedSentences = 32;
  SessionShape& s = key.shape;
  const uint32_t waiting = s.places - s.running;
  const uint32_t wanted = std::bit_ceil(2 * std::min(others + s.running, kMaxRows));
  s.running = std::max(s.running, std::min({wanted, kSharedSentences, kMaxRows / s.beams}));
  key.encode_rows = encode_room(s.running, s.source_positions, uint64_t{s.running} * s.source_positions);
  complete_key(key, waiting);
  key.narrow = narrow_pays(s);
  return key;
}

// Where grids follow the live rows, all that is left to win is the choice of variants for few rows: measured, it pays
// for the compiling and binding only where very many rows become few (docs/performance.md).
bool EnginePool::narrow_pays(const SessionShape& shape) const {
  const bool few_beams = shape.beams == 1 && narrow_from > 0;
  return !workspaces_.network().device->caps().indirect_dispatch || (!few_beams && shape.rows() >= narrow_from);
}

Result<std::shared_ptr<SearchEngine>> EnginePool::take(const WorkspaceKey& key, uint32_t sentences) {
  forget_failed();
  uint32_t others = 0;
  {
    std::lock_guard lock(mutex_);
    for (auto it = engines_.begin(); it != engines_.end(); ++it) {
      if ((*it)->serves(key, sentences)) {
        engines_.splice(engines_.begin(), engines_, it);
        return engines_.front();
      }
      if (!key.capture) others += (*it)->busy_with(key);
    }
  }
  if (others > 0) {
    auto shared = make(wider(key, others));
    const bool too_large =
        !shared && (shared.error().code == ErrorCode::out_of_memory || shared.error().code == ErrorCode::unsupported);
    if (!too_large) return shared;
  }
  return make_in_any_case(key);
}

Result<std::shared_ptr<SearchEngine>> EnginePool::reserve(const WorkspaceKey& key, uint32_t sources) {
  forget_failed();
  std::shared_ptr<SearchEngine> engine;
  {
    const std::lock_guard lock(mutex_);
    const auto suits = [&](const auto& e) { return e->serves(key, 0) && e->positions() >= key.shape.target_positions; };
    const auto it = std::find_if(reserved_.begin(), reserved_.end(), suits);
    if (it != reserved_.end()) engine = *it;
  }
  if (!engine) {
    LAPILLI_TRY(engine, make_in_any_case(key));
    engine->reserve();
    const std::lock_guard lock(mutex_);
    reserved_.push_back(engine);
  }
  reserved_sources_ = sources;
  return engine;
}

uint32_t EnginePool::usual_sources(uint32_t otherwise) const {
  const uint32_t kept = reserved_sources_;
  return kept ? kept : otherwise;
}

void EnginePool::forget_failed() {
  std::list<std::shared_ptr<SearchEngine>> dropped;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  for (auto it = reserved_.begin(); it != reserved_.end();) {
    const auto next = std::next(it);
    if ((*it)->failed()) dropped.splice(dropped.end(), reserved_, it);
    it = next;
  }
}

Result<std::shared_ptr<SearchEngine>> EnginePool::make_in_any_case(const WorkspaceKey& key) {
  auto made = make(key);
  if (made || made.error().code != ErrorCode::out_of_memory) return made;
  // Engines that nobody uses may be in the way; their memory comes back once what was submitted before is done, also of
  // other jobs.
  drop_free();
  workspaces_.network().device->settle();
  return make(key);
}

Result<std::shared_ptr<SearchEngine>> EnginePool::make(const WorkspaceKey& key) {
  const uint32_t counter = first_counter;
  LAPILLI_TRY(auto workspace, workspaces_.make(key, counter));
  auto engine = std::make_shared<SearchEngine>(workspaces_, known_, std::move(workspace), counter);
  std::list<std::shared_ptr<SearchEngine>> dropped;  // destroyed outside the lock
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
  std::list<std::shared_ptr<SearchEngine>> dropped;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  dropped.swap(reserved_);
  reserved_sources_ = 0;
}

void EnginePool::drop_free() {
  std::list<std::shared_ptr<SearchEngine>> dropped;
  std::lock_guard lock(mutex_);
  for (auto it = engines_.begin(); it != engines_.end();) {
    const auto next = std::next(it);
    if (it->use_count() == 1) dropped.splice(dropped.end(), engines_, it);
    it = next;
  }
}

}  // namespace lapilli
