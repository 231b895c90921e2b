// A sentence on its way through a search: what it asks for, and what the log said of it so far.
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

// What every step chose for one sentence, from the one behind its given ids on.
struct SentenceLog {
  struct Entry {
    int32_t token = 0;
    uint32_t parent = 0;  // beam
    float running = 0;
    uint32_t note = 0;
  };
  uint32_t beams = 1;
  uint32_t given = 1;          // ids in front, at least one
  std::vector<Entry> entries;  // [steps][beams]

  [[nodiscard]] uint32_t steps() const { return static_cast<uint32_t>(entries.size() / beams); }
  [[nodiscard]] const Entry& at(uint32_t step, uint32_t beam) const { return entries[uint64_t{step} * beams + beam]; }
  // The step whose rows are at this position.
  [[nodiscard]] uint32_t step_at(uint32_t position) const { return position + 1 - given; }
};

// A finished hypothesis: where it ended, and with which token.
struct Finished {
  float score = 0;
  uint32_t position = 0, beam = 0;
  int32_t token = 0;
};

// One sentence of a search engine. The job that asked for it and the engine share it; all fields but `cancelled` belong
// to whoever holds the engine's lock.
struct Sentence {
  std::vector<int32_t> source;  // ids; or
  std::shared_ptr<const model::Features> features;
  uint32_t feature_positions = 0;                // that they have room for in the encoder,
  uint32_t feature_length = 0;                   // and that count
  std::vector<int32_t> given;                    // decoder ids, the decoder start in front
  std::vector<uint32_t> global_positions;        // see GenerateRequest
  std::shared_ptr<const EncodedSource> encoded;  // what its source came to, if it was encoded before
  std::shared_ptr<const EncodedSource> keep;     // filled with it; null: nobody wants it
  std::vector<uint32_t> logits_at;               // see GenerateRequest
  SearchOptions options;
  SearchWords words;  // `options` as the device reads them; offsets into `words.lists`

  uint32_t mark = 0;                                    // of this occupant of its place
  uint64_t serial = 0;                                  // counts admissions of the engine
  bool admitted = false, begun = false, ended = false;  // begun: its source is encoded, and its steps follow
  Status status;                                        // why it has no result
  SentenceLog log;
  std::vector<Finished> finished;          // best first
  std::vector<std::vector<float>> logits;  // as logits_at
  uint64_t rows_run = 0;                   // rows that steps spent on it

  // Of its source, in the encoder and in the cross keys and values.
  [[nodiscard]] uint32_t source_positions() const {
    if (encoded) return encoded->positions();
    return features ? feature_positions : static_cast<uint32_t>(source.size());
  }
  // Of these, what cross attention sees.
  [[nodiscard]] uint32_t source_length() const { return features && !encoded ? feature_length : source_positions(); }
};

}  // namespace lapilli
