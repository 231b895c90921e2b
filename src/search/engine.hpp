// The search engine: sentences of any number of searches share one session, each at its own position and with its own
// options. Sources are encoded ahead into free slots; the device starts the next one when a sentence ends.
//
//   pending --admit--> waiting (on the device) --> running --> ended: its slot is free for the next one
//
// Thread-safe and non-blocking. Each search pumps the engine that has its sentences, whichever search's work comes
// next.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "runtime/run/runner.hpp"
#include "search/encode_pass.hpp"
#include "search/list_room.hpp"
#include "search/prefix_cache.hpp"
#include "search/sentence.hpp"
#include "search/workspace.hpp"

namespace lapilli {

// Positions that searches have needed so far, by length bucket of the source, or, of a decoder alone, of the prompt.
// Thread-safe.
class KnownPositions {
 public:
  [[nodiscard]] uint32_t of(uint32_t bucket) const;
  void remember(uint32_t bucket, uint32_t positions);

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, uint32_t> positions_;
};

class SearchEngine {
 public:
  // Parts that the engines of a model share; they outlive the engine.
  struct Shared {
    WorkspaceFactory& workspaces;
    KnownPositions& known;
    PrefixCache& prefixes;
  };
  // `first_counter` is the one the workspace was made with.
  SearchEngine(const Shared& shared, std::unique_ptr<Workspace> workspace, uint32_t first_counter);
  ~SearchEngine();
  SearchEngine(const SearchEngine&) = delete;
  SearchEngine& operator=(const SearchEngine&) = delete;

  // Keeps the engine for sentences that fit it one by one: any number of them may come from now on, and wait.
  void reserve();
  // It has ended all its sentences with an error, and takes no more.
  [[nodiscard]] bool failed() const;
  // It is idle, and its plans would be compiled differently by now.
  [[nodiscard]] bool outdated() const;
  // True if this many more sentences of this kind may come: each fits, and there are slots for all of them.
  [[nodiscard]] bool serves(const WorkspaceKey& key, uint32_t sentences) const;
  // Number of unfinished sentences of this kind.
  [[nodiscard]] uint32_t busy_with(const WorkspaceKey& key) const;
  // Appends them to the queue for slots; first come, first served.
  void add(std::span<const std::shared_ptr<Sentence>> sentences);
  // Ends those that have not ended as cancelled. Results of steps in flight are dropped.
  void cancel(std::span<const std::shared_ptr<Sentence>> sentences);

  // Submits what fits, polls, harvests; does nothing if another thread is doing so. An error ends all sentences and the
  // engine. Submits only until the device is expected to be busy for `budget_us`, counting what is in flight; at least
  // the smallest piece if nothing is.
  Status pump(double budget_us = std::numeric_limits<double>::infinity());
  // Between two searches nobody pumps: takes note of copies that have ended since.
  void look_after_copies();
  // Waits, bounded, for the oldest submission in flight now, if there is one, or for kernels on trial.
  Status wait();

  struct Counts {
    uint64_t ticks = 0, rows = 0;               // steps, and the rows that ran in them
    uint64_t queued_rows = 0, queued_room = 0;  // of steps while others waited: rows that ran, and rows available
    uint64_t submissions = 0, narrow_submissions = 0, admissions = 0, encode_passes = 0;
    uint64_t prompt_rows = 0, saved_prompt_rows = 0;  // rows of prompt ids that ran, and that were copied instead
    uint64_t prompt_passes = 0, longest_gap = 0;      // passes of these rows, and the most between two steps
  };
  [[nodiscard]] Counts counts() const;
  [[nodiscard]] uint64_t session_bytes() const;
  // Nodes of the step and the largest encode pass that run as tuned.
  [[nodiscard]] size_t tuned_nodes() const;
  [[nodiscard]] uint32_t positions() const;  // that the session has room for now
  // Runs `look` under the engine's lock, to read sentences.
  template <class Look>
  auto locked(Look&& look) const {
    const std::lock_guard lock(mutex_);
    return look();
  }
  // For capturing searches: called after every step, with nothing in flight.
  std::function<Status(std::span<const uint32_t> log, const Workspace& workspace)> on_captured_step;

 private:
  Status advance(double budget_us);
  bool feed(Status& status);
  void set_up_runner(uint32_t tick);
  [[nodiscard]] bool can_admit() const;
  [[nodiscard]] bool queue_is_full() const { return ghosts_.size() + slots_.size() > state::MAX_ROWS; }
  [[nodiscard]] uint32_t unfinished() const;
  [[nodiscard]] uint32_t stepping() const;
  [[nodiscard]] bool prompts_wait(bool admitted) const;

  // Admission.
  struct Admission;
  // A sentence that has a slot, until the last part of its prompt is queued.
  struct Entry {
    std::shared_ptr<Sentence> sentence;
    uint32_t slot = 0, lists = 0;      // lists: their offset
    PrefixCache::Match known;          // the beginning of its prompt that is copied
    std::shared_ptr<KeptPrefix> keep;  // receives the rest; null: not kept
    uint32_t ids = 0, rows = 0;        // of its prompt, so far: ids sent, and positions computed or copied
  };
  Status admit();
  bool enter(Admission& admission, const std::shared_ptr<Sentence>& sentence);
  Entry begin_entry(Admission& admission, const std::shared_ptr<Sentence>& sentence, const ListRoom::Block& block);
  bool take_part(Admission& admission, Entry& entry, bool with_lists);
  void complete(Admission& admission, const Entry& entry);
  void drop_preparing();
  Status run_prompt(std::span<const uint32_t> rows);
  Status run_logits(const Admission& admission);
  Status move_sources(const Admission& admission);
  [[nodiscard]] PrefixCache::Reader reader() const { return {id_, w_->key.deterministic}; }
  [[nodiscard]] static bool waits(const Admission& admission, const Sentence& sentence, uint32_t known);
  Status read_prefixes(const Admission& admission);
  Status keep_prefixes(const Admission& admission);
  Status append_copies(const std::function<void(vulkan::CommandRecording&)>& copy);
  Status read_logits();
  Status send(UploadArea& area);

  // Harvest.
  Status read_step(std::span<const uint32_t> log);
  Status read_sentence(const uint32_t* entries);
  static void read_result(Sentence& sentence, const uint32_t* entries, uint32_t note);
  void keep_answer(const Sentence& sentence, uint32_t slot);
  Status keep_answers();
  void leave(uint32_t slot);
  void end_all(const Status& status);
  [[nodiscard]] WorkspaceKey grown_key() const;
  void remember_positions();
  Result<std::unique_ptr<Workspace>> grown(const WorkspaceKey& key);
  Status grow();
  void end_full(const Error& error);

  WorkspaceFactory& workspaces_;
  KnownPositions& known_;
  PrefixCache& prefixes_;
  const uint64_t id_ = PrefixCache::next_engine();
  mutable std::mutex mutex_;
  std::unique_ptr<Workspace> w_;
  std::unique_ptr<StepRunner> runner_;
  Status status_;
  std::deque<std::shared_ptr<Sentence>> pending_;
  struct Occupant {
    std::shared_ptr<Sentence> sentence;
    bool full = false;
  };
  std::vector<Occupant> slots_;
  std::optional<Entry> preparing_;  // enters again with the next admission
  // The positions that texts wrote which have just ended, until its copies are queued.
  struct Answer {
    std::shared_ptr<KeptPrefix> keep;
    uint32_t slot = 0;
  };
  std::vector<Answer> answers_;
  std::set<uint32_t> free_slots_;  // lowest first, so that the order of rows does not depend on past sentences
  std::set<uint32_t> cancelled_;   // slots whose sentences the device does not know to be cancelled yet
  // Sentences cancelled before they were seen to run: the device's queue, a ring, may still name their slots.
  std::set<uint64_t> ghosts_;
  uint64_t serial_ = 0;
  ListRoom lists_;
  bool reserved_ = false;
  uint32_t session_mark_ = 0, next_mark_ = 0, full_ = 0, gap_ = 0;  // gap_: passes of prompt rows since the last step
  std::optional<PlanCache::Preparation> growth_;                    // while sentences wait for more positions
  // The resources of an admission until it completes.
  struct Sent {
    std::vector<UploadArea*> areas;
    std::vector<std::shared_ptr<Sentence>> entered;
    std::vector<std::unique_ptr<vulkan::CommandRecording>> copies;
    std::vector<std::shared_ptr<const EncodedSource>> moved;
    std::vector<std::shared_ptr<KeptPrefix>> read, filled;
    LogitsPass* logits = nullptr;
    std::vector<std::shared_ptr<Sentence>> asked;  // for logits: by row of the pass
  };
  std::deque<Sent> sent_;  // in order
  Counts counts_;
};

}  // namespace lapilli
