// "greedy_step": see search.hpp.
#include <algorithm>
#include <cmath>

#include "ops/core/registry.hpp"
#include "ops/search/step_util.hpp"

namespace lapilli {
namespace greedy_step_impl {
namespace {

constexpr uint32_t kLocal = 64;  // rows per workgroup

struct Push {
  LAPILLI_PUSH(uint32_t groups, beam_slots, positions, slices, ld4, log_rows, ticks;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<StepAttributes>();
  if (a.shape.beams != 1) return node_error(node, "%u beams; greedy search has one", a.shape.beams);
  return search::expect_step(g, node, "partials", 4ull * a.slices);
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) {
  return {{0, "invocation a row"}};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<StepAttributes>();
  const auto& t = context.graph.tensor(node.inputs[search::kChoices]);
  Dispatch d;
  d.shader = a.drawn ? ShaderId::greedy_step_draw : ShaderId::greedy_step;
  LAPILLI_TRY(d.operands, search::bind_step(context, node));
  d.groups = div_up<uint64_t>(t.rows, kLocal);
  follow_live_rows(d, 1, kLocal);
  d.set_push(Push{static_cast<uint32_t>(d.groups), a.shape.beam_slots, a.shape.positions, a.slices,
                  static_cast<uint32_t>(t.ld / 4), a.shape.rows, a.shape.ticks});
  d.cost = static_cast<double>(t.rows) * (8.0 * a.slices + 32);
  out.push_back(std::move(d));
  return {};
}

struct Chosen {
  uint32_t id = 0;
  float log_probability = 0;
};

Chosen choose(const uint32_t* partials, uint32_t slices, uint32_t pad) {
  search::Candidate best;
  for (uint32_t s = 0; s < slices; ++s) {
    const search::Candidate c{search::as_float(partials[4 * s]), partials[4 * s + 1]};
    if (c.score > best.score || (c.score == best.score && c.id < best.id)) best = c;
  }
  double sum = 0;
  for (uint32_t s = 0; s < slices; ++s)
    sum += static_cast<double>(search::as_float(partials[4 * s + 3])) *
           std::exp(static_cast<double>(search::as_float(partials[4 * s])) - static_cast<double>(best.score));
  return {best.id == search::kNoId ? pad : best.id,
          search::forbidden(best.score) ? state::MASKED : static_cast<float>(-std::log(std::max(sum, 1e-30)))};
}

// The best key wins; its score is normalized by the sum of all slices.
Chosen choose_drawn(const uint32_t* partials, uint32_t slices, uint32_t pad) {
  search::Candidate best;
  float score = state::MASKED, most = state::MASKED;
  for (uint32_t s = 0; s < slices; ++s) {
    const search::Candidate c{search::as_float(partials[4 * s]), partials[4 * s + 1]};
    most = std::max(most, search::as_float(partials[4 * s + 3]));
    if (c.score < best.score || (c.score == best.score && c.id >= best.id)) continue;
    best = c;
    score = search::as_float(partials[4 * s + 2]);
  }
  double sum = 0;
  for (uint32_t s = 0; s < slices; ++s)
    sum += std::exp(static_cast<double>(search::as_float(partials[4 * s + 3])) - static_cast<double>(most));
  const double log_probability =
      static_cast<double>(score) - static_cast<double>(most) - std::log(std::max(sum, 1e-30));
  return {best.id == search::kNoId ? pad : best.id,
          search::forbidden(score) ? state::MASKED : static_cast<float>(log_probability)};
}

// True if one of these scores is not a number.
bool fails(const uint32_t* partials, uint32_t slices) {
  for (uint32_t s = 0; s < slices; ++s)
    if (!std::isfinite(search::as_float(partials[4 * s])) || !std::isfinite(search::as_float(partials[4 * s + 3])))
      return true;
  return false;
}

class Row : private search::Bookkeeping {
 public:
  using Bookkeeping::Bookkeeping;

  void run(const uint32_t* partials) {
    if (!has_room()) return;
    auto chosen = (a_.drawn ? choose_drawn : choose)(partials, a_.slices, p_[state::P_PAD]);
    const float before = search::as_float(running(0));
    const bool no = search::forbidden(before) || search::forbidden(chosen.log_probability);
    float score = no ? state::MASKED : before + chosen.log_probability;
    uint32_t note = 0;
    if (fails(partials, a_.slices)) {
      score = state::MASKED;
      chosen.id = p_[state::P_PAD];
      note = state::LOG_NOTE_ENDED | state::LOG_NOTE_FAILED;
    } else if (reaches_limit() || p_.is_end(chosen.id)) {
      finish(chosen.id, score);
      note = state::LOG_NOTE_ENDED | 1u << state::LOG_NOTE_COUNT_SHIFT;
    }
    if (note != 0) end();
    running(0) = search::as_word(score);
    for (const uint32_t plane : {state::LINEAGE_ANCESTRY, state::LINEAGE_TOKENS})
      word(t_ + 1, plane, 0, t_) = word(t_, plane, 0, t_);
    append(0, chosen.id);
    write_log(0, {chosen.id, 0, search::as_word(score), note});
  }

 private:
  void finish(uint32_t token, float score) {
    const float divisor = search::length_divisor(generated(), p_.real(state::P_LENGTH_PENALTY));
    const uint32_t found[] = {search::as_word(search::forbidden(score) ? state::MASKED : score / divisor), t_, 0,
                              token};
    log_finished(0, found);
  }
};

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto& t = g.tensor(node.inputs[search::kChoices]);
  const search::StepView step(values.at(node.inputs[search::kStep]));
  for (uint64_t r = 0; r < std::min<uint64_t>(t.rows, step.live()); ++r)
    Row(node, values, r).run(values.at(node.inputs[search::kChoices]).u.data() + r * t.ld);
}

// ---- cases --------------------------------------------------------------------------------------------------------

constexpr uint32_t kSlice = 100;  // slice s has the ids from 100 s on

OpCase make_case(search::StateCase c, uint32_t rows, uint32_t slices, uint64_t seed, uint32_t drawn = 0) {
  auto& g = c.op_case.graph;
  const auto partials = g.activation("partials", rows, 4ull * slices, graph::DType::u32);
  ops::greedy_step(g, c.op_case.name, partials, c.tensors, {c.shape, 1, 1, drawn});
  std::vector<uint32_t> words(g.tensor(partials).elements(), 0);
  CaseRandom random(seed);
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t s = 0; s < slices; ++s) {
      const bool nothing = r % 11 == 7 || (s == 1 && r % 3 == 0);
      const float score = nothing ? state::MASKED : static_cast<float>(4 * random.unit());
      const uint64_t at = r * g.tensor(partials).ld + 4ull * s;
      words[at] = words[at + 2] = search::as_word(score);
      words[at + 1] = s * kSlice + (r % 5 == 2 ? 2 : random.below(kSlice));  // 2 is an end token
      words[at + 3] = search::as_word(static_cast<float>(1 + 20 * (random.unit() + 1)));
      if (drawn && !nothing) words[at + 2] = search::as_word(static_cast<float>(4 * random.unit()));
      if (s == slices - 1 && s > 0 && r % 4 == 1) words[at] = words[at + 2] = words[at - 4];  // a tie
    }
  c.op_case.inputs.emplace_back(partials, words_of(std::move(words)));
  for (uint32_t s = 0; s < c.shape.beam_slots; ++s)
    c.search[c.search_word(s, state::search_running(0))] = search::as_word(static_cast<float>(-3 + 3 * random.unit()));
  return c.finish();
}

search::StateCase make_state(const std::string& name, uint32_t t, uint32_t beam_slots, uint32_t live) {
  search::StateCase c(name, {beam_slots, 14, 1, beam_slots, beam_slots, 8});
  CaseRandom random(t + beam_slots);
  c.random_lineage(t + 1, 1000, random);
  std::vector<uint32_t> rows;
  for (uint32_t r = 0; r < live; ++r) rows.push_back(beam_slots - live + r);
  c.step = step_values(mixed_positions(t, live), live, rows).u;
  c.set_param(state::P_LENGTH_PENALTY, 0.75f);
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case(make_state("one row", 0, 1, 1), 1, 1, 1));
  all.push_back(make_case(make_state("some have ended", 5, 19, 11), 19, 3, 2));
  all.push_back(make_case(make_state("many rows", 6, 131, 131), 131, 16, 3));
  all.push_back(make_case(make_state("longest", 12, 5, 5), 5, 2, 4));
  all.push_back(make_case(make_state("beyond the capacity", 13, 5, 5), 5, 2, 4));
  all.push_back(make_case(make_state("done", 7, 5, 0), 5, 2, 5));
  {
    auto c = make_state("behind prompt ids, options of their own", 6, 9, 9);
    for (uint32_t s = 0; s < 9; ++s) {
      c.param(s, state::P_PREFIX) = 1 + s % 4;
      c.param(s, state::P_MAX_LENGTH) = 7 + s % 3;
      c.param(s, state::P_MARK) = 70 + s;
      c.param(s, state::P_END_IDS) = 2 + s;
    }
    all.push_back(make_case(std::move(c), 9, 2, 6));
  }
  for (const uint32_t drawn : {0u, 1u}) {
    auto c = make_case(make_state(drawn ? "drawn, no numbers" : "no numbers", 5, 8, 8), 8, 3, 9, drawn);
    for (auto& [id, value] : c.inputs)
      if (c.graph.tensor(id).name == "partials") {
        const uint64_t ld = c.graph.tensor(id).ld;
        value.u[ld + 4] = 0x7fc00000u;          // not a number
        value.u[3 * ld + 3] = 0x7f800000u;      // infinite
        value.u[6 * ld + 8 + 3] = 0xff800000u;  // minus infinity
      }
    all.push_back(std::move(c));
  }
  {
    auto c = make_state("three ends, at most 9 ids", 6, 40, 40);
    c.set_ends({2, 117, 202});
    c.set_param(state::P_MAX_LENGTH, 9);
    c.set_param(state::P_LENGTH_PENALTY, -1.0f);
    all.push_back(make_case(std::move(c), 40, 3, 7));
  }
  all.push_back(make_case(make_state("drawn, one row", 0, 1, 1), 1, 1, 1, 1));
  all.push_back(make_case(make_state("drawn, many rows", 6, 131, 120), 131, 16, 3, 1));
  all.push_back(make_case(make_state("drawn, longest", 12, 5, 5), 5, 2, 4, 1));
  return all;
}

constexpr OpDef op{"greedy_step", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace greedy_step_impl

constinit const OpDef greedy_step_op = greedy_step_impl::op;

void ops::greedy_step(graph::Graph& g, const std::string& label, graph::TensorId partials, const SearchTensors& state,
                      StepAttributes a) {
  a.slices = static_cast<uint32_t>(g.tensor(partials).cols / 4);
  g.add_node(search::step_node(greedy_step_op, label, partials, state, a));
}

}  // namespace lapilli
