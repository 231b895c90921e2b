// Host helpers shared by the search ops: views of the state words, the order of candidates, and states for cases.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/op.hpp"
#include "ops/search/draw.hpp"
#include "ops/search/search.hpp"

namespace lapilli::search {

inline float as_float(uint32_t word) { return std::bit_cast<float>(word); }
inline uint32_t as_word(float value) { return std::bit_cast<uint32_t>(value); }
inline bool forbidden(double score) { return score <= static_cast<double>(state::FORBIDDEN); }
// Forbidden scores are made equal, so that they rank by id.
inline double unless_forbidden(double score) { return forbidden(score) ? static_cast<double>(state::MASKED) : score; }
inline float unless_forbidden(float score) { return score <= state::FORBIDDEN ? state::MASKED : score; }

// The divisor of a sum of log-probabilities over n generated tokens.
float length_divisor(uint32_t n, float penalty);

// Columns per slice for the ops that give each slice of the vocabulary a workgroup: equal slices of at most 4096
// columns, whole vec4s.
uint32_t slice_columns(uint64_t columns);

constexpr uint32_t kNoId = 0xffffffffu;

struct Candidate {
  float score = state::MASKED;
  uint32_t id = kNoId;
};
// The best k of the columns [begin, end): score descending, then id ascending; missing ones at the end.
std::vector<Candidate> best_columns(const double* row, uint64_t begin, uint64_t end, uint32_t k);

// The step state as the references read it.
class StepView {
 public:
  explicit StepView(const HostTensor& step) : words_(step.u) {}
  [[nodiscard]] uint32_t tick() const { return words_[state::STEP_TICK]; }
  [[nodiscard]] uint32_t live() const { return words_[state::STEP_LIVE]; }
  [[nodiscard]] uint32_t row(uint64_t row) const { return words_[state::STEP_ROWS + row]; }
  [[nodiscard]] uint32_t beam_slot(uint64_t row) const { return state::beam_slot_of(this->row(row)); }
  [[nodiscard]] uint32_t position(uint64_t row) const { return state::position_of(this->row(row)); }

 private:
  const std::vector<uint32_t>& words_;
};

// The options of the sentence that a beam slot belongs to.
class ParamView {
 public:
  ParamView(const HostTensor& search, uint32_t beam_slot, uint32_t beams)
      : words_(search.u.data() + state::search_record(beam_slot / beams, beams)) {}
  uint32_t operator[](uint32_t word) const { return words_[word]; }
  [[nodiscard]] float real(uint32_t word) const { return as_float(words_[word]); }
  [[nodiscard]] bool is_end(uint32_t id) const;

 private:
  const uint32_t* words_;
};

// The random numbers that a step adds to the scores of its rows.
class Draws {
 public:
  Draws(const HostTensor& step, const HostTensor& search, uint32_t beams)
      : step_(step), search_(search), beams_(beams) {}
  [[nodiscard]] double number(uint32_t row, uint32_t id) const;

 private:
  StepView step_;
  const HostTensor& search_;
  uint32_t beams_;
};

// The start of the log entry of a row that ran in a tick.
uint64_t log_entry(const SearchShape& shape, uint32_t tick, uint64_t row);

// Writes the arguments of an indirect dispatch for `live` rows to `words` from `at` on (state::GRID_*).
void write_grid(std::span<uint32_t> words, uint64_t at, uint32_t live);

// ---- shapes -------------------------------------------------------------------------------------------------------

// Checks that the state tensors are large enough for the shape; skips those that are kNone.
Status expect_state(const graph::Graph& g, const graph::Node& node, const ops::SearchTensors& state,
                    const SearchShape& shape);

// ---- cases --------------------------------------------------------------------------------------------------------

// A graph under construction that contains the state of a search. Adjust the state words, then finish().
struct StateCase {
  explicit StateCase(const std::string& name, const SearchShape& of, uint32_t list_words = 64);
  OpCase op_case;
  SearchShape shape;
  ops::SearchTensors tensors;
  std::vector<uint32_t> step, lineage, search, log, lists, grids, inbox, lengths;

  // All rows at position t.
  void set_step(uint32_t t, uint32_t live, const std::vector<uint32_t>& beam_slots = {});
  // For all sentences.
  template <class Value>
  void set_param(uint32_t word, Value value) {
    for (uint32_t s = 0; s < shape.slots; ++s) {
      if constexpr (std::is_floating_point_v<Value>)
        param(s, word) = as_word(value);
      else
        param(s, word) = static_cast<uint32_t>(value);
    }
  }
  uint32_t& param(uint32_t sentence, uint32_t word) { return search[search_word(sentence, word)]; }
  void set_ends(const std::vector<uint32_t>& ids);
  // Random ids below `vocabulary` and ancestry within the sentence, at positions 0..t of both parities.
  void random_lineage(uint32_t t, uint32_t vocabulary, CaseRandom& random);
  // The search state as admit leaves it, except for the options; running.
  void fresh_search();
  [[nodiscard]] uint32_t search_word(uint32_t sentence, uint32_t word) const {
    return static_cast<uint32_t>(state::search_record(sentence, shape.beams)) + word;
  }
  // Moves the values into the case; marks the words of search and log that are floats.
  OpCase finish();
};

}  // namespace lapilli::search
