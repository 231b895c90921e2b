// Shared by "greedy_step" and "beam_step": operands, and the writes of their references.
#pragma once

#include "ops/search/search_util.hpp"

namespace lapilli::search {

// Inputs of both ops; the last three are also the outputs.
enum StepInput : size_t { kChoices, kStep, kSearch, kLineage, kLog, kStepInputs };

// Checks that the choices have rows of `words` words, and that the state fits the shape.
Status expect_step(const graph::Graph& g, const graph::Node& node, const char* choices, uint64_t words);
// The operands of bindings 0 to 4: choices, search, lineage, log, step.
Result<std::vector<Operand>> bind_step(const LowerContext& context, const graph::Node& node);
graph::Node step_node(const OpDef& op, const std::string& label, graph::TensorId choices,
                      const ops::SearchTensors& state, const StepAttributes& attributes);

// A sentence whose rows are at one position: reads its options, writes its record, lineage and log entries.
class Bookkeeping {
 public:
  Bookkeeping(const graph::Node& node, HostTensors& values, uint64_t first_row);

 protected:
  struct LogWords {
    uint32_t token, parent, score, note;
  };

  // True if there is room for the next position.
  [[nodiscard]] bool has_room() const { return t_ + 1 < a_.shape.positions; }
  [[nodiscard]] bool reaches_limit() const { return t_ + 2 >= p_[state::P_MAX_LENGTH]; }
  [[nodiscard]] uint32_t generated() const { return t_ + 2 - p_[state::P_PREFIX]; }
  [[nodiscard]] uint32_t token_of(uint32_t id) const { return id == kNoId ? p_[state::P_PAD] : id; }
  uint32_t& record(uint32_t word) { return record_[word]; }
  bool has_ended() { return record(state::SEARCH_STATUS) == static_cast<uint32_t>(SentenceStatus::ended); }
  void end() { record(state::SEARCH_STATUS) = static_cast<uint32_t>(SentenceStatus::ended); }
  uint32_t& running(uint32_t beam) { return record(state::search_running(beam)); }
  uint32_t* finished(uint32_t i) { return record_ + state::search_finished_entry(a_.shape.beams, i); }
  // The lineage word of a beam at a position, in the parity that a row at position `parity_of` reads.
  uint32_t& word(uint32_t parity_of, uint32_t plane, uint32_t beam, uint32_t position);
  void append(uint32_t beam, uint32_t token);
  uint32_t* log_entry(uint32_t beam);
  // Writes the whole entry except the finished hypothesis.
  void write_log(uint32_t beam, const LogWords& words);
  void log_finished(uint32_t beam, const uint32_t* words);

  StepAttributes a_;
  StepView step_;
  uint64_t first_row_;
  uint32_t first_beam_slot_, t_;
  ParamView p_;

 private:
  uint32_t* record_;
  std::vector<uint32_t>&lineage_, &log_;
};

}  // namespace lapilli::search
