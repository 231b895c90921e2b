#include "ops/search/step_util.hpp"

#include <algorithm>

namespace lapilli::search {

Status expect_step(const graph::Graph& g, const graph::Node& node, const char* choices, uint64_t words) {
  if (node.inputs.size() != kStepInputs || node.outputs.size() != 3) return node_error(node, "operands are missing");
  LAPILLI_CHECK(expect_input(g, node, kChoices, {choices, 0, words, graph::DType::u32}));
  ops::SearchTensors state;
  state.step = node.inputs[kStep];
  state.search = node.inputs[kSearch];
  state.lineage = node.inputs[kLineage];
  state.log = node.inputs[kLog];
  const auto& shape = node.attributes.as<StepAttributes>().shape;
  LAPILLI_CHECK(expect_state(g, node, state, shape));
  const auto& t = g.tensor(node.inputs[kChoices]);
  if (t.rows > shape.rows || t.rows % shape.beams != 0 || t.ld % 4 != 0)
    return node_error(node, "%u rows of %u beams; the log has %u", t.rows, shape.beams, shape.rows);
  return {};
}

Result<std::vector<Operand>> bind_step(const LowerContext& context, const graph::Node& node) {
  using graph::Access;
  LAPILLI_TRY(const auto choices, bind_whole(context, 0, node.inputs[kChoices], Access::read));
  LAPILLI_TRY(const auto search, bind_whole(context, 1, node.inputs[kSearch], Access::read_write));
  LAPILLI_TRY(const auto lineage, bind_whole(context, 2, node.inputs[kLineage], Access::read_write));
  LAPILLI_TRY(auto log, bind_whole(context, 3, node.inputs[kLog], Access::write));
  log.step_stride = state::log_stride(node.attributes.as<StepAttributes>().shape.rows) * 4;
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kStep], Access::read));
  return std::vector<Operand>{choices, search, lineage, log, step};
}

graph::Node step_node(const OpDef& op, const std::string& label, graph::TensorId choices,
                      const ops::SearchTensors& state, const StepAttributes& attributes) {
  return {&op,
          label,
          {choices, state.step, state.search, state.lineage, state.log},
          {state.search, state.lineage, state.log},
          graph::Attributes(attributes)};
}

Bookkeeping::Bookkeeping(const graph::Node& node, HostTensors& values, uint64_t first_row)
    : a_(node.attributes.as<StepAttributes>()),
      step_(values.at(node.inputs[kStep])),
      first_row_(first_row),
      first_beam_slot_(step_.beam_slot(first_row)),
      t_(step_.position(first_row)),
      p_(values.at(node.inputs[kSearch]), first_beam_slot_, a_.shape.beams),
      record_(values.at(node.inputs[kSearch]).u.data() +
              state::search_record(first_beam_slot_ / a_.shape.beams, a_.shape.beams)),
      lineage_(values.at(node.inputs[kLineage]).u),
      log_(values.at(node.inputs[kLog]).u) {}

uint32_t& Bookkeeping::word(uint32_t parity_of, uint32_t plane, uint32_t beam, uint32_t position) {
  return lineage_[state::lineage_word(state::lineage_parity(parity_of), plane, first_beam_slot_ + beam, position,
                                      a_.shape.beam_slots, a_.shape.positions)];
}

void Bookkeeping::append(uint32_t beam, uint32_t token) {
  word(t_ + 1, state::LINEAGE_ANCESTRY, beam, t_ + 1) = first_beam_slot_ + beam;
  word(t_ + 1, state::LINEAGE_TOKENS, beam, t_ + 1) = token;
}

uint32_t* Bookkeeping::log_entry(uint32_t beam) {
  return log_.data() + search::log_entry(a_.shape, step_.tick(), first_row_ + beam);
}

void Bookkeeping::write_log(uint32_t beam, const LogWords& words) {
  uint32_t* to = log_entry(beam);
  to[state::LOG_TOKEN] = words.token;
  to[state::LOG_ROW] = step_.row(first_row_ + beam);
  to[state::LOG_PARENT] = words.parent;
  to[state::LOG_RUNNING] = words.score;
  to[state::LOG_NOTE] = words.note;
  to[state::LOG_OCCUPANT] = p_[state::P_MARK];
}

void Bookkeeping::log_finished(uint32_t beam, const uint32_t* words) {
  std::copy_n(words, state::FINISHED_WORDS, log_entry(beam) + state::LOG_FINISHED);
}

}  // namespace lapilli::search
