// "processors": see search.hpp.
#include <algorithm>
#include <cmath>
#include <set>

#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/search/search_util.hpp"

namespace lapilli {
namespace processors_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, columns, ld, begin, first_row, beam_slots, positions, beams;)
};

enum Input : size_t { kLogits, kStep, kSearch, kLineage, kLists };

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto shape = node.attributes.as<ProcessorsAttributes>().shape;
  LAPILLI_CHECK(expect_input(g, node, kLogits, {"logits"}));
  const auto& x = g.tensor(node.inputs[kLogits]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"logits", x.rows, x.cols}));
  if (g.root(node.outputs[0]) != g.root(node.inputs[kLogits])) return node_error(node, "works in place only");
  if (node.inputs.size() != 5) return node_error(node, "needs logits, step, search, lineage and lists");
  ops::SearchTensors state;
  state.step = node.inputs[kStep];
  state.search = node.inputs[kSearch];
  state.lineage = node.inputs[kLineage];
  state.lists = node.inputs[kLists];
  LAPILLI_CHECK(search::expect_state(g, node, state, shape));
  if (x.rows > shape.beam_slots) return node_error(node, "%u rows, %u beam slots", x.rows, shape.beam_slots);
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto shape = node.attributes.as<ProcessorsAttributes>().shape;
  const auto x = node.outputs[0];
  const auto& t = context.graph.tensor(x);
  LAPILLI_TRY(const auto lineage, bind_whole(context, 1, node.inputs[kLineage], graph::Access::read));
  LAPILLI_TRY(const auto lists, bind_whole(context, 2, node.inputs[kLists], graph::Access::read));
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kStep], graph::Access::read));
  LAPILLI_TRY(const auto search, bind_whole(context, 3, node.inputs[kSearch], graph::Access::read));
  LAPILLI_TRY(const auto ranges, row_slices(context, node, t.rows, {t.ld * 4, 1}));
  for (const auto& r : ranges) {
    Dispatch d;
    d.shader = ShaderId::processors;
    d.constants = {v.numbers.local};
    d.groups = r.end - r.begin;
    if (ranges.size() == 1) follow_live_rows(d, 1, 1);
    uint32_t delta = 0;
    d.operands = {bind_range(context, 0, {x, r.begin * t.ld * 4, r.end * t.ld * 4, graph::Access::read_write}, delta),
                  lineage, lists, search, step};
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.cols), static_cast<uint32_t>(t.ld), delta,
                    static_cast<uint32_t>(r.begin), shape.beam_slots, shape.positions, shape.beams});
    // Most steps touch only a few scores; all invocations read the history.
    d.cost = static_cast<double>(d.groups) * (static_cast<double>(t.cols) / 8 + 64.0 * shape.positions);
    out.push_back(std::move(d));
  }
  return {};
}

// One row, in the order of the reference implementation, sharing nothing with the kernel but the rules.
class Row {
 public:
  Row(double* scores, uint64_t columns, const search::ParamView& p) : scores_(scores), columns_(columns), p_(p) {}
  std::vector<uint32_t> history, source;

  void process(const std::vector<uint32_t>& lists) {
    sequence_bias(lists);
    penalize(source, p_.real(state::P_ENCODER_REPETITION_PENALTY));
    penalize(history, p_.real(state::P_REPETITION_PENALTY));
    no_repeat(history, p_[state::P_NO_REPEAT_NGRAM]);
    no_repeat(source, p_[state::P_ENCODER_NO_REPEAT_NGRAM]);
    bad_words(lists);
    const auto count = static_cast<uint32_t>(history.size());
    for (const uint32_t least : {p_[state::P_MIN_LENGTH], p_[state::P_MIN_NEW_LENGTH]})
      if (count < least)
        for (uint32_t i = 0; i < p_[state::P_END_COUNT]; ++i) forbid(p_[state::P_END_IDS + i]);
    if (p_[state::P_FORCED_BOS] != 0 && count == 1) force({p_[state::P_FORCED_BOS] - 1});
    if (p_[state::P_FORCED_EOS_COUNT] != 0 && count + 1 == p_[state::P_MAX_LENGTH]) force(forced_ends());
    exponential_decay();
    suppress(lists, state::P_SUPPRESS_OFFSET);
    if (count == p_[state::P_BEGIN_SUPPRESS_LENGTH]) suppress(lists, state::P_BEGIN_SUPPRESS_OFFSET);
    if (p_[state::P_TIMESTAMP_BEGIN] != 0) timestamps();
  }

 private:
  void forbid(uint32_t id) {
    if (id < columns_) scores_[id] = static_cast<double>(state::MASKED);
  }
  void add(uint32_t id, double bias) {
    if (id < columns_ && !search::forbidden(scores_[id])) scores_[id] = search::unless_forbidden(scores_[id] + bias);
  }
  void force(const std::vector<uint32_t>& ids) {
    for (uint32_t id = 0; id < columns_; ++id) forbid(id);
    for (const uint32_t id : ids)
      if (id < columns_) scores_[id] = 0;
  }
  std::vector<uint32_t> forced_ends() const {
    std::vector<uint32_t> ids;
    for (uint32_t i = 0; i < p_[state::P_FORCED_EOS_COUNT]; ++i) ids.push_back(p_[state::P_FORCED_EOS_IDS + i]);
    return ids;
  }
  // True if the history ends with all of these ids but the last; the reference requires a history of n ids, not n - 1.
  bool follows(const uint32_t* ids, uint32_t n) const {
    return n > 0 && n <= history.size() && std::equal(ids, ids + n - 1, history.end() - (n - 1));
  }
  void sequence_bias(const std::vector<uint32_t>& lists) {
    uint64_t at = p_[state::P_BIAS_OFFSET];
    for (uint32_t e = 0; e < p_[state::P_BIAS_COUNT]; ++e, at += lists[at] + 2)
      if (follows(&lists[at + 2], lists[at]))
        add(lists[at + lists[at] + 1], static_cast<double>(search::as_float(lists[at + 1])));
  }
  void bad_words(const std::vector<uint32_t>& lists) {
    uint64_t at = p_[state::P_BAD_WORDS_OFFSET];
    for (uint32_t e = 0; e < p_[state::P_BAD_WORDS_COUNT]; ++e, at += lists[at] + 1) {
      const bool just_end = lists[at] == 1 && p_.is_end(lists[at + 1]);
      if (!just_end && follows(&lists[at + 1], lists[at])) forbid(lists[at + lists[at]]);
    }
  }
  void penalize(const std::vector<uint32_t>& ids, float penalty) {
    const auto by = static_cast<double>(penalty);
    for (const uint32_t id : std::set<uint32_t>(ids.begin(), ids.end()))
      if (id < columns_ && !search::forbidden(scores_[id]))
        scores_[id] = search::unless_forbidden(scores_[id] < 0 ? scores_[id] * by : scores_[id] / by);
  }
  void no_repeat(const std::vector<uint32_t>& ids, uint32_t n) {
    if (n == 0 || history.size() + 1 < n) return;
    for (size_t i = 0; i + n <= ids.size(); ++i)
      if (std::equal(history.end() - (n - 1), history.end(), ids.begin() + static_cast<std::ptrdiff_t>(i)))
        forbid(ids[i + n - 1]);
  }
  void exponential_decay() {
    const auto count = static_cast<uint32_t>(history.size());
    if (p_[state::P_DECAY_START] == 0 || count <= p_[state::P_DECAY_START]) return;
    // The limits match the kernel's, where no product may be infinite.
    const double factor =
        std::min(1e15, std::pow(static_cast<double>(p_.real(state::P_DECAY_FACTOR)), count - p_[state::P_DECAY_START]));
    std::set<uint32_t> ends;
    for (uint32_t i = 0; i < p_[state::P_END_COUNT]; ++i) ends.insert(p_[state::P_END_IDS + i]);
    for (const uint32_t id : ends)
      if (id < columns_) add(id, std::min(std::min(std::abs(scores_[id]), 1e23) * (factor - 1), 1e30));
  }
  void forbid_range(uint64_t begin, uint64_t end) {
    for (uint64_t id = begin; id < std::min(end, columns_); ++id) forbid(static_cast<uint32_t>(id));
  }
  void timestamps() {
    const uint32_t begin = p_[state::P_TIMESTAMP_BEGIN], after = p_[state::P_TIMESTAMP_AFTER];
    forbid(begin - 1);
    const std::vector<uint32_t> generated(history.begin() + std::min<std::ptrdiff_t>(after, std::ssize(history)),
                                          history.end());
    const size_t n = generated.size();
    const bool last = n >= 1 && generated[n - 1] >= begin, before_last = n < 2 || generated[n - 2] >= begin;
    if (last && before_last) forbid_range(begin, columns_);
    if (last && !before_last) forbid_range(0, p_[state::P_END_COUNT] == 0 ? 0 : p_[state::P_END_IDS]);
    const auto latest = std::find_if(generated.rbegin(), generated.rend(), [&](uint32_t id) { return id >= begin; });
    if (latest != generated.rend()) forbid_range(begin, *latest + (last && !before_last ? 0 : 1));
    if (history.size() == after) {
      forbid_range(0, begin);
      if (p_[state::P_TIMESTAMP_LATEST] != 0) forbid_range(uint64_t{p_[state::P_TIMESTAMP_LATEST]} + 1, columns_);
    }
    double text = static_cast<double>(state::MASKED), most = text, sum = 0;
    for (uint32_t id = 0; id < columns_; ++id) {
      double& best = id < begin ? text : most;
      best = std::max(best, scores_[id]);
    }
    for (uint32_t id = begin; id < columns_; ++id)
      if (!search::forbidden(scores_[id])) sum += std::exp(scores_[id] - most);
    if (sum > 0 && most + std::log(sum) > text) forbid_range(0, begin);
  }
  void suppress(const std::vector<uint32_t>& lists, uint32_t offset_word) {
    for (uint32_t i = 0; i < p_[offset_word + 1]; ++i) forbid(lists[p_[offset_word] + i]);
  }

  double* scores_;
  uint64_t columns_;
  search::ParamView p_;
};

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto shape = node.attributes.as<ProcessorsAttributes>().shape;
  const auto& t = g.tensor(node.inputs[kLogits]);
  const search::StepView step(values.at(node.inputs[kStep]));
  const auto &lineage = values.at(node.inputs[kLineage]).u, &lists = values.at(node.inputs[kLists]).u;
  auto& x = values.at(node.inputs[kLogits]).f;
  for (uint64_t r = 0; r < std::min<uint64_t>(t.rows, step.live()); ++r) {
    const uint32_t beam_slot = step.beam_slot(r), position = step.position(r);
    const search::ParamView p(values.at(node.inputs[kSearch]), beam_slot, shape.beams);
    Row row(x.data() + r * t.ld, t.cols, p);
    for (uint32_t i = 0; i <= position; ++i)
      row.history.push_back(lineage[state::lineage_word(state::lineage_parity(position), state::LINEAGE_TOKENS,
                                                        beam_slot, i, shape.beam_slots, shape.positions)]);
    for (uint32_t i = 0; i < p[state::P_SOURCE_COUNT]; ++i) row.source.push_back(lists[p[state::P_SOURCE_OFFSET] + i]);
    row.process(lists);
  }
}

// ---- cases --------------------------------------------------------------------------------------------------------

constexpr uint32_t kVocabulary = 53;

// Two sentences of three beams, the first of which has ended; 9 ids so far.
search::StateCase make_state(const std::string& name, uint32_t t = 8) {
  search::StateCase c(name, {6, 40, 3, 2}, 256);
  CaseRandom random(t + 17);
  c.set_step(t, 3, {3, 4, 5});
  // Few distinct ids, so that there is much repetition.
  c.random_lineage(t, 5, random);
  return c;
}

OpCase make_case(search::StateCase c, uint64_t columns = kVocabulary) {
  auto& g = c.op_case.graph;
  const auto x = g.activation("logits", c.shape.beam_slots, columns);
  ops::processors(g, c.op_case.name, x, c.tensors, {c.shape});
  CaseRandom random(columns);
  c.op_case.inputs.emplace_back(x, random_values(g.tensor(x), random, 6));
  c.op_case.live_rows = c.step[state::STEP_LIVE];
  return c.finish();
}

void put(search::StateCase& c, uint32_t offset_word, uint32_t at, uint32_t count, std::vector<uint32_t> words) {
  c.set_param(offset_word, at);
  c.set_param(offset_word + 1, count);
  std::copy(words.begin(), words.end(), c.lists.begin() + at);
}

void put_source(search::StateCase& c) {
  for (uint32_t s = 0; s < c.shape.slots; ++s) c.param(s, state::P_SOURCE_OFFSET) = 100 + 7 * s;
  c.set_param(state::P_SOURCE_COUNT, 7);
  CaseRandom random(3);
  for (uint32_t i = 0; i < 14; ++i) c.lists[100 + i] = random.below(6);
}

void put_all(search::StateCase& c) {
  put_source(c);
  c.set_param(state::P_ENCODER_REPETITION_PENALTY, 0.625f);
  c.set_param(state::P_REPETITION_PENALTY, 1.5f);
  c.set_param(state::P_NO_REPEAT_NGRAM, 3);
  c.set_param(state::P_ENCODER_NO_REPEAT_NGRAM, 2);
  c.set_param(state::P_MIN_LENGTH, 12);
  c.set_param(state::P_DECAY_START, 3);
  c.set_param(state::P_DECAY_FACTOR, 1.25f);
  const auto f = [](float v) { return search::as_word(v); };
  put(c, state::P_SUPPRESS_OFFSET, 1, 2, {13, 52});
  put(c, state::P_BAD_WORDS_OFFSET, 10, 4, {1, 10, 2, 3, 12, 1, 2, 3, 1, 4, 0});
  put(c, state::P_BIAS_OFFSET, 30, 4, {1, f(2.5f), 14, 2, f(-1.5f), 0, 14, 2, f(0.75f), 3, 14, 1, f(-3e29f), 15});
}

void add_ngram_cases(std::vector<OpCase>& all) {
  for (const uint32_t n : {1u, 2u, 3u, 9u, 10u, 11u}) {
    auto c = make_state(format("no repeated %u-grams", n));
    c.set_param(state::P_NO_REPEAT_NGRAM, n);
    all.push_back(make_case(std::move(c)));
  }
  for (const uint32_t n : {1u, 2u, 3u, 11u}) {
    auto c = make_state(format("no %u-grams of the source", n));
    put_source(c);
    c.set_param(state::P_ENCODER_NO_REPEAT_NGRAM, n);
    all.push_back(make_case(std::move(c)));
  }
}

void add_length_cases(std::vector<OpCase>& all) {
  for (const uint32_t least : {9u, 10u}) {
    auto c = make_state(format("at least %u ids", least));
    c.set_param(state::P_MIN_LENGTH, least);
    all.push_back(make_case(std::move(c)));
    auto d = make_state(format("at least %u ids, two ends, by new ids", least));
    d.set_ends({2, 7});
    d.set_param(state::P_MIN_NEW_LENGTH, least);
    all.push_back(make_case(std::move(d)));
  }
  for (const uint32_t t : {0u, 1u}) {
    auto c = make_state(format("forced first, step %u", t), t);
    c.set_param(state::P_FORCED_BOS, 10);
    all.push_back(make_case(std::move(c)));
    auto d = make_state(format("suppressed at the beginning, step %u", t), t);
    put(d, state::P_BEGIN_SUPPRESS_OFFSET, 5, 2, {2, 11});
    d.set_param(state::P_BEGIN_SUPPRESS_LENGTH, 1);
    all.push_back(make_case(std::move(d)));
  }
  for (const uint32_t longest : {10u, 11u}) {
    auto c = make_state(format("forced end, at most %u ids", longest));
    c.set_param(state::P_MAX_LENGTH, longest);
    c.set_param(state::P_FORCED_EOS_COUNT, 2);
    c.set_param(state::P_FORCED_EOS_IDS, 2);
    c.set_param(state::P_FORCED_EOS_IDS + 1, 6);
    all.push_back(make_case(std::move(c)));
  }
  for (const uint32_t start : {5u, 9u}) {
    auto c = make_state(format("decay after %u ids", start));
    c.set_ends({2, 9, 2});
    c.set_param(state::P_DECAY_START, start);
    c.set_param(state::P_DECAY_FACTOR, 1.4f);
    all.push_back(make_case(std::move(c)));
  }
}

// Powers far beyond the range of a float, and far below it.
void add_decay_cases(std::vector<OpCase>& all) {
  for (const float factor : {0.5f, 1.03125f, 1.4f, 1e30f}) {
    search::StateCase c(format("decay by %g after 300 ids more", static_cast<double>(factor)), {2, 320, 1, 2}, 16);
    CaseRandom random(300);
    c.set_step(304, 2);
    c.random_lineage(304, 5, random);
    c.set_ends({2, 9});
    c.set_param(state::P_MAX_LENGTH, 320);
    c.set_param(state::P_DECAY_START, 5);
    c.set_param(state::P_DECAY_FACTOR, factor);
    all.push_back(make_case(std::move(c)));
  }
}

// Timestamps from id 30 on; the second sentence has its own history.
void add_timestamp_cases(std::vector<OpCase>& all) {
  const std::pair<const char*, std::vector<uint32_t>> histories[] = {{"first", {}},
                                                                     {"one", {31}},
                                                                     {"text", {31, 4}},
                                                                     {"open", {31, 4, 33}},
                                                                     {"pair", {31, 4, 33, 33}},
                                                                     {"text after a pair", {31, 4, 35, 35, 7, 8}}};
  for (const auto& [name, ids] : histories)
    for (const double favour : {0.0, 4.0}) {
      search::StateCase c(format("timestamps, %s, by %g", name, favour), {2, 40, 1, 2}, 16);
      const auto t = static_cast<uint32_t>(ids.size()) + 1;
      CaseRandom random(t);
      c.random_lineage(t, 5, random);
      for (size_t i = 0; i < ids.size(); ++i)
        for (const uint32_t beam_slot : {0u, 1u})
          c.lineage[state::lineage_word(state::lineage_parity(t), state::LINEAGE_TOKENS, beam_slot, 2 + i, 2, 40)] =
              ids[i];
      c.set_step(t, 2);
      c.set_param(state::P_TIMESTAMP_BEGIN, 30);
      c.set_param(state::P_TIMESTAMP_AFTER, 2);
      c.set_param(state::P_TIMESTAMP_LATEST, 35);
      auto made = make_case(std::move(c));
      for (auto& [id, value] : made.inputs)
        for (size_t i = 0; i < value.f.size(); ++i)
          if (i % 56 >= 30 && i % 56 < kVocabulary) value.f[i] += favour;
      all.push_back(std::move(made));
    }
}

void add_penalty_cases(std::vector<OpCase>& all) {
  for (const float penalty : {1.3f, 0.7f}) {
    auto c = make_state(format("repetition penalty %.1f", static_cast<double>(penalty)));
    c.set_param(state::P_REPETITION_PENALTY, penalty);
    all.push_back(make_case(std::move(c)));
    auto d = make_state(format("repetition penalty %.1f for the source", static_cast<double>(penalty)));
    put_source(d);
    d.set_param(state::P_ENCODER_REPETITION_PENALTY, penalty);
    all.push_back(make_case(std::move(d)));
  }
}

void add_whole_cases(std::vector<OpCase>& all) {
  auto c = make_state("everything");
  put_all(c);
  all.push_back(make_case(std::move(c)));
  auto d = make_state("everything, ids beyond the vocabulary");
  put_all(d);
  all.push_back(make_case(std::move(d), 11));
  auto e = make_state("sentences at positions and with options of their own");
  put_all(e);
  e.step = step_values({8, 8, 8, 3}, 6, {3, 4, 5, 0, 1, 2}).u;
  e.param(0, state::P_MIN_LENGTH) = 4;
  e.param(0, state::P_NO_REPEAT_NGRAM) = 1;
  e.param(0, state::P_REPETITION_PENALTY) = search::as_word(0.5f);
  e.param(0, state::P_SOURCE_COUNT) = 3;
  all.push_back(make_case(std::move(e)));
  auto f = make_state("first step", 0);
  put_all(f);
  all.push_back(make_case(std::move(f)));
  auto h = make_state("done");
  put_all(h);
  h.set_step(8, 0);
  all.push_back(make_case(std::move(h)));
}

void add_forbidden_case(std::vector<OpCase>& all) {
  auto c = make_state("everything on forbidden scores");
  put_all(c);
  auto made = make_case(std::move(c));
  for (auto& v : made.inputs[0].second.f)
    if (v != 0) v = v < 0 ? static_cast<double>(state::MASKED) : v;
  all.push_back(std::move(made));
}

// Rows in several slices on devices with small bindings.
void add_sliced_case(std::vector<OpCase>& all) {
  search::StateCase c("eight rows", {8, 40, 2, 4}, 256);
  CaseRandom random(8);
  c.set_step(11, 7, {6, 7, 0, 1, 4, 5, 2, 3});
  c.random_lineage(11, 9, random);
  put_all(c);
  for (uint32_t i = 14; i < 28; ++i) c.lists[100 + i] = random.below(6);  // the source of all four sentences
  all.push_back(make_case(std::move(c), 4001));
}

// More ids than the bits of one pass.
void add_large_vocabulary_case(std::vector<OpCase>& all) {
  search::StateCase c("large vocabulary", {2, 80, 2, 1}, 256);
  CaseRandom random(6);
  c.set_step(70, 2);
  c.random_lineage(70, 140003, random);
  for (uint32_t i = 0; i < 70; i += 3)  // some appear twice
    for (const uint32_t beam_slot : {0u, 1u}) {
      auto* ids = &c.lineage[state::lineage_word(0, state::LINEAGE_TOKENS, beam_slot, 0, 2, 80)];
      ids[i] = ids[i + 1] % 65536 + 65536;
      ids[i + 2] = ids[i];
    }
  c.set_param(state::P_REPETITION_PENALTY, 1.25f);
  c.set_param(state::P_FORCED_EOS_COUNT, 1);
  all.push_back(make_case(std::move(c), 140003));
}

// A history longer than the part a workgroup keeps.
void add_long_history_case(std::vector<OpCase>& all) {
  search::StateCase c("long history", {2, 1300, 1, 2}, 64);
  CaseRandom random(5);
  c.set_step(1288, 2);
  c.random_lineage(1288, 4001, random);
  c.set_param(state::P_REPETITION_PENALTY, 1.25f);
  c.set_param(state::P_NO_REPEAT_NGRAM, 1);
  c.set_param(state::P_BAD_WORDS_COUNT, 1);
  c.lists[0] = 1;
  c.lists[1] = 77;
  all.push_back(make_case(std::move(c), 4001));
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case(make_state("nothing asked for")));
  add_penalty_cases(all);
  add_ngram_cases(all);
  add_length_cases(all);
  add_whole_cases(all);
  add_decay_cases(all);
  add_timestamp_cases(all);
  add_forbidden_case(all);
  add_sliced_case(all);
  add_large_vocabulary_case(all);
  add_long_history_case(all);
  return all;
}

constexpr OpDef op{"processors", infer, only_variant<Tuned::processors, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace processors_impl

constinit const OpDef processors_op = processors_impl::op;

graph::TensorId ops::processors(graph::Graph& g, const std::string& label, graph::TensorId logits,
                                const SearchTensors& state, const ProcessorsAttributes& attributes) {
  const auto y = g.updated(label, logits);
  g.add_node({&processors_op,
              label,
              {logits, state.step, state.search, state.lineage, state.lists},
              {y},
              graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
