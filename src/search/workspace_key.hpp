// The shape of a search: numbers and lengths of its sentences, and its sampler. Equal keys share plans.
#pragma once

#include <cstdint>
#include <vector>

#include "model/transformer.hpp"

namespace lapilli {

// Capacity of a session.
struct SessionShape {
  uint32_t slots = 0;  // sentences present at a time, running or waiting; beam slots() is at most state::MAX_ROWS
  uint32_t beams = 1;
  uint32_t running = 0;           // sentences that run at a time
  uint32_t source_positions = 0;  // of the cross keys and values
  uint32_t target_positions = 0;  // of the caches and the lineage
  uint32_t list_words = 0;        // room for suppressed ids, bad words, source ids
  uint32_t inbox_words = 0;       // room for one admission
  uint32_t log_ticks = 0;         // rows of the log, a power of two
  [[nodiscard]] uint32_t beam_slots() const { return slots * beams; }
  [[nodiscard]] uint32_t rows() const { return running * beams; }
  // The part that the model's own graphs depend on.
  [[nodiscard]] model::DecodeRoom room() const { return {slots, beams, source_positions, target_positions}; }
  friend bool operator==(const SessionShape&, const SessionShape&) = default;
};

struct WorkspaceKey {
  SessionShape shape;
  uint32_t candidates = 1;
  bool sample = false, renormalize = false, timestamps = false, capture = false, deterministic = false;
  bool shortlist = false;  // some sentence may write the ids of its list alone
  bool narrow = false;     // switches to steps for fewer sentences once enough have ended; not when capturing
  uint32_t steps_per_submit = 1;
  uint32_t encode_rows = 0;  // most source ids of one admission; 0: there is no encoder
  uint32_t prompt_rows = 0;  // rows of prompt ids run at once; 0: only the decoder start is given
  uint32_t logits_rows = 0;  // most rows of prompt ids whose logits one admission may ask for
  friend bool operator==(const WorkspaceKey&, const WorkspaceKey&) = default;
};

// Rounds lengths up, in steps that grow with the length, so that few distinct shapes need plans.
uint32_t length_bucket(uint64_t n);
// The same in finer steps, for caches of long prompts: at most an eighth of 256 positions and more is unused.
uint32_t cache_bucket(uint64_t n);
// Prompt ids that one admission has room for, decoder starts included: those of a pass, and others that need none.
uint32_t prompt_id_room(const WorkspaceKey& key);
// Words for the lists of a session: for one sentence's, and, if each has its own, for as many as run and wait. Beyond
// 32 MiB sentences wait for each other's room.
uint32_t list_room(uint64_t words, uint32_t own);
// Sentences that are prepared beside those that run, so that one can always start when another ends: as many again;
// without an encoder fewer, because each takes the room of a prompt and an answer.
uint32_t prepared_beside(uint32_t running, bool encodes);
// Completes the key of a search for up to `running` sentences at a time, with `waiting` more prepared: sets the fields
// that follow from the others.
void complete_key(WorkspaceKey& key, uint32_t waiting);
// The key of a search for `sentences` sources of up to `source_positions` ids, with default options.
WorkspaceKey plain_key(uint32_t sentences, uint32_t beams, uint32_t source_positions, uint32_t target_positions);

// Sentences of a search's narrower steps, widest first: half of those that run at a time, a quarter... down to one.
std::vector<uint32_t> narrow_sentences(const WorkspaceKey& key);
// Capacities of the encode plans in source ids, the most first.
std::vector<uint32_t> encode_rows(const WorkspaceKey& key);

}  // namespace lapilli
