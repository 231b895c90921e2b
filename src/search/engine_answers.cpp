// Positions that a text's search wrote are kept for prompts that go on behind it, such as the next turn of a chat.
#include <limits>

#include "search/engine.hpp"

namespace lapilli {

// The last id has no keys. Steps sum in another order than prompts, so searches in one order keep nothing. Where a ring
// has come round, the first positions are gone.
void SearchEngine::keep_answer(const Sentence& s, uint32_t slot) {
  if (!s.keep_answer || !s.status || s.log.beams != 1 || w_->key.deterministic) return;
  std::vector<int32_t> ids = s.prompt;
  for (uint32_t step = 0; step + 1 < s.log.steps(); ++step) ids.push_back(s.log.at(step, 0).token);
  auto keep = prefixes_.add(prefixes_.find(ids, reader()), ids, reader());
  if (!keep) return;
  if (keep->end() == ids.size())
    answers_.push_back({std::move(keep), slot});
  else
    prefixes_.drop(*keep);
}

// The copies are queued before anything else can enter the slots.
Status SearchEngine::keep_answers() {
  if (answers_.empty()) return {};
  Sent& sent = sent_.emplace_back();
  for (const Answer& a : answers_) sent.filled.push_back(a.keep);
  LAPILLI_CHECK(append_copies([&](vulkan::CommandRecording& copies) {
    for (const Answer& a : answers_) a.keep->copy_out(copies, *w_, a.slot);
  }));
  runner_->name_last(0);
  for (const Answer& a : answers_) prefixes_.queued(*a.keep);
  answers_.clear();
  return {};
}

void SearchEngine::look_after_copies() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !status_ || !w_ || runner_->idle() || unfinished() + pending_.size() != 0) return;
  status_ = advance(std::numeric_limits<double>::infinity());
  if (!status_) end_all(status_);
}

}  // namespace lapilli
