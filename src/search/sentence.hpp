// A sentence on its way through a search: its request, and its log so far.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "model/features.hpp"
#include "search/encoded_source.hpp"
#include "search/search_options.hpp"

namespace lapilli {

class Shortlist;

// The choices of every step for one sentence, starting after its prompt ids.
struct SentenceLog {
  struct Entry {
    int32_t token = 0;
    uint32_t parent = 0;  // beam
    float running = 0;
    uint32_t note = 0;
  };
  uint32_t beams = 1;
  uint32_t prompt_ids = 1;     // ids in front, at least one
  std::vector<Entry> entries;  // [steps][beams]

  [[nodiscard]] uint32_t steps() const { return static_cast<uint32_t>(entries.size() / beams); }
  [[nodiscard]] const Entry& at(uint32_t step, uint32_t beam) const { return entries[uint64_t{step} * beams + beam]; }
  // The step whose rows are at this position.
  [[nodiscard]] uint32_t step_at(uint32_t position) const { return position + 1 - prompt_ids; }
};

// A finished hypothesis: its last position and beam, and the token that ended it.
struct Finished {
  float score = 0;
  uint32_t position = 0, beam = 0;
  int32_t token = 0;
};

// One sentence of a search engine, shared with the search that asked for it; the engine's lock guards all fields.
struct Sentence {
  std::vector<int32_t> source;  // ids; or
  std::shared_ptr<const model::Features> features;
  uint32_t feature_positions = 0;                // of the encoder, allocated for the features
  uint32_t feature_length = 0;                   // of these, positions that count
  std::vector<int32_t> prompt;                   // decoder ids, the decoder start in front
  std::vector<uint32_t> global_positions;        // see GenerateRequest
  std::shared_ptr<const EncodedSource> encoded;  // its encoded source, if it was encoded before
  std::shared_ptr<const EncodedSource> keep;     // receives its encoded source; null: not kept
  std::vector<uint32_t> logits_at;               // see GenerateRequest
  SearchOptions options;
  SearchWords words;                     // `options` as the device reads them; offsets into `words.lists`
  const Shortlist* shortlist = nullptr;  // the ids it may write are in `words` from its admission to its end; null: all

  uint32_t mark = 0;                                    // of this occupant of its slot
  uint64_t serial = 0;                                  // number among the engine's admissions
  bool admitted = false, begun = false, ended = false;  // begun: its source is encoded, and its steps follow
  Status status;                                        // why it has no result
  SentenceLog log;
  std::vector<Finished> finished;          // best first
  std::vector<std::vector<float>> logits;  // as logits_at
  uint64_t rows_run = 0;                   // rows spent on it by steps

  // Positions of its source in the encoder and in the cross keys and values.
  [[nodiscard]] uint32_t source_positions() const {
    if (encoded) return encoded->positions();
    return features ? feature_positions : static_cast<uint32_t>(source.size());
  }
  // Number of these that cross attention sees.
  [[nodiscard]] uint32_t source_length() const { return features && !encoded ? feature_length : source_positions(); }
};

}  // namespace lapilli
