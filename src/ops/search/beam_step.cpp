// "beam_step": see search.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/core/registry.hpp"
#include "ops/search/step_util.hpp"

namespace lapilli {
namespace beam_step_impl {
namespace {

uint32_t words_each(const StepAttributes& a) { return a.drawn ? 4 : 2; }

struct Push {
  LAPILLI_PUSH(uint32_t groups, beam_slots, positions, beams, k, slices, ld, log_rows, ticks;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<StepAttributes>();
  if (a.candidates < 2 * a.shape.beams || a.candidates > state::MAX_CANDIDATES)
    return node_error(node, "%u candidates for %u beams; %u to %u are supported", a.candidates, a.shape.beams,
                      2 * a.shape.beams, state::MAX_CANDIDATES);
  return search::expect_step(g, node, "candidates", uint64_t{words_each(a)} * a.candidates * a.slices);
}

enum : uint32_t { kTogether, kSimple };

// Approximate iterations of the single invocation's loops, which some drivers limit (docs/inside/adding-an-op.md): it
// searches all lists by bisection for each pick, and copies the lineage.
uint64_t simple_turns(const StepAttributes& a) {
  const uint64_t lists = uint64_t{a.shape.beams} * a.slices, search = 2 * std::bit_width(a.candidates) + 6;
  return a.candidates * lists * search + uint64_t{3} * a.shape.beams * a.shape.positions;
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node& node) {
  constexpr uint64_t kTurns = 40'000;
  std::vector<Variant> list{{kTogether, "workgroup a sentence"}};
  if (simple_turns(node.attributes.as<StepAttributes>()) <= kTurns) list.push_back({kSimple, "simple"});
  return list;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<StepAttributes>();
  const auto& t = context.graph.tensor(node.inputs[search::kChoices]);
  Dispatch d;
  if (v.id == kSimple)
    d.shader = a.drawn ? ShaderId::beam_step_draw_simple : ShaderId::beam_step_simple;
  else
    d.shader = a.drawn ? ShaderId::beam_step_draw : ShaderId::beam_step;
  LAPILLI_TRY(d.operands, search::bind_step(context, node));
  d.groups = t.rows / a.shape.beams;
  follow_live_rows(d, 1, a.shape.beams);
  d.set_push(Push{static_cast<uint32_t>(d.groups), a.shape.beam_slots, a.shape.positions, a.shape.beams, a.candidates,
                  a.slices, static_cast<uint32_t>(t.ld / words_each(a)), a.shape.rows, a.shape.ticks});
  d.cost = static_cast<double>(t.rows) * (2.0 * static_cast<double>(t.ld) + 4.0 * a.shape.positions);
  out.push_back(std::move(d));
  return {};
}

// One sentence's step; the rules are in docs/use/decoding.md. Scores are float as in the reference implementation.
class Sentence : private search::Bookkeeping {
 public:
  Sentence(const graph::Node& node, HostTensors& values, uint64_t first_row)
      : Bookkeeping(node, values, first_row), beams_(a_.shape.beams) {}

  void run(const uint32_t* rows, uint64_t ld) {
    if (!has_room()) return;
    pick(rows, ld);
    if (fails(rows, ld))
      give_up();
    else
      decide();
    move_on();
  }

 private:
  struct Pick {
    float score = state::MASKED;
    uint32_t beam = 0, id = search::kNoId;
    float key = state::MASKED;  // picks are ordered by it: the score, plus its random number if drawn
  };

  // True if the first candidate of some list is not a number.
  bool fails(const uint32_t* rows, uint64_t ld) const {
    for (uint32_t b = 0; b < beams_; ++b)
      for (uint32_t s = 0; s < a_.slices; ++s)
        if (!std::isfinite(search::as_float(rows[b * ld + uint64_t{words_each(a_)} * s * a_.candidates]))) return true;
    return false;
  }
  void give_up() {
    picks_.assign(a_.candidates, {});
    next_ = picks_;
    failed_ = true;
    end();
  }
  bool shrinks() const { return static_cast<StopRule>(p_[state::P_EARLY_STOPPING]) == StopRule::shrinking; }
  bool ended(const Pick& pick) const { return reaches_limit() || (pick.id != search::kNoId && p_.is_end(pick.id)); }

  void pick(const uint32_t* rows, uint64_t ld) {
    const uint32_t each = words_each(a_);
    for (uint32_t b = 0; b < beams_; ++b)
      for (uint32_t i = 0; i < a_.slices * a_.candidates; ++i) {
        const uint32_t* words = rows + b * ld + each * i;
        const float sum = search::as_float(running(b));
        const auto total = [&](uint32_t word) {
          const float score = search::as_float(word);
          const bool no = search::forbidden(score) || search::forbidden(sum);
          return no ? state::MASKED : search::unless_forbidden(sum + score);
        };
        if (words[1] == search::kNoId) continue;
        picks_.push_back({total(a_.drawn ? words[2] : words[0]), b, words[1], total(words[0])});
      }
    std::sort(picks_.begin(), picks_.end(), [](const Pick& x, const Pick& y) {
      if (x.key != y.key) return x.key > y.key;
      return x.beam != y.beam ? x.beam < y.beam : x.id < y.id;
    });
    picks_.resize(a_.candidates);
  }

  // The best hypotheses that run on. Ended ones are not removed but made worse: they fill up where too little is
  // permitted. Drawn picks are not in the order of their scores: of a beam that shrinks those behind the first `places`
  // come last, whatever their score.
  void choose_running(uint32_t places) {
    next_ = picks_;
    for (auto& n : next_)
      if (ended(n)) n.score = search::forbidden(n.score) ? state::MASKED : n.score + state::NO_SCORE;
    if (a_.drawn && shrinks())
      for (size_t i = places; i < next_.size(); ++i) next_[i].score = -std::numeric_limits<float>::infinity();
    std::stable_sort(next_.begin(), next_.end(), [](const Pick& x, const Pick& y) { return x.score > y.score; });
    next_.resize(beams_);
  }

  void finish(const Pick& pick, float score) {
    uint32_t at = 0;
    while (at < beams_ && search::as_float(finished(at)[state::FINISHED_SCORE]) >= score) ++at;
    if (at == beams_) return;
    std::copy_backward(finished(at), finished(beams_ - 1), finished(beams_));
    const uint32_t words[] = {search::as_word(score), t_, pick.beam, pick.id};
    std::copy(std::begin(words), std::end(words), finished(at));
    auto& count = record(state::SEARCH_FINISHED);
    count = std::min(count + 1, beams_);
  }

  // In a beam that shrinks, the best `places` candidates count: those that have not ended run on, and no others.
  // Returns how many these are.
  uint32_t shrink(uint32_t places) {
    const auto runs = [&](const Pick& pick) {
      return pick.id != search::kNoId && !ended(pick) && !search::forbidden(pick.score);
    };
    const auto kept = static_cast<uint32_t>(std::count_if(picks_.begin(), picks_.begin() + places, runs));
    for (uint32_t b = kept; b < beams_; ++b) next_[b].score = state::MASKED;
    return kept;
  }

  void decide() {
    const auto early = static_cast<StopRule>(p_[state::P_EARLY_STOPPING]);
    const float penalty = p_.real(state::P_LENGTH_PENALTY);
    const float divisor = search::length_divisor(generated(), penalty);
    const auto full = [&] { return record(state::SEARCH_FINISHED) == beams_; };
    bool settled = record(state::SEARCH_SETTLED) != 0;
    const bool closed = settled || (early == StopRule::yes && full());
    const uint32_t places = shrinks() ? beams_ - std::min(record(state::SEARCH_FINISHED), beams_) : beams_;
    choose_running(places);
    const uint32_t kept = shrinks() ? shrink(places) : beams_;
    for (uint32_t b = 0; b < beams_; ++b) running(b) = search::as_word(next_[b].score);
    for (uint32_t i = 0; i < places && !closed; ++i)  // only the first `beams` candidates may finish
      if (ended(picks_[i]) && picks_[i].id != search::kNoId && !search::forbidden(picks_[i].score))
        finish(picks_[i], picks_[i].score / divisor);
    float length = divisor;
    if (early == StopRule::never && penalty > 0)
      length = search::length_divisor(std::max(p_[state::P_MAX_LENGTH], p_[state::P_PREFIX] + 1) - p_[state::P_PREFIX],
                                      penalty);
    const float best = next_[0].score, worst = search::as_float(finished(beams_ - 1)[state::FINISHED_SCORE]);
    settled = shrinks() ? kept == 0 : settled || search::forbidden(best) || !(best / length > worst);
    const bool all_ended = std::all_of(picks_.begin(), picks_.end(), [&](const Pick& x) { return ended(x); });
    record(state::SEARCH_SETTLED) = settled ? 1 : 0;
    if (settled || reaches_limit() || all_ended || (early == StopRule::yes && full())) end();
  }

  void move_on() {
    for (uint32_t b = 0; b < beams_; ++b) {
      const uint32_t token = token_of(next_[b].id);
      for (const uint32_t plane : {state::LINEAGE_ANCESTRY, state::LINEAGE_TOKENS})
        for (uint32_t i = 0; i <= t_; ++i) word(t_ + 1, plane, b, i) = word(t_, plane, next_[b].beam, i);
      append(b, token);
      write_log(b, {token, next_[b].beam, search::as_word(next_[b].score), note(b)});
      if (has_ended()) log_finished(b, finished(b));
    }
  }

  uint32_t note(uint32_t beam) {
    const uint32_t count = record(state::SEARCH_FINISHED);
    if (beam == 0 && failed_) return state::LOG_NOTE_ENDED | state::LOG_NOTE_FAILED;
    if (beam == 0) return has_ended() ? state::LOG_NOTE_ENDED | count << state::LOG_NOTE_COUNT_SHIFT : 0;
    if (beam != 1 || count == 0 || failed_) return 0;
    return 1 + state::row_word_of(finished(0)[state::FINISHED_BEAM], finished(0)[state::FINISHED_POSITION]);
  }

  uint32_t beams_;
  bool failed_ = false;
  std::vector<Pick> picks_, next_;
};

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<StepAttributes>();
  const auto& t = g.tensor(node.inputs[search::kChoices]);
  const search::StepView step(values.at(node.inputs[search::kStep]));
  for (uint64_t r = 0; r < std::min<uint64_t>(t.rows, step.live()); r += a.shape.beams)
    Sentence(node, values, r).run(values.at(node.inputs[search::kChoices]).u.data() + r * t.ld, t.ld);
}

// ---- cases --------------------------------------------------------------------------------------------------------

struct Build {
  uint32_t t = 0, sentences = 1, beams = 4, ends = 1;
  uint32_t vocabulary = 200, slice = 200;
  std::vector<uint32_t> going_on = {};  // sentences; empty: all
  uint64_t seed = 1;
  uint32_t drawn = 0;
};

struct BeamCase {
  BeamCase(const std::string& name, const Build& b)
      : build(b),
        state(name, {b.sentences * b.beams, 24, b.beams, b.sentences, b.sentences * b.beams, 8}),
        random(b.seed * 31) {
    std::vector<uint32_t> beam_slots, ends;
    for (uint32_t s = 0; s < b.sentences; ++s) {
      const bool on = b.going_on.empty() || std::find(b.going_on.begin(), b.going_on.end(), s) != b.going_on.end();
      for (uint32_t i = 0; on && i < b.beams; ++i) beam_slots.push_back(s * b.beams + i);
    }
    for (uint32_t e = 0; e < b.ends; ++e) ends.push_back(2 + e);
    k = std::max(2u, 1 + b.ends) * b.beams;
    state.set_ends(ends);
    state.random_lineage(b.t + 1, b.vocabulary, random);
    state.set_step(b.t, static_cast<uint32_t>(beam_slots.size()), beam_slots);
    scores.assign(uint64_t{b.sentences} * b.beams * b.vocabulary, 0.0);
    for (auto& v : scores) v = static_cast<double>(static_cast<float>(-5 + 5 * random.unit()));
    if (b.t > 0)
      for (uint32_t s = 0; s < b.sentences; ++s)
        for (uint32_t i = 0; i < b.beams; ++i)
          running(s, i) = search::as_word(-1.5f * static_cast<float>(b.t) - 0.25f * static_cast<float>(i));
  }
  uint32_t& running(uint32_t sentence, uint32_t beam) {
    return state.search[state.search_word(sentence, state::search_running(beam))];
  }
  double& score(uint32_t row, uint32_t id) { return scores[uint64_t{row} * build.vocabulary + id]; }
  // Adds `count` finished hypotheses, best first, from `first` down by `step` each.
  void put_finished(uint32_t sentence, uint32_t count, float first, float step) {
    state.search[state.search_word(sentence, state::SEARCH_FINISHED)] = count;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = state.search_word(sentence, state::search_finished_entry(build.beams, i));
      state.search[at + state::FINISHED_SCORE] = search::as_word(first - step * static_cast<float>(i));
      state.search[at + state::FINISHED_POSITION] = i;
      state.search[at + state::FINISHED_BEAM] = 0;
      state.search[at + state::FINISHED_TOKEN] = 2;
    }
  }
  // Makes ends likely: raises their scores by `by`.
  void favour_ends(double by) {
    for (uint32_t row = 0; row < build.sentences * build.beams; ++row)
      for (uint32_t e = 0; e < build.ends; ++e) score(row, 2 + e) += by;
  }
  // The best of each slice of the scores, as top_k produces them.
  [[nodiscard]] HostTensor candidate_words(const graph::Tensor& candidates) const {
    CaseRandom noise = random;
    const uint32_t rows = build.sentences * build.beams;
    std::vector<uint32_t> words(candidates.elements(), 0);
    for (uint32_t r = 0; r < rows; ++r) {
      uint64_t at = r * candidates.ld;
      for (uint32_t begin = 0; begin < build.vocabulary; begin += build.slice) {
        const uint32_t end = std::min(begin + build.slice, build.vocabulary);
        for (const auto& c : search::best_columns(scores.data() + uint64_t{r} * build.vocabulary, begin, end, k)) {
          words[at++] = search::as_word(c.score);
          words[at++] = c.id;
          if (!build.drawn) continue;
          words[at++] = search::as_word(search::forbidden(c.score) ? state::MASKED
                                                                   : c.score - 3 * static_cast<float>(noise.unit()));
          words[at++] = 0;
        }
      }
    }
    return words_of(std::move(words));
  }
  OpCase finish() {
    auto& g = state.op_case.graph;
    const uint32_t rows = build.sentences * build.beams, slices = div_up(build.vocabulary, build.slice);
    const uint64_t each = build.drawn ? 4 : 2;
    const auto candidates = g.activation("candidates", rows, each * k * slices, graph::DType::u32);
    ops::beam_step(g, state.op_case.name, candidates, state.tensors, {state.shape, k, 1, build.drawn});
    state.op_case.prepare = [self = *this, candidates](OpCase& into) {
      into.inputs.emplace_back(candidates, self.candidate_words(into.graph.tensor(candidates)));
    };
    return state.finish();
  }

  Build build;
  search::StateCase state;
  CaseRandom random;
  std::vector<double> scores;
  uint32_t k = 0;
};

void add_shape_cases(std::vector<OpCase>& all) {
  all.push_back(BeamCase("first step", {}).finish());
  all.push_back(BeamCase("one beam", {3, 2, 1}).finish());
  all.push_back(BeamCase("slices", {5, 3, 5, 1, 409, 32}).finish());
  all.push_back(BeamCase("some have ended", {4, 5, 3, 2, 97, 50, {1, 4}}).finish());
  all.push_back(BeamCase("most candidates", {6, 2, state::MAX_BEAMS, state::MAX_END_TOKENS, 997, 200}).finish());
  // As many lists as possible and a single permitted id, so that long runs of forbidden ids are traversed: this comes
  // closest to the number of loop iterations that a CPU driver grants.
  all.push_back(
      BeamCase("most candidates, many slices", {6, 1, state::MAX_BEAMS, state::MAX_END_TOKENS, 12800, 200}).finish());
  {
    BeamCase c("most candidates, one permitted id", {0, 1, state::MAX_BEAMS, state::MAX_END_TOKENS, 12800, 200});
    for (auto& v : c.scores) v = static_cast<double>(state::MASKED);
    for (uint32_t row = 0; row < state::MAX_BEAMS; ++row) c.score(row, 9) = 0;
    all.push_back(c.finish());
  }
  all.push_back(BeamCase("no end token", {2, 2, 4, 0}).finish());
  all.push_back(BeamCase("fewer ids than candidates", {2, 2, 4, 1, 7, 7}).finish());
  all.push_back(BeamCase("fewer continuations than candidates", {2, 1, 2, 1, 1, 4}).finish());
  {
    BeamCase c("positions and options of their own", {7, 5, 3, 2, 150, 64});
    c.state.step = step_values({7, 7, 7, 2, 2, 2, 5, 5, 5, 6, 6, 6, 4}, 15).u;
    for (uint32_t s = 0; s < 5; ++s) {
      c.state.param(s, state::P_MARK) = 9 + s;
      c.state.param(s, state::P_PREFIX) = 1 + s % 3;
      c.state.param(s, state::P_MAX_LENGTH) = s == 3 ? 8 : 20;
      c.state.param(s, state::P_END_IDS) = 2 + 5 * s;
      c.state.param(s, state::P_LENGTH_PENALTY) = search::as_word(0.5f * static_cast<float>(s));
      c.state.param(s, state::P_EARLY_STOPPING) = s % 3;
    }
    c.put_finished(4, 2, -1, 0.25f);
    all.push_back(c.finish());
  }
  {
    BeamCase c("no numbers", {4, 4, 3, 1, 60, 32});
    const double infinite = std::numeric_limits<double>::infinity();
    for (uint32_t id = 0; id < 60; ++id) c.score(4, id) = infinite;  // in one beam of the second sentence
    for (uint32_t row = 9; row < 12; ++row)
      for (uint32_t id = 0; id < 60; ++id) c.score(row, id) = infinite;
    all.push_back(c.finish());
  }
  {
    BeamCase c("done", {6, 2, 4});
    c.state.set_step(6, 0);
    all.push_back(c.finish());
    all.push_back(BeamCase("beyond the capacity", {23, 2, 4}).finish());
  }
}

// Every way to stop, with finished hypotheses in the list and likely ends.
void add_rule_cases(std::vector<OpCase>& all) {
  for (const auto early : {StopRule::no, StopRule::yes, StopRule::never, StopRule::shrinking})
    for (const float penalty : {-1.0f, 0.0f, 0.6f, 1.0f, 2.0f}) {
      BeamCase c(format("stopping %u, penalty %.1f", static_cast<uint32_t>(early), static_cast<double>(penalty)),
                 {7, 6, 3, 2, 150, 64});
      c.state.set_param(state::P_EARLY_STOPPING, static_cast<uint32_t>(early));
      c.state.set_param(state::P_LENGTH_PENALTY, penalty);
      c.favour_ends(5);
      const float typical = -12 / search::length_divisor(8, penalty);
      c.put_finished(1, 1, typical, 0);
      c.put_finished(2, 2, typical, 0.05f);
      c.put_finished(3, 3, typical / 16, 0.05f);  // nothing more to gain
      c.put_finished(4, 3, typical * 4, 0.25f);   // full, yet easily beaten
      c.put_finished(5, 2, typical, 0.05f);
      c.state.search[c.state.search_word(5, state::SEARCH_SETTLED)] = 1;
      all.push_back(c.finish());
    }
  for (const uint32_t longest : {9u, 10u}) {
    BeamCase c(format("step 7 of at most %u ids", longest), {7, 2, 4, 1, 150, 150});
    c.state.set_param(state::P_MAX_LENGTH, longest);
    c.put_finished(1, 4, -1, 0.5f);
    all.push_back(c.finish());
  }
}

void add_score_cases(std::vector<OpCase>& all) {
  const auto masked = static_cast<double>(state::MASKED);
  {
    BeamCase c("ties", {4, 2, 4, 1, 90, 32});
    for (uint32_t row = 0; row < 8; ++row)
      for (uint32_t id = 0; id < 90; ++id) c.score(row, id) = -0.5 * static_cast<double>(c.random.below(3));
    for (uint32_t b = 0; b < 4; ++b) c.running(0, b) = c.running(1, b) = search::as_word(-2.0f);
    all.push_back(c.finish());
  }
  {
    // Different scores become equal when added to a large sum; then the ids decide.
    BeamCase c("ties by rounding", {4, 1, 2, 1, 60, 60});
    for (uint32_t row = 0; row < 2; ++row)
      for (uint32_t id = 0; id < 60; ++id) c.score(row, id) = -1 - 1e-6 * static_cast<double>((id * 37) % 60);
    for (uint32_t b = 0; b < 2; ++b) c.running(0, b) = search::as_word(-1024.0f);
    all.push_back(c.finish());
  }
  {
    BeamCase c("one permitted id, as when it is forced", {0, 1, 4, 1, 60, 32});
    for (uint32_t row = 0; row < 4; ++row)
      for (uint32_t id = 0; id < 60; ++id) c.score(row, id) = id == 9 ? 0 : masked;
    all.push_back(c.finish());
  }
  {
    BeamCase c("only an end is permitted", {3, 2, 3, 1, 60, 32});
    for (uint32_t row = 0; row < 6; ++row)
      for (uint32_t id = 0; id < 60; ++id)
        if (id != 2) c.score(row, id) = masked;
    all.push_back(c.finish());
  }
  {
    BeamCase c("nothing is permitted", {3, 2, 3, 1, 60, 32});
    for (uint32_t row = 0; row < 3; ++row)
      for (uint32_t id = 0; id < 60; ++id) c.score(row, id) = masked;
    c.running(1, 1) = search::as_word(state::MASKED);
    all.push_back(c.finish());
  }
}

void add_drawn_cases(std::vector<OpCase>& all) {
  all.push_back(BeamCase("drawn, first step", {0, 2, 4, 1, 200, 100, {}, 3, 1}).finish());
  all.push_back(BeamCase("drawn, some have ended", {4, 5, 3, 2, 97, 50, {1, 4}, 4, 1}).finish());
  all.push_back(
      BeamCase("drawn, most candidates", {6, 2, state::MAX_BEAMS, state::MAX_END_TOKENS, 997, 200, {}, 5, 1}).finish());
  all.push_back(BeamCase("drawn, fewer ids than candidates", {2, 2, 4, 1, 7, 7, {}, 6, 1}).finish());
  {
    BeamCase c("drawn, likely ends", {7, 6, 3, 2, 150, 64, {}, 7, 1});
    c.favour_ends(5);
    c.put_finished(1, 2, -2, 0.05f);
    all.push_back(c.finish());
  }
  {
    BeamCase c("drawn, of a beam that shrinks", {7, 6, 4, 2, 150, 64, {}, 9, 1});
    c.state.set_param(state::P_EARLY_STOPPING, static_cast<uint32_t>(StopRule::shrinking));
    c.favour_ends(2);
    c.put_finished(1, 1, -2, 0);
    c.put_finished(2, 2, -2, 0.05f);
    c.put_finished(3, 3, -2, 0.05f);
    all.push_back(c.finish());
  }
  {
    BeamCase c("drawn, one permitted id", {0, 1, 4, 1, 60, 32, {}, 8, 1});
    for (uint32_t row = 0; row < 4; ++row)
      for (uint32_t id = 0; id < 60; ++id) c.score(row, id) = id == 9 ? 0 : static_cast<double>(state::MASKED);
    all.push_back(c.finish());
  }
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  add_drawn_cases(all);
  add_shape_cases(all);
  add_rule_cases(all);
  add_score_cases(all);
  return all;
}

constexpr OpDef op{"beam_step", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace beam_step_impl

constinit const OpDef beam_step_op = beam_step_impl::op;

void ops::beam_step(graph::Graph& g, const std::string& label, graph::TensorId candidates, const SearchTensors& state,
                    StepAttributes a) {
  const uint64_t words = uint64_t{beam_step_impl::words_each(a)} * a.candidates;
  a.slices = words == 0 ? 0 : static_cast<uint32_t>(g.tensor(candidates).cols / words);
  g.add_node(search::step_node(beam_step_op, label, candidates, state, a));
}

}  // namespace lapilli
