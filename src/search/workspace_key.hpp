// What a search is made for: how many sentences of which lengths, with which tail. Equal keys share plans.
#pragma once

#include <cstdint>
#include <vector>

#include "model/transformer.hpp"

namespace lapilli {

// What a session has room for.
struct SessionShape {
  uint32_t places = 0;  // sentences that are there at a time, running or waiting; slots() is at most kMaxRows
  uint32_t beams = 1;
  uint32_t running = 0;           // sentences that run at a time
  uint32_t source_positions = 0;  // of the cross keys and values
  uint32_t target_positions = 0;  // of the caches and the lineage
  uint32_t list_words = 0;        // room for suppressed ids, bad words, source ids
  uint32_t inbox_words = 0;       // what one admission brings
  uint32_t log_ticks = 0;         // rows of the log, a power of two
  [[nodiscard]] uint32_t slots() const { return places * beams; }
  [[nodiscard]] uint32_t rows() const { return running * beams; }
  // What the model's own graphs go by.
  [[nodiscard]] model::DecodeRoom room() const { return {places, beams, source_positions, target_positions}; }
  friend bool operator==(const SessionShape&, const SessionShape&) = default;
};

struct WorkspaceKey {
  SessionShape shape;
  uint32_t candidates = 1;
  bool sample = false, renormalize = false, timestamps = false, capture = false, deterministic = false;
  bool narrow = false;  // steps for fewer sentences take over when so many have ended; not when capturing
  uint32_t steps_per_submit = 1;
  uint32_t encode_rows = 0;   // source ids that one admission brings at most
  uint32_t given_rows = 0;    // rows of given ids that are run at once; 0: none are given but the decoder start
  uint32_t given_passes = 0;  // of so many rows, that one admission may take
  uint32_t logits_rows = 0;   // rows of given ids whose logits one admission may ask for
  friend bool operator==(const WorkspaceKey&, const WorkspaceKey&) = default;
};

// Few distinct shapes keep plans few: lengths in steps that grow with the length.
uint32_t length_bucket(uint64_t n);
// Of a search for up to `running` sentences at a time, `waiting` more of which are prepared. The other fields of the
// shape are given; those that follow from them are filled in.
void complete_key(WorkspaceKey& key, uint32_t waiting);
// What a search for `sentences` sources of up to so many ids is made for, with the plainest options.
WorkspaceKey plain_key(uint32_t sentences, uint32_t beams, uint32_t source_positions, uint32_t target_positions);

// Sentences of the narrower steps of a search, widest first: half of those that run at a time, a quarter... down to
// one.
std::vector<uint32_t> narrow_sentences(const WorkspaceKey& key);
// Source ids that the encode plans have room for, the most first.
std::vector<uint32_t> encode_rows(const WorkspaceKey& key);

}  // namespace lapilli
