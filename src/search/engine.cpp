#include "search/engine.hpp"

#include <algorithm>
#include <bit>

#include "base/format.hpp"
#include "base/log.hpp"
#include "search/allowed_ids.hpp"
#include "search/encode_pass.hpp"
#include "search/encoded_source.hpp"
#include "search/inbox.hpp"

namespace lapilli {

namespace {

// A mark that no earlier session whose memory may be reused has had; never 0, the content of fresh memory.
uint32_t next_session_mark() {
  static std::atomic<uint32_t> last{0};
  const uint32_t mark = ++last;
  return mark ? mark : ++last;
}

bool same_kind(const WorkspaceKey& a, const WorkspaceKey& b) {
  return a.shape.beams == b.shape.beams && a.candidates == b.candidates && a.sample == b.sample &&
         a.renormalize == b.renormalize && a.timestamps == b.timestamps && a.shortlist == b.shortlist &&
         a.capture == b.capture && a.deterministic == b.deterministic && a.steps_per_submit == b.steps_per_submit;
}

// True if every sentence that fits `small` fits `large`.
bool has_room(const WorkspaceKey& large, const WorkspaceKey& small) {
  return large.shape.source_positions >= small.shape.source_positions &&
         large.shape.list_words >= small.shape.list_words && large.encode_rows >= small.shape.source_positions &&
         large.prompt_rows >= small.prompt_rows && large.logits_rows >= small.logits_rows &&
         // Target positions can grow during a search, but prompt ids need theirs from the start.
         (small.prompt_rows == 0 || large.shape.target_positions >= small.shape.target_positions);
}

}  // namespace

uint32_t KnownPositions::of(uint32_t bucket) const {
  const std::lock_guard lock(mutex_);
  const auto it = positions_.find(bucket);
  return it == positions_.end() ? 0 : it->second;
}

void KnownPositions::remember(uint32_t bucket, uint32_t positions) {
  const std::lock_guard lock(mutex_);
  uint32_t& known = positions_[bucket];
  known = std::max(known, positions);
}

SearchEngine::SearchEngine(const Shared& shared, std::unique_ptr<Workspace> workspace, uint32_t first_counter)
    : workspaces_(shared.workspaces),
      known_(shared.known),
      prefixes_(shared.prefixes),
      w_(std::move(workspace)),
      slots_(w_->key.shape.slots),
      lists_(w_->key.shape.list_words),
      session_mark_(next_session_mark()),
      next_mark_(first_counter) {
  for (uint32_t slot = 0; slot < w_->key.shape.slots; ++slot) free_slots_.insert(slot);
  set_up_runner(first_counter);
}

SearchEngine::~SearchEngine() {
  prefixes_.forget(id_);
  if (counts_.ticks > 0)
    log(LogLevel::verbose, format("a search engine ends: %u steps of %u rows in all", counts_.ticks, counts_.rows));
}

void SearchEngine::set_up_runner(uint32_t tick) {
  const WorkspaceKey& key = w_->key;
  RunnerOptions o;
  // With a timeline, a recording's timestamps are read before it runs again.
  const bool timed = workspaces_.network().device->timeline() != nullptr;
  o.steps_per_submit = timed ? 1 : key.steps_per_submit;
  o.submits_in_flight = key.capture || timed ? 1 : 2;
  o.log_stride = state::log_stride(key.shape.rows());
  o.log_ticks = key.shape.log_ticks;
  o.log_mark = session_mark_;
  o.first_tick = tick;
  o.work = WorkLimit::of(workspaces_.network().device->caps());
  o.pace = Pace::of(*workspaces_.network().device);
  runner_ = std::make_unique<StepRunner>(*w_->session, o);
  runner_->on_step = [this](std::span<const uint32_t> log) { return read_step(log); };
  runner_->on_complete = [this](uint64_t) -> Status {
    LAPILLI_CHECK(read_logits());
    for (UploadArea* area : sent_.front().areas) area->busy = false;
    for (const auto& s : sent_.front().entered) s->begun = true;
    for (const auto& prefix : sent_.front().filled) prefixes_.filled(*prefix);
    sent_.pop_front();
    w_->first.reset();
    w_->move.reset();
    w_->moved_from.reset();
    return Status();
  };
}

void SearchEngine::reserve() {
  const std::lock_guard lock(mutex_);
  reserved_ = true;
}

bool SearchEngine::failed() const {
  const std::lock_guard lock(mutex_);
  return !status_;
}

// After a kernel was refused or took too long, plans compiled anew avoid it or cut it finer.
bool SearchEngine::outdated() const {
  const std::lock_guard lock(mutex_);
  const bool idle = unfinished() + pending_.size() == 0;
  return !reserved_ && idle && w_ && w_->plans.basis != PlanBasis::of(*workspaces_.network().device);
}

bool SearchEngine::serves(const WorkspaceKey& key, uint32_t sentences) const {
  const std::lock_guard lock(mutex_);
  const auto there = static_cast<uint32_t>(unfinished() + pending_.size());
  if (!status_ || !w_ || !same_kind(w_->key, key) || !has_room(w_->key, key)) return false;
  if (reserved_) return !key.capture && w_->key.shape.running >= key.shape.running;
  if (there > 0) return !key.capture && there + sentences <= w_->key.shape.slots;
  // More rows than the search wants at a time, or fewer, would not serve it.
  return w_->key.shape.running == key.shape.running && w_->key.shape.slots >= key.shape.slots;
}

uint32_t SearchEngine::busy_with(const WorkspaceKey& key) const {
  const std::lock_guard lock(mutex_);
  return w_ && same_kind(w_->key, key) ? static_cast<uint32_t>(unfinished() + pending_.size()) : 0;
}

void SearchEngine::add(std::span<const std::shared_ptr<Sentence>> sentences) {
  const std::lock_guard lock(mutex_);
  pending_.insert(pending_.end(), sentences.begin(), sentences.end());
  if (!status_) end_all(status_);
}

void SearchEngine::cancel(std::span<const std::shared_ptr<Sentence>> sentences) {
  const std::lock_guard lock(mutex_);
  for (const auto& s : sentences) {
    if (s->ended) continue;
    s->ended = true;
    s->status = fail(ErrorCode::cancelled, "cancelled");
    if (s->serial > 0 && s->log.entries.empty()) ghosts_.insert(s->serial);
    if (preparing_ && preparing_->sentence == s) drop_preparing();
    for (uint32_t slot = 0; slot < slots_.size() && s->admitted; ++slot) {
      if (slots_[slot].sentence != s) continue;
      leave(slot);
      cancelled_.insert(slot);
    }
  }
  // Erases them in one pass: a text may have a hundred thousand sentences.
  std::erase_if(pending_, [](const auto& s) { return s->ended; });
}

Status SearchEngine::pump(double budget_us) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return {};
  if (!status_) return status_;
  status_ = advance(budget_us);
  if (!status_) end_all(status_);
  return status_;
}

Status SearchEngine::wait() {
  std::optional<vulkan::Ticket> ticket;
  bool has_work = false;
  {
    const std::lock_guard lock(mutex_);
    if (status_) ticket = growth_ ? growth_->ticket() : runner_->oldest(), has_work = growth_ || !runner_->idle();
  }
  vulkan::Device& device = *workspaces_.network().device;
  if (ticket) return device.wait(*ticket);
  return has_work ? device.wait_for_gap() : Status();
}

SearchEngine::Counts SearchEngine::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.submissions += runner_->submissions();
  return counts;
}

uint64_t SearchEngine::session_bytes() const {
  const std::lock_guard lock(mutex_);
  return w_ ? w_->session->bytes() : 0;
}

size_t SearchEngine::tuned_nodes() const {
  const std::lock_guard lock(mutex_);
  if (!w_) return 0;
  const WorkspacePlans& p = w_->plans;
  return p.step->tuned() + (p.encode.empty() ? 0 : p.encode.front()->tuned());
}

uint32_t SearchEngine::positions() const {
  const std::lock_guard lock(mutex_);
  return w_ ? w_->key.shape.target_positions : 0;
}

Status SearchEngine::advance(double budget_us) {
  LAPILLI_CHECK(runner_->poll());
  LAPILLI_CHECK(keep_answers());
  // While a sentence is full, no steps are submitted until the session has more positions.
  if (full_ == 0) growth_.reset();
  if (full_ > 0 && runner_->idle()) LAPILLI_CHECK(grow());
  Status status;
  while (runner_->wants_more() && full_ == 0 && feed(status)) LAPILLI_CHECK(runner_->submit(budget_us));
  LAPILLI_CHECK(std::move(status));
  return runner_->submit(budget_us);
}

// Appends the next work; false if there is none.
bool SearchEngine::feed(Status& status) {
  bool fed = false;
  if (stepping() == 0) gap_ = 0;
  if (can_admit()) {
    const uint64_t before = counts_.admissions;
    status = admit();
    if (!status) return false;
    fed = counts_.admissions != before;
  }
  const auto sentences = static_cast<uint32_t>(unfinished() + cancelled_.size());
  if (stepping() == 0) return fed;
  const BoundPlan& step = w_->step_for(std::min(sentences, w_->key.shape.running));
  // One step between two parts of prompts: those that run go on, and those that wait are not far behind.
  runner_->append_steps(step, prompts_wait(fed) ? 1 : ~uint32_t{0});
  counts_.longest_gap = std::max<uint64_t>(counts_.longest_gap, gap_);
  gap_ = 0;
  if (&step != w_->step.get()) ++counts_.narrow_submissions;
  return true;
}

uint32_t SearchEngine::unfinished() const { return static_cast<uint32_t>(slots_.size() - free_slots_.size()); }

// Sentences whose prompts are complete.
uint32_t SearchEngine::stepping() const { return unfinished() - (preparing_ ? 1 : 0); }

// More of prompts follows what is queued. `admitted`: by an admission.
bool SearchEngine::prompts_wait(bool admitted) const {
  const bool next = !pending_.empty() && !free_slots_.empty() && pending_.front()->prompt.size() > 1;
  return preparing_ || (admitted && next);
}

// ---- admission ----------------------------------------------------------------------------------------------------

namespace {

template <class Area>
size_t count_free(const std::vector<std::unique_ptr<Area>>& areas) {
  return static_cast<size_t>(std::count_if(areas.begin(), areas.end(), [](const auto& a) { return !a->busy; }));
}

template <class Area>
Area* free_one(const std::vector<std::unique_ptr<Area>>& areas) {
  const auto it = std::find_if(areas.begin(), areas.end(), [](const auto& a) { return !a->busy; });
  return it == areas.end() ? nullptr : it->get();
}

}  // namespace

bool SearchEngine::can_admit() const {
  if (count_free(w_->admissions) == 0 || (w_->prompt && count_free(w_->prompt_passes) == 0)) return false;
  if (w_->prompt_logits && count_free(w_->logits_passes) == 0) return false;
  // An empty admission makes the device drain its queue.
  if (queue_is_full()) return stepping() == 0;
  if (preparing_) return true;
  const size_t possible = std::min(pending_.size(), free_slots_.size());
  // Admits several at once: the encoder is more efficient with more rows.
  const size_t wanted = std::min<size_t>(pending_.size(), std::max(1u, w_->key.shape.running / 8));
  return possible > 0 ? possible >= wanted : !cancelled_.empty() && unfinished() > 0;
}

// An admission that is being put together.
struct SearchEngine::Admission {
  InboxWriter inbox;
  uint32_t rows = 0;  // of the encode pass
  std::vector<PassSource> sources;
  std::vector<uint32_t> prompt;                  // row words
  std::vector<uint32_t> logits;                  // row words of the rows whose logits are asked for
  std::vector<std::shared_ptr<Sentence>> asked;  // by row of `logits`
  std::vector<Entry> begun, kept, completed;     // with this admission
};

Status SearchEngine::send(UploadArea& area) {
  LAPILLI_CHECK(area.flush());
  area.busy = true;
  sent_.back().areas.push_back(&area);
  runner_->append(area.copy());
  return {};
}

namespace {

// Prompt ids whose keys and values are computed before the first step.
std::span<const int32_t> beginning_of(const Sentence& s) { return std::span(s.prompt).first(s.prompt.size() - 1); }

}  // namespace

// It begins like a sentence of this admission: once that one's prompt is kept, the next admission copies it.
bool SearchEngine::waits(const Admission& a, const Sentence& s, uint32_t known) {
  return std::ranges::any_of(a.kept, [&](const Entry& e) {
    const uint32_t alike = common_beginning(beginning_of(*e.sentence), beginning_of(s));
    return std::min(alike, e.keep->end()) >= known + PrefixCache::kLeast;
  });
}

bool SearchEngine::enter(Admission& a, const std::shared_ptr<Sentence>& s) {
  const WorkspaceKey& key = w_->key;
  if (a.inbox.prompt_ids() >= prompt_id_room(key)) return false;
  if (a.logits.size() + s->logits_at.size() > key.logits_rows) return false;
  if (a.rows + (s->encoded ? 0 : s->source_positions()) > key.encode_rows) return false;
  const uint32_t known = prefixes_.find(beginning_of(*s), reader()).positions;
  if (known + 1 < s->prompt.size() && a.prompt.size() >= key.prompt_rows) return false;
  if (waits(a, *s, known)) return false;
  add_allowed_ids(*s, workspaces_.network().config().target_vocabulary);
  const auto block = lists_.hold(s->words.lists);
  if (!block) return false;
  Entry entry = begin_entry(a, s, *block);
  if (!take_part(a, entry, block->fresh)) preparing_ = std::move(entry);
  return true;
}

// Gives it a slot.
SearchEngine::Entry SearchEngine::begin_entry(Admission& a, const std::shared_ptr<Sentence>& s,
                                              const ListRoom::Block& block) {
  Entry e{s, *free_slots_.begin(), block.offset, prefixes_.find(beginning_of(*s), reader()), nullptr};
  e.keep = prefixes_.add(e.known, beginning_of(*s), reader());
  e.rows = e.known.positions;
  counts_.saved_prompt_rows += e.rows;
  free_slots_.erase(e.slot);
  cancelled_.erase(e.slot);
  slots_[e.slot] = {s, false};
  s->mark = ++next_mark_;
  s->admitted = true;
  s->log.beams = w_->key.shape.beams;
  s->log.prompt_ids = static_cast<uint32_t>(s->prompt.size());
  if (!s->encoded) {
    a.rows += s->source_positions();
    a.sources.push_back({s->source, e.slot, s->global_positions, s->features.get()});
  }
  a.begun.push_back(e);
  return e;
}

// Adds as much of its prompt as there is room for; false if more is left. The last id comes with the last rows, for it
// sends the sentence to the queue.
bool SearchEngine::take_part(Admission& a, Entry& e, bool with_lists) {
  const WorkspaceKey& key = w_->key;
  const auto all = static_cast<uint32_t>(e.sentence->prompt.size()), given = all - 1;
  uint32_t ids = std::min(all, e.ids + prompt_id_room(key) - a.inbox.prompt_ids());
  const auto free_rows = key.prompt_rows - static_cast<uint32_t>(a.prompt.size());
  const bool keeps = e.keep && e.rows < e.keep->end();  // a part ends with what is kept
  const uint32_t rows = std::max(e.rows, std::min({keeps ? e.keep->end() : given, e.rows + free_rows, ids}));
  if (rows < given) ids = std::min(ids, given);
  a.inbox.enter(*e.sentence, e.slot, e.lists, with_lists, {e.ids, ids});
  for (uint32_t i = e.rows; i < rows; ++i) a.prompt.push_back(state::row_word_of(e.slot * key.shape.beams, i));
  counts_.prompt_rows += rows - e.rows;
  e.ids = ids;
  e.rows = rows;
  if (keeps && rows == e.keep->end()) a.kept.push_back(e);
  if (ids == all) complete(a, e);
  return ids == all;
}

void SearchEngine::complete(Admission& a, const Entry& e) {
  const auto& s = e.sentence;
  s->serial = ++serial_;
  for (const uint32_t i : s->logits_at) a.logits.push_back(state::row_word_of(e.slot * w_->key.shape.beams, i));
  a.asked.insert(a.asked.end(), s->logits_at.size(), s);
  a.completed.push_back(e);
}

// Its sentence ends before it began.
void SearchEngine::drop_preparing() {
  if (preparing_->keep && preparing_->rows < preparing_->keep->end()) prefixes_.drop(*preparing_->keep);
  preparing_.reset();
}

Status SearchEngine::admit() {
  const WorkspaceKey& key = w_->key;
  UploadArea& area = *free_one(w_->admissions);
  Admission a{InboxWriter(area.words(StateKind::inbox), key.shape.running)};
  sent_.emplace_back();
  const bool nobody_is_there = stepping() == 0;
  if (preparing_ && !queue_is_full() && take_part(a, *preparing_, false)) preparing_.reset();
  while (!preparing_ && !queue_is_full() && !pending_.empty() && !free_slots_.empty() &&
         a.inbox.sentences() < key.shape.running && enter(a, pending_.front()))
    pending_.pop_front();
  if (a.inbox.sentences() == 0 && cancelled_.empty() && !queue_is_full()) {
    // The next sentence's lists do not fit until another sentence ends.
    sent_.pop_back();
    if (!nobody_is_there) return {};
    return fail(ErrorCode::internal, "a sentence does not fit the session that was made for it");
  }
  if (nobody_is_there) ghosts_.clear();  // "start" finds room for all waiting sentences
  a.inbox.finish(session_mark_, std::vector<uint32_t>(cancelled_.begin(), cancelled_.end()));
  cancelled_.clear();
  const BoundPlan* encode = w_->encode_for(a.rows);
  if (encode) put_pass(area, encode->plan(), a.sources, workspaces_.network().config(), key.shape.source_positions);
  if (w_->first && !w_->first->busy) LAPILLI_CHECK(send(*w_->first));
  LAPILLI_CHECK(send(area));
  runner_->append(*w_->admit);
  if (a.rows > 0) {
    runner_->append(*encode);
    ++counts_.encode_passes;
  }
  for (const Entry& e : a.completed) sent_.back().entered.push_back(e.sentence);
  LAPILLI_CHECK(move_sources(a));
  LAPILLI_CHECK(read_prefixes(a));
  LAPILLI_CHECK(run_prompt(a.prompt));
  LAPILLI_CHECK(keep_prefixes(a));
  LAPILLI_CHECK(run_logits(a));
  runner_->append(*w_->start);
  runner_->name_last(0);
  ++counts_.admissions;
  return {};
}

// Copies sources encoded earlier to their slots, and newly encoded ones to where they are kept.
Status SearchEngine::move_sources(const Admission& a) {
  Sent& sent = sent_.back();
  for (const Entry& e : a.begun) {
    for (const auto& one : {e.sentence->encoded, e.sentence->keep})
      if (one) sent.moved.push_back(one);
  }
  if (sent.moved.empty()) return {};
  return append_copies([&](vulkan::CommandRecording& moves) {
    for (const Entry& e : a.begun) {
      const Sentence& s = *e.sentence;
      if (s.encoded) s.encoded->copy_in(moves, *w_, e.slot);
      if (s.keep && !s.encoded) s.keep->copy_out(moves, *w_, e.slot);
    }
  });
}

Status SearchEngine::append_copies(const std::function<void(vulkan::CommandRecording&)>& copy) {
  LAPILLI_TRY(auto copies, vulkan::CommandRecording::create(workspaces_.network().device));
  LAPILLI_CHECK(copies.begin(vulkan::RecordingUse::single));
  copy(copies);
  LAPILLI_CHECK(copies.end());
  auto& kept = sent_.back().copies.emplace_back(std::make_unique<vulkan::CommandRecording>(std::move(copies)));
  runner_->append(*kept);
  return {};
}

// Copies the beginnings of prompts that ran before.
Status SearchEngine::read_prefixes(const Admission& a) {
  for (const Entry& e : a.begun)
    if (e.known.entry) sent_.back().read.push_back(e.known.entry);
  if (sent_.back().read.empty()) return {};
  return append_copies([&](vulkan::CommandRecording& copies) {
    for (const Entry& e : a.begun)
      if (e.known.entry) e.known.entry->copy_in(copies, *w_, e.slot, e.known.positions);
  });
}

// Keeps the rest of each prompt for later ones.
Status SearchEngine::keep_prefixes(const Admission& a) {
  for (const Entry& e : a.kept) sent_.back().filled.push_back(e.keep);
  if (sent_.back().filled.empty()) return {};
  LAPILLI_CHECK(append_copies([&](vulkan::CommandRecording& copies) {
    for (const Entry& e : a.kept) e.keep->copy_out(copies, *w_, e.slot);
  }));
  for (const auto& prefix : sent_.back().filled) prefixes_.queued(*prefix);
  return {};
}

// Computes the keys and values of prompt ids, in one pass; further parts of long prompts follow in later admissions.
Status SearchEngine::run_prompt(std::span<const uint32_t> rows) {
  if (rows.empty()) return {};
  UploadArea* area = free_one(w_->prompt_passes);
  if (!area) return fail(ErrorCode::internal, "no area is free for %u rows of prompt ids", rows.size());
  put_prompt_rows(*area, *w_->plans.prompt, rows);
  LAPILLI_CHECK(send(*area));
  runner_->append(*w_->prompt);
  ++counts_.prompt_passes;
  ++gap_;
  return {};
}

// The keys and values of these rows exist; the few rows whose logits are asked for run once more, up to the logits.
Status SearchEngine::run_logits(const Admission& a) {
  if (a.logits.empty()) return {};
  LogitsPass* pass = free_one(w_->logits_passes);
  if (!pass) return fail(ErrorCode::internal, "no area is free for %u rows of logits", a.logits.size());
  put_prompt_rows(pass->area(), *w_->plans.prompt_logits, a.logits);
  LAPILLI_CHECK(send(pass->area()));
  runner_->append(*w_->prompt_logits);
  runner_->append(pass->copy());
  pass->busy = true;
  sent_.back().logits = pass;
  sent_.back().asked = a.asked;
  return {};
}

// ---- harvest ------------------------------------------------------------------------------------------------------

Status SearchEngine::read_step(std::span<const uint32_t> log) {
  const auto& shape = w_->key.shape;
  const uint32_t ran = log[state::LOG_RAN];
  if (ran > shape.rows() || ran % shape.beams != 0)
    return fail(ErrorCode::internal, "the step log has %u rows of %u", ran, shape.rows());
  if (ran > 0) ++counts_.ticks;  // submissions in flight run on after the last sentence ends
  counts_.rows += ran;
  // Steps without rows were submitted before the sentences that wait now.
  if (ran > 0 && (!pending_.empty() || unfinished() > shape.running)) {
    counts_.queued_rows += ran;
    counts_.queued_room += shape.rows();
  }
  for (uint32_t r = 0; r < ran; r += shape.beams) LAPILLI_CHECK(read_sentence(log.data() + state::log_entry_at(r)));
  return on_captured_step ? on_captured_step(log, *w_) : Status{};
}

// Reads the logits of the admission that has just completed.
Status SearchEngine::read_logits() {
  const Sent& sent = sent_.front();
  if (!sent.logits) return {};
  for (size_t row = 0; row < sent.asked.size(); ++row) {
    LAPILLI_TRY(const auto logits, sent.logits->read(row));
    if (!sent.asked[row]->ended) sent.asked[row]->logits.emplace_back(logits.begin(), logits.end());
  }
  sent.logits->busy = false;
  return {};
}

Status SearchEngine::read_sentence(const uint32_t* entries) {
  const auto& shape = w_->key.shape;
  const uint32_t beam_slot = state::beam_slot_of(entries[state::LOG_ROW]),
                 position = state::position_of(entries[state::LOG_ROW]);
  const uint32_t slot = beam_slot / shape.beams;
  if (slot >= slots_.size() || beam_slot % shape.beams != 0)
    return fail(ErrorCode::internal, "the step log names beam slot %u of %u", beam_slot, shape.beam_slots());
  const std::shared_ptr<Sentence> s = slots_[slot].sentence;
  // Steps in flight may still log a sentence that has left its slot.
  if (!s || entries[state::LOG_OCCUPANT] != s->mark) return {};
  if (position + 1 < s->log.prompt_ids || s->log.step_at(position) != s->log.steps())
    return fail(ErrorCode::internal, "the step log has position %u behind %u ids and %u steps", position,
                s->log.prompt_ids, s->log.steps());
  // The queue is in order: all sentences admitted before this one have left it.
  if (s->log.entries.empty()) ghosts_.erase(ghosts_.begin(), ghosts_.lower_bound(s->serial));
  for (uint32_t b = 0; b < shape.beams; ++b) {
    const uint32_t* e = entries + uint64_t{b} * state::LOG_ENTRY;
    s->log.entries.push_back({static_cast<int32_t>(e[state::LOG_TOKEN]), e[state::LOG_PARENT],
                              std::bit_cast<float>(e[state::LOG_RUNNING]), e[state::LOG_NOTE]});
  }
  s->rows_run += shape.beams;
  const uint32_t note = entries[state::LOG_NOTE];
  if (note & state::LOG_NOTE_ENDED) {
    // Keys of a passing fault of the device would go on in prompts that begin alike.
    if (note & state::LOG_NOTE_FAILED) prefixes_.clear();
    read_result(*s, entries, note);
    keep_answer(*s, slot);
    leave(slot);
  } else if (position + 2 >= shape.target_positions) {
    slots_[slot].full = true;
    ++full_;
  }
  return {};
}

void SearchEngine::read_result(Sentence& s, const uint32_t* entries, uint32_t note) {
  s.ended = true;
  if (note & state::LOG_NOTE_FAILED) {
    s.status = fail(ErrorCode::invalid_data,
                    "the model's scores behind %u ids are no numbers: its weights, or this device, cannot compute this "
                    "input",
                    s.prompt.size() + s.log.steps() - 1);
    return;
  }
  const uint32_t count = std::min(note >> state::LOG_NOTE_COUNT_SHIFT, s.log.beams);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t* f = entries + uint64_t{i} * state::LOG_ENTRY + state::LOG_FINISHED;
    s.finished.push_back({std::bit_cast<float>(f[state::FINISHED_SCORE]), f[state::FINISHED_POSITION],
                          f[state::FINISHED_BEAM], static_cast<int32_t>(f[state::FINISHED_TOKEN])});
  }
  if (count == 0) s.status = fail(ErrorCode::internal, "a search has ended without a hypothesis");
}

void SearchEngine::leave(uint32_t slot) {
  Sentence& sentence = *slots_[slot].sentence;
  lists_.release(sentence.words.lists);
  drop_allowed_ids(sentence);
  if (slots_[slot].full) --full_;
  slots_[slot] = {};
  free_slots_.insert(slot);
}

void SearchEngine::end_all(const Status& status) {
  const auto end = [&](Sentence& s) {
    if (s.ended) return;
    s.ended = true;
    s.status = status;
  };
  for (const auto& s : pending_) end(*s);
  for (const Occupant& o : slots_)
    if (o.sentence) end(*o.sentence);
  pending_.clear();
  preparing_.reset();
  answers_.clear();
  prefixes_.forget(id_);
  if (status.error().code == ErrorCode::device_lost) prefixes_.clear();
}

// ---- more positions -----------------------------------------------------------------------------------------------

WorkspaceKey SearchEngine::grown_key() const {
  WorkspaceKey key = w_->key;
  uint32_t longest = 0;
  for (const Occupant& o : slots_)
    if (o.full) longest = std::max(longest, o.sentence->options.max_length);
  key.shape.target_positions = length_bucket(std::min(longest, 2 * key.shape.target_positions));
  return key;
}

void SearchEngine::remember_positions() {
  const SessionShape& shape = w_->key.shape;
  if (workspaces_.network().config().kind().encodes)
    return known_.remember(shape.source_positions, shape.target_positions);
  for (const Occupant& o : slots_)
    if (o.full) known_.remember(length_bucket(o.sentence->prompt.size()), shape.target_positions);
}

// Ends the sentences that need more positions; the others go on.
void SearchEngine::end_full(const Error& error) {
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].full) continue;
    const auto s = slots_[slot].sentence;
    s->ended = true;
    s->status = error;
    leave(slot);
    cancelled_.insert(slot);
  }
}

// Kept prompts, which are optional, make room.
Result<std::unique_ptr<Workspace>> SearchEngine::grown(const WorkspaceKey& key) {
  auto made = workspaces_.grow(w_, key);
  if (made || !w_ || made.error().code != ErrorCode::out_of_memory || prefixes_.bytes() == 0) return made;
  prefixes_.clear();
  workspaces_.network().device->settle();
  return workspaces_.grow(w_, key);
}

// Grows at once if the kernels for more positions are proven; otherwise they are on trial, and a later pump grows.
Status SearchEngine::grow() {
  const WorkspaceKey key = grown_key();
  if (!growth_ || !(growth_->key() == key)) growth_.emplace(workspaces_.plans(), key);
  auto proven = growth_->poll();
  if (proven && !*proven) return {};
  growth_.reset();
  const uint32_t tick = runner_->tick();
  auto larger = proven ? grown(key) : Result<std::unique_ptr<Workspace>>(std::move(proven).error());
  if (!larger) {
    const ErrorCode code = larger.error().code;
    const bool too_much = code == ErrorCode::out_of_memory || code == ErrorCode::unsupported;
    if (!too_much || !w_) return std::move(larger).failure();
    end_full(larger.error());
    return {};
  }
  counts_.submissions += runner_->submissions();
  w_ = std::move(larger).value();
  remember_positions();
  set_up_runner(tick);
  for (Occupant& o : slots_) o.full = false;
  full_ = 0;
  sent_.emplace_back();
  LAPILLI_CHECK(send(*w_->first));
  runner_->append(*w_->move);
  runner_->append(*w_->start);
  runner_->name_last(0);
  return {};
}

}  // namespace lapilli
