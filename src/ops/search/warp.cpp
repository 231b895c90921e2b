// "warp": see search.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/search/search_util.hpp"

namespace lapilli {
namespace warp_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, columns, ld4, begin4, slices, lists_begin4, lists_ld4, first_row, beams;)
};

enum Input : size_t { kScores, kStep, kSearch, kInputs };
enum Output : size_t { kFiltered, kLists };
enum Way : uint32_t { kRows, kSlices };

// As in shaders/lib/warp.glsl: the length of a slice's list; columns per slice.
constexpr uint64_t kListed = 128, kSliceColumns = 2048;
// With at least this many slices, the sliced variant comes first: three dispatches instead of one.
constexpr uint64_t kManySlices = 16;

uint64_t slices_of(uint64_t columns) { return div_up(columns, kSliceColumns); }
// Lists, the rest of each slice, and an interval.
uint64_t list_words(uint64_t columns) { return slices_of(columns) * (kListed + 4) + 4; }

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, kScores, {"scores"}));
  const auto& x = g.tensor(node.inputs[kScores]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"scores", x.rows, x.cols}));
  if (g.root(node.outputs[0]) != g.root(node.inputs[kScores])) return node_error(node, "works in place only");
  if (node.inputs.size() != kInputs) return node_error(node, "needs scores, step and search");
  if (x.ld % 4 != 0) return node_error(node, "rows are not whole vectors");
  LAPILLI_CHECK(expect_words(g, node, node.inputs[kStep], "step", state::STEP_QUEUE));
  LAPILLI_CHECK(expect_output(g, node, kLists, {"lists", x.rows, list_words(x.cols)}));
  const uint64_t beams = std::max(1u, node.attributes.as<WarpAttributes>().beams);
  return expect_words(g, node, node.inputs[kSearch], "search",
                      x.rows / beams * state::search_stride(static_cast<uint32_t>(beams)));
}

// Limited by the arrays of threshold.glsl and its sums by halves, and by loops: at most 60 passes over a row of `ld`
// words, plus ten over lists of a sixteenth of it, may take no more than 65,535 iterations together
// (docs/inside/adding-an-op.md).
LocalSizes local_sizes(uint64_t ld) {
  constexpr uint64_t kPasses = 61, kTurns = 65'535;
  return {static_cast<uint32_t>(std::bit_ceil(div_up(div_up<uint64_t>(ld, 4) * kPasses, kTurns))), 512, 1, true};
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph& g, const graph::Node& node) {
  Numbers numbers = default_numbers(caps, Tuned::warp);
  const uint32_t most = std::bit_floor(std::min(caps.max_invocations, caps.max_group_size[0]));
  const auto& t = g.tensor(node.outputs[kFiltered]);
  numbers.local = std::min(std::max(numbers.local, local_sizes(t.ld).least), most);
  const uint64_t slices = slices_of(t.cols);
  std::vector<Variant> all = {{kRows, "workgroup a row", true, numbers}};
  const bool first = device_traits(caps).parallel && slices >= kManySlices;
  if (slices > 1) all.insert(first ? all.begin() : all.end(), {kSlices, "workgroup a slice", true, numbers});
  return all;
}

// Stages of the sliced variant: list the best of each slice, find the row's thresholds among these, apply them.
enum class Stage : uint8_t { whole, list, listed, apply };

struct StageShader {
  ShaderId shader;
  bool by_slices;
  graph::Access of_lists;
  double cost;  // approximate, per word; all filters may be on, with some 60 passes
};
StageShader shader_of(Stage stage) {
  switch (stage) {
    case Stage::list: return {ShaderId::warp_lists, true, graph::Access::write, 60};
    case Stage::listed: return {ShaderId::warp, false, graph::Access::read_write, 80};
    case Stage::apply: return {ShaderId::warp_apply, true, graph::Access::read, 3};
    case Stage::whole: break;
  }
  return {ShaderId::warp, false, graph::Access::read_write, 1000};
}

Result<Dispatch> lower_stage(const LowerContext& context, const graph::Node& node, uint32_t local, const RowSlice& r,
                             Stage stage) {
  const auto x = node.outputs[kFiltered], lists = node.outputs[kLists];
  const auto& t = context.graph.tensor(x);
  const StageShader of = shader_of(stage);
  const auto slices = static_cast<uint32_t>(slices_of(t.cols)), groups = of.by_slices ? slices : 1;
  Dispatch d;
  d.shader = of.shader;
  d.constants = {local};
  if (!of.by_slices) d.constants.push_back(stage == Stage::listed ? 1 : 0);
  d.groups = (r.end - r.begin) * groups;
  if (r.end - r.begin == t.rows) follow_live_rows(d, groups, 1);
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kStep], graph::Access::read));
  uint32_t dx = 0, dl = 0;
  d.operands = {bind_range(context, 0, {x, r.begin * t.ld * 4, r.end * t.ld * 4, graph::Access::read_write}, dx), step};
  if (stage != Stage::apply) {
    LAPILLI_TRY(const auto search, bind_whole(context, 1, node.inputs[kSearch], graph::Access::read));
    d.operands.push_back(search);
  }
  const uint64_t ld = context.graph.tensor(lists).ld;
  d.operands.push_back(bind_range(context, 2, {lists, r.begin * ld * 4, r.end * ld * 4, of.of_lists}, dl));
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.cols), static_cast<uint32_t>(t.ld / 4),
                  dx / 4, slices, dl / 4, static_cast<uint32_t>(ld / 4), static_cast<uint32_t>(r.begin),
                  node.attributes.as<WarpAttributes>().beams});
  d.cost = of.cost * static_cast<double>((r.end - r.begin) * t.ld);
  return d;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant variant, std::vector<Dispatch>& out) {
  const auto& t = context.graph.tensor(node.outputs[kFiltered]);
  const uint32_t local = variant.numbers.local;
  LAPILLI_CHECK(check_numbers(context, node, variant.numbers, local_sizes(t.ld)));
  const bool by_slices = variant.id == kSlices;
  LAPILLI_TRY(const auto ranges, row_slices(context, node, t.rows, {t.ld * 4, by_slices ? slices_of(t.cols) : 1}));
  for (const auto& r : ranges) {
    const auto stages = by_slices ? std::vector{Stage::list, Stage::listed, Stage::apply} : std::vector{Stage::whole};
    for (const Stage stage : stages) {
      LAPILLI_TRY(out.emplace_back(), lower_stage(context, node, local, r, stage));
    }
  }
  return {};
}

// One row of scores. Filters see what the previous ones left, best first; equal scores stay or go together.
class Row {
 public:
  Row(double* scores, uint64_t columns, const search::ParamView& p) : scores_(scores), columns_(columns), p_(p) {}

  void warp() {
    temperature();
    top_h();
    if (p_[state::P_TOP_K] != 0) keep_best(p_[state::P_TOP_K], by_score(), [](size_t) { return 1.0; });
    if (real(state::P_TOP_P) < 1) top_p();
    if (real(state::P_MIN_P) > 0) keep_probable([&](const Sums&) { return real(state::P_MIN_P); });
    if (real(state::P_TYPICAL_P) < 1) typical_p();
    if (real(state::P_EPSILON) > 0) keep_probable([&](const Sums& s) { return real(state::P_EPSILON) * s.total; });
    if (real(state::P_ETA) > 0)
      keep_probable([&](const Sums& s) {
        return std::min(real(state::P_ETA), std::sqrt(real(state::P_ETA)) * std::exp(-s.entropy())) * s.total;
      });
  }

 private:
  struct Sums {
    double most = 0, total = 0, weighted = 0;
    [[nodiscard]] double entropy() const { return std::log(total) - weighted / total; }
  };
  double real(uint32_t word) const { return static_cast<double>(p_.real(word)); }
  void forbid(size_t id) { scores_[id] = static_cast<double>(state::MASKED); }

  std::vector<size_t> allowed() const {
    std::vector<size_t> ids;
    for (size_t i = 0; i < columns_; ++i)
      if (!search::forbidden(scores_[i])) ids.push_back(i);
    return ids;
  }
  Sums sums() const {
    Sums s;
    const auto ids = allowed();
    s.most = static_cast<double>(state::MASKED);
    for (const size_t i : ids) s.most = std::max(s.most, scores_[i]);
    for (const size_t i : ids) {
      const double e = std::exp(scores_[i] - s.most);
      s.total += e;
      s.weighted += e * (scores_[i] - s.most);
    }
    return s;
  }
  std::vector<double> by_score() const { return {scores_, scores_ + columns_}; }

  // The lowest key such that the ids with at least that key weigh `target` together; the lowest of all if there is
  // none.
  template <class Weight>
  double threshold(double target, const std::vector<double>& keys, Weight weight) const {
    auto ids = allowed();
    std::sort(ids.begin(), ids.end(), [&](size_t a, size_t b) { return keys[a] > keys[b]; });
    double sum = 0, least = 0;
    for (const size_t i : ids) {
      least = keys[i];
      if ((sum += weight(i)) >= target) break;
    }
    return least;
  }
  template <class Weight>
  void keep_best(double target, const std::vector<double>& keys, Weight weight, double spared = 0) {
    double least = threshold(target, keys, weight);
    if (spared > 0) least = std::min(least, threshold(spared, keys, [](size_t) { return 1.0; }));
    for (const size_t i : allowed())
      if (keys[i] < least) forbid(i);
  }
  double spared() const { return std::max(p_[state::P_MIN_KEEP], 1u); }

  void temperature() {
    for (const size_t i : allowed()) scores_[i] = std::clamp(scores_[i] / real(state::P_TEMPERATURE), -9e28, 9e28);
  }
  void top_h() {
    const double share = real(state::P_TOP_H);
    if (share == 0) return;
    keep_best(100, by_score(), [](size_t) { return 1.0; });
    if (share >= 1) return;
    const Sums s = sums();
    auto ids = allowed();
    std::sort(ids.begin(), ids.end(), [&](size_t a, size_t b) { return scores_[a] > scores_[b]; });
    const auto scores = by_score();
    double used = 0;
    for (size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      for (; end < ids.size() && scores[ids[end]] == scores[ids[begin]]; ++end) {
        const double away = scores[ids[end]] - s.most, probability = std::exp(away) / s.total;
        used += probability * (std::log(s.total) - away);
      }
      if (begin > 0 && used > s.entropy() * share)
        for (size_t i = begin; i < end; ++i) forbid(ids[i]);
    }
  }
  void top_p() {
    const Sums s = sums();
    keep_best(
        real(state::P_TOP_P), by_score(), [&](size_t i) { return std::exp(scores_[i] - s.most) / s.total; }, spared());
  }
  void typical_p() {
    const Sums s = sums();
    auto keys = by_score();
    for (auto& k : keys) k = -std::abs(s.most + s.weighted / s.total - k);
    keep_best(
        real(state::P_TYPICAL_P), keys, [&](size_t i) { return std::exp(scores_[i] - s.most) / s.total; }, spared());
  }
  template <class Limit>
  void keep_probable(Limit limit_of) {
    const Sums s = sums();
    const double limit = limit_of(s), least = threshold(spared(), by_score(), [](size_t) { return 1.0; });
    for (const size_t i : allowed())
      if (std::exp(scores_[i] - s.most) < limit && scores_[i] < least) forbid(i);
  }

  double* scores_;
  uint64_t columns_;
  search::ParamView p_;
};

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto& t = g.tensor(node.inputs[kScores]);
  const search::StepView step(values.at(node.inputs[kStep]));
  const uint32_t beams = node.attributes.as<WarpAttributes>().beams;
  auto& x = values.at(node.inputs[kScores]).f;
  for (uint64_t r = 0; r < std::min<uint64_t>(t.rows, step.live()); ++r) {
    double* row = x.data() + r * t.ld;
    for (uint64_t c = 0; c < t.cols; ++c) row[c] = search::unless_forbidden(row[c]);
    Row(row, t.cols, {values.at(node.inputs[kSearch]), step.beam_slot(r), beams}).warp();
  }
}

// ---- cases --------------------------------------------------------------------------------------------------------

struct Build {
  std::string name;
  uint64_t columns = 101;
  std::vector<std::pair<uint32_t, float>> settings;
  uint32_t top_k = 0, min_keep = 1;
  double scale = 4;
  bool ties = false;
  bool others = false;  // the first sentence has different options
  bool words = false;   // see word_score()
};

// A bell curve for most words, and a few among the first ones far above it.
double word_score(uint64_t id, CaseRandom& random) {
  double score = id < 20000 && id % 1777 < 8 ? 8.1 : 0;
  for (uint32_t i = 0; i < 4; ++i) score += 1.2 * random.unit();
  return static_cast<double>(static_cast<float>(score));
}

OpCase make_case(const Build& b) {
  search::StateCase c(b.name, {4, 9, 1, 4}, 16);
  c.set_step(2, 3);  // 3 of four rows
  c.set_param(state::P_TOP_K, b.top_k);
  c.set_param(state::P_MIN_KEEP, b.min_keep);
  for (const auto& [word, value] : b.settings) c.set_param(word, value);
  if (b.others) c.param(0, state::P_TEMPERATURE) = search::as_word(0.5f);
  auto& g = c.op_case.graph;
  const auto x = g.activation("scores", 4, b.columns);
  ops::warp(g, b.name, x, c.tensors, {1});
  c.op_case.prepare = [b, x](OpCase& into) {
    CaseRandom random(b.columns * 7 + b.top_k);
    auto values = random_values(into.graph.tensor(x), random, b.scale);
    const uint64_t ld = into.graph.tensor(x).ld;
    if (b.words)
      for (uint64_t i = 0; i < 4 * ld; ++i)
        if (i % ld < b.columns) values.f[i] = word_score(i % ld, random);
    if (b.ties)
      for (auto& v : values.f) v = std::round(v);
    // The second row has some forbidden ids, the third only forbidden ones.
    for (uint64_t i = 0; i < b.columns; ++i) {
      if (i % 3 != 1) values.f[ld + i] = static_cast<double>(state::MASKED);
      if (!b.ties) values.f[2 * ld + i] = static_cast<double>(state::MASKED);
    }
    into.inputs.emplace_back(x, std::move(values));
  };
  c.op_case.live_rows = 3;
  return c.finish();
}

// Rows shared by slices; the listed best of each may or may not include the threshold.
std::vector<Build> sliced_cases() {
  return {{"temperature 0.7, slices", 4099, {{state::P_TEMPERATURE, 0.7f}}},
          {"slices just so", 2049, {{state::P_TOP_P, 0.5f}}, 0, 1, 9},
          {"top_p, in lists", 4099, {{state::P_TOP_P, 0.7f}}, 0, 1, 30},
          {"top_p, not in lists", 4099, {{state::P_TOP_P, 0.7f}}, 0, 1, 0.5},
          {"top_k 300, in lists", 4099, {}, 300},
          {"top_k 1500, not in lists", 4099, {}, 1500},
          {"more stay than lists hold", 4099, {{state::P_MIN_P, 0.9f}, {state::P_TOP_P, 0.9f}}, 0, 600, 9},
          {"typical_p, in lists", 4099, {{state::P_TYPICAL_P, 0.5f}, {state::P_ETA, 0.01f}}, 0, 2, 30},
          {"typical_p, not in lists", 4099, {{state::P_TYPICAL_P, 0.6f}, {state::P_MIN_P, 0.3f}}, 0, 2, 1},
          {"eta, in lists", 4099, {{state::P_ETA, 0.01f}}, 0, 1, 30},
          {"ties fill slices, top_k 40", 4099, {{state::P_TOP_P, 0.9f}}, 40, 1, 1, true},
          {"options of their own, slices", 4099, {{state::P_TOP_P, 0.8f}}, 20, 1, 4, false, true}};
}

std::vector<Build> tie_cases() {
  return {{"ties, top_k 4", 211, {}, 4, 1, 4, true},
          {"ties, top_k 50", 211, {}, 50, 1, 4, true},
          {"ties, top_p", 211, {{state::P_TOP_P, 0.6f}}, 0, 2, 4, true},
          {"ties, typical_p", 211, {{state::P_TYPICAL_P, 0.37f}}, 0, 1, 4, true},
          {"ties, min_p and cutoffs",
           211,
           {{state::P_MIN_P, 0.1f}, {state::P_EPSILON, 0.02f}, {state::P_ETA, 0.02f}},
           0,
           3,
           4,
           true}};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  const auto add = [&](const Build& b) { all.push_back(make_case(b)); };
  add({"nothing asked for", 101, {}});
  add({"temperature 0.7", 101, {{state::P_TEMPERATURE, 0.7f}}});
  add({"temperature 1e-6", 101, {{state::P_TEMPERATURE, 1e-6f}}});
  for (const uint32_t k : {1u, 5u, 100u, 101u, 1000u}) add({format("top_k %u", k), 101, {}, k});
  for (const float v : {0.0f, 0.3f, 0.9f, 0.999f}) {
    const auto value = static_cast<double>(v);
    add({format("top_p %g", value), 101, {{state::P_TOP_P, v}}});
    add({format("top_p %g, 3 stay", value), 101, {{state::P_TOP_P, v}}, 0, 3});
  }
  for (const float v : {0.01f, 0.2f, 1.0f}) {
    const auto value = static_cast<double>(v);
    add({format("min_p %g", value), 101, {{state::P_MIN_P, v}}});
    add({format("min_p %g, 2 stay", value), 101, {{state::P_MIN_P, v}}, 0, 2});
    add({format("top_h %g", value), 101, {{state::P_TOP_H, v}}, 0, 1, 1});
  }
  for (const float v : {0.05f, 0.6f, 0.95f}) {
    const auto value = static_cast<double>(v);
    add({format("typical_p %g", value), 101, {{state::P_TYPICAL_P, v}}});
    add({format("typical_p %g, 4 stay", value), 101, {{state::P_TYPICAL_P, v}}, 0, 4});
    add({format("epsilon %g", value / 10), 101, {{state::P_EPSILON, v / 10}}, 0, 2});
    add({format("eta %g", value / 10), 101, {{state::P_ETA, v / 10}}, 0, 2});
  }
  const std::vector<std::pair<uint32_t, float>> many = {
      {state::P_TEMPERATURE, 0.8f}, {state::P_TOP_H, 0.95f},    {state::P_TOP_P, 0.9f}, {state::P_MIN_P, 0.01f},
      {state::P_TYPICAL_P, 0.95f},  {state::P_EPSILON, 0.003f}, {state::P_ETA, 0.004f}};
  for (const uint64_t columns : {1ull, 2ull, 3ull, 17ull, 509ull, 513ull, 4099ull})
    add({format("everything, %u columns", columns), columns, many, 50});
  for (const auto& b : tie_cases()) add(b);
  // Scores that are far too improbable, before anything was measured.
  add({"top_k at a low temperature", 101, {{state::P_TEMPERATURE, 0.001f}}, 5});
  for (const auto& b : sliced_cases()) add(b);
  add({"large vocabulary", 65003, {{state::P_TOP_P, 0.9f}, {state::P_TYPICAL_P, 0.7f}}, 0, 1, 9});
  add({"large vocabulary, much of the lists stays",
       65003,
       {{state::P_TOP_P, 0.9f}, {state::P_TYPICAL_P, 0.7f}},
       0,
       1,
       60});
  for (const auto& [name, settings, k] : std::initializer_list<std::tuple<const char*, decltype(many), uint32_t>>{
           {"words, top_k and top_p", {{state::P_TEMPERATURE, 0.8f}, {state::P_TOP_P, 0.9f}}, 50},
           {"words, top_p", {{state::P_TEMPERATURE, 0.8f}, {state::P_TOP_P, 0.9f}}, 0},
           {"words, min_p", {{state::P_MIN_P, 0.05f}}, 0}}) {
    Build b{name, 250000, settings, k};
    b.words = true;
    add(b);
    all.back().slow = true;
  }
  add({"the largest vocabulary, everything", 256206, many, 5000, 2, 9});
  all.back().slow = true;
  add({"options of their own", 101, {{state::P_TOP_P, 0.8f}}, 20, 1, 4, false, true});
  return all;
}

constexpr OpDef op{"warp", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace warp_impl

constinit const OpDef warp_op = warp_impl::op;

graph::TensorId ops::warp(graph::Graph& g, const std::string& label, graph::TensorId scores, const SearchTensors& state,
                          const WarpAttributes& attributes) {
  const auto lists = g.rows_like(label + ".lists", scores, warp_impl::list_words(g.tensor(scores).cols));
  g.tensor(lists).scratch = true;
  const auto y = g.updated(label, scores);
  g.add_node({&warp_op, label, {scores, state.step, state.search}, {y, lists}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
