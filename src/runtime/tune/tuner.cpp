#include "runtime/tune/tuner.hpp"

#include <algorithm>
#include <optional>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "runtime/plan/tuning_space.hpp"

namespace lapilli {

namespace {

// Runs of a candidate, each paired with one of the standing variant: to find the few that may win, and to be sure.
constexpr size_t kLooks = 8, kPairs = 15, kLeastPairs = 7;
constexpr size_t kFinalists = 3;
// Fractions of the time budget: the end of screening, and the share of each final.
constexpr double kScreened = 0.65, kFinal = 0.08;

bool same(const Variant& a, const Variant& b) { return a.id == b.id && a.numbers == b.numbers; }

struct Candidate {
  Variant variant;
  double ratio = 1;
};

// Nodes that are alike, and the variants that may run them.
struct Contest {
  const OpDef* op = nullptr;
  TunedNodes result;
  std::vector<Variant> candidates;
  std::vector<Candidate> promising;  // candidates that may win, according to screening
  std::optional<Candidate> champion;
};
using Entries = std::vector<std::optional<Variant>>;  // by contest

// A plan compared with the standing one: sums of the fastest run of each dispatch, by contest; the last entry is the
// whole plan.
struct Match {
  size_t pairs = 0;
  std::vector<double> standing, challenger;
  [[nodiscard]] double ratio(size_t contest) const { return challenger[contest] / std::max(standing[contest], 1e-9); }
  [[nodiscard]] double total() const { return ratio(standing.size() - 1); }
};

class Tuner {
 public:
  Tuner(const TuningSubject& subject, TuningBench& bench, const TunerOptions& options)
      : subject_(subject), bench_(bench), options_(options), begun_(now()) {}

  Result<TuningReport> run() {
    LAPILLI_TRY(base_, compiled({}));
    proven_ = base_->pipelines;
    find_contests();
    LAPILLI_TRY(standing_, bench_.bind(base_));
    LAPILLI_TRY(const auto warm, times_of(*base_, *standing_));
    LAPILLI_CHECK(screen());
    for (size_t rank = 0; rank < kFinalists; ++rank) LAPILLI_CHECK(play_final(rank));
    LAPILLI_CHECK(compare());
    LAPILLI_CHECK(confirm());
    return report();
  }

 private:
  [[nodiscard]] double now() const { return options_.now ? options_.now() : clock_seconds(); }
  static double clock_seconds() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }
  [[nodiscard]] bool goes_on(double part) const {
    return now() - begun_ < part * options_.seconds && (!options_.go_on || options_.go_on());
  }

  // ---- plans ------------------------------------------------------------------------------------------------------

  Result<std::shared_ptr<const Plan>> compiled(const Entries& entries, bool reuse_memory = true) const {
    Tunings tunings;
    for (size_t c = 0; c < entries.size(); ++c)
      if (entries[c]) tunings.set(contests_[c].result.key, {entries[c]->name, entries[c]->numbers});
    CompileOptions options = subject_.options;
    options.tunings = &tunings;
    options.reuse_memory = reuse_memory;
    LAPILLI_TRY(auto plan, compile(subject_.graph, subject_.caps, options));
    if (base_ && plan->graph.nodes().size() != base_->graph.nodes().size())
      return fail(ErrorCode::internal, "a candidate changes what is fused");
    return plan;
  }

  void find_contests() {
    for (graph::NodeId n = 0; n < base_->graph.nodes().size(); ++n) contest_of_.push_back(contest_of_node(n));
  }
  std::optional<size_t> contest_of_node(graph::NodeId n) {
    const graph::Node& node = base_->graph.node(n);
    if (!node.op->tuning.key) return std::nullopt;
    const TuningKey key{node.op->name, node.op->tuning.key(base_->graph, node), subject_.options.deterministic};
    const auto at = std::ranges::find_if(contests_, [&](const Contest& c) { return c.result.key == key; });
    if (at == contests_.end()) return add_contest(key, n);
    ++at->result.nodes;
    return at - contests_.begin();
  }
  size_t add_contest(const TuningKey& key, graph::NodeId n) {
    const LowerContext context{base_->graph, subject_.caps,
                               subject_.options.work.value_or(WorkLimit::finest(subject_.caps))};
    const Variant standing = base_->variants[n];
    TuningSpace space = tuning_space(context, base_->graph.node(n), standing, subject_.options);
    Contest c;
    c.op = base_->graph.node(n).op;
    c.result = {.key = key, .nodes = 1, .standing = standing, .best = standing, .pruned = space.pruned};
    c.result.left = space.candidates.size();
    c.candidates = std::move(space.candidates);
    contests_.push_back(std::move(c));
    return contests_.size() - 1;
  }

  // ---- proofs -----------------------------------------------------------------------------------------------------

  // Removes candidates with an unproven kernel from the entries.
  Result<bool> drop_wrong(const std::shared_ptr<const Plan>& plan, Entries& entries) {
    LAPILLI_CHECK(prove(plan));
    bool dropped = false;
    for (const PlannedDispatch& d : plan->dispatches) {
      const auto contest = contest_of_[d.node];
      if (!contest || !entries[*contest] || is_proven(plan->pipelines[d.pipeline])) continue;
      entries[*contest].reset();
      ++contests_[*contest].result.wrong;
      dropped = true;
    }
    return dropped;
  }
  [[nodiscard]] bool is_proven(const PlannedPipeline& p) const {
    return std::ranges::find(proven_, p) != proven_.end();
  }
  Status prove(const std::shared_ptr<const Plan>& plan) {
    auto kernels = kernels_of({&plan, 1}, subject_.caps);
    std::erase_if(kernels, [&](const KernelInTest& k) {
      return is_proven(k.pipeline) || std::ranges::find(wrong_, k.pipeline) != wrong_.end();
    });
    LAPILLI_TRY(const auto right, bench_.prove(kernels));
    for (size_t i = 0; i < kernels.size(); ++i) (right[i] ? proven_ : wrong_).push_back(kernels[i].pipeline);
    return {};
  }

  // ---- times ------------------------------------------------------------------------------------------------------

  static Result<std::vector<double>> times_of(const Plan& plan, TimedPlan& timed) {
    LAPILLI_TRY(auto us, timed.run());
    if (us.size() != plan.dispatches.size())
      return fail(ErrorCode::internal, "%u times of %u dispatches", us.size(), plan.dispatches.size());
    return us;
  }
  // Other programs may be running, and nothing makes a dispatch faster than it is.
  static void keep_fastest(std::vector<double>& fastest, const std::vector<double>& us) {
    if (fastest.empty()) fastest = us;
    for (size_t i = 0; i < us.size(); ++i) fastest[i] = std::min(fastest[i], us[i]);
  }
  [[nodiscard]] std::vector<double> sums_of(const Plan& plan, const std::vector<double>& us) const {
    std::vector<double> sums(contests_.size() + 1, 0.0);
    for (size_t i = 0; i < us.size(); ++i) {
      if (const auto contest = contest_of_[plan.dispatches[i].node]) sums[*contest] += us[i];
      sums.back() += us[i];
    }
    return sums;
  }

  // Alternates with the standing plan, so that other load on the machine affects both.
  Result<Match> play(const std::shared_ptr<const Plan>& plan, size_t most, double part) {
    LAPILLI_TRY(const auto challenger, bench_.bind(plan));
    LAPILLI_TRY(const auto warm, times_of(*plan, *challenger));
    Match match;
    std::vector<double> standing, fastest;
    for (; match.pairs < most && goes_on(part); ++match.pairs) {
      LAPILLI_TRY(const auto stands, times_of(*base_, *standing_));
      LAPILLI_TRY(const auto us, times_of(*plan, *challenger));
      keep_fastest(standing, stands);
      keep_fastest(fastest, us);
    }
    match.standing = sums_of(*base_, standing);
    match.challenger = sums_of(*plan, fastest);
    if (match.pairs > 0) note_standing(match.standing);
    return match;
  }
  void note_standing(const std::vector<double>& us) {
    for (size_t c = 0; c < contests_.size(); ++c) {
      double& least = contests_[c].result.standing_us;
      least = least == 0 ? us[c] : std::min(least, us[c]);
    }
  }

  static void tell(const char* when, const Contest& c, const Candidate& candidate) {
    const Variant& v = candidate.variant;
    log(LogLevel::verbose, format("tune, %s: %s, %s: %s, %u x %u: %.3f", when, c.result.key.op, c.result.key.node,
                                  v.name, v.numbers.local, v.numbers.each, candidate.ratio));
  }

  // ---- rounds -----------------------------------------------------------------------------------------------------

  Status screen() {
    size_t rounds = 0;
    for (const Contest& c : contests_) rounds = std::max(rounds, c.candidates.size());
    for (size_t round = 0; round < rounds && goes_on(kScreened); ++round) {
      Entries entries;
      for (const Contest& c : contests_)
        entries.push_back(round < c.candidates.size() ? std::optional(c.candidates[round]) : std::nullopt);
      LAPILLI_CHECK(look_at(entries));
    }
    for (Contest& c : contests_) std::ranges::stable_sort(c.promising, {}, &Candidate::ratio);
    return {};
  }
  Status look_at(Entries& entries) {
    const Entries all = entries;
    LAPILLI_TRY(auto plan, compiled(entries));
    LAPILLI_TRY(const bool dropped, drop_wrong(plan, entries));
    if (dropped) {
      LAPILLI_TRY(plan, compiled(entries));
    }
    LAPILLI_TRY(const Match match, play(plan, kLooks, kScreened));
    if (match.pairs == 0) return {};
    for (size_t c = 0; c < contests_.size(); ++c) {
      if (all[c]) --contests_[c].result.left;
      if (entries[c]) note_look(contests_[c], {*entries[c], match.ratio(c)});
    }
    return {};
  }
  void note_look(Contest& c, const Candidate& candidate) const {
    tell("look", c, candidate);
    ++c.result.tried;
    if (candidate.ratio < 1 - options_.margin / 2) c.promising.push_back(candidate);
  }

  // Plays the candidates of one rank in all contests.
  Status play_final(size_t rank) {
    Entries entries;
    for (const Contest& c : contests_)
      entries.push_back(rank < c.promising.size() ? std::optional(c.promising[rank].variant) : std::nullopt);
    if (is_empty(entries)) return {};
    LAPILLI_TRY(const auto plan, compiled(entries));
    LAPILLI_TRY(const Match match, play(plan, kPairs, kScreened + kFinal * static_cast<double>(rank + 1)));
    if (match.pairs < kLeastPairs) return ended_early_ = true, Status();
    for (size_t c = 0; c < contests_.size(); ++c)
      if (entries[c]) crown(contests_[c], {*entries[c], match.ratio(c)});
    return {};
  }
  void crown(Contest& c, const Candidate& candidate) const {
    tell("final", c, candidate);
    if (candidate.ratio >= 1 - options_.margin) return;
    if (!c.champion || candidate.ratio < c.champion->ratio) c.champion = candidate;
  }

  [[nodiscard]] Entries champions() const {
    Entries entries;
    for (const Contest& c : contests_)
      entries.push_back(c.champion ? std::optional(c.champion->variant) : std::nullopt);
    return entries;
  }
  [[nodiscard]] static bool is_empty(const Entries& entries) {
    return std::ranges::none_of(entries, [](const auto& e) { return e.has_value(); });
  }
  Result<bool> agree(const Entries& entries) {
    LAPILLI_TRY(const auto standing, compiled({}, false));
    LAPILLI_TRY(const auto plan, compiled(entries, false));
    return bench_.agree(plan, standing);
  }
  // Compares all champions together; if they err, one by one, and if the remaining ones still err, drops all.
  Status compare() {
    const Entries all = champions();
    if (is_empty(all)) return {};
    LAPILLI_TRY(const bool together, agree(all));
    if (together) return {};
    for (size_t c = 0; c < contests_.size(); ++c) {
      Entries alone(contests_.size());
      alone[c] = all[c];
      LAPILLI_TRY(const bool right, is_empty(alone) ? Result<bool>(true) : agree(alone));
      if (!right) disqualify(contests_[c]);
    }
    LAPILLI_TRY(const bool others, agree(champions()));
    for (Contest& c : contests_)
      if (c.champion && !others) disqualify(c);
    return {};
  }
  static void disqualify(Contest& c) {
    c.champion.reset();
    ++c.result.wrong;
  }

  // The best of many candidates was also lucky: plays all champions once more, together.
  Status confirm() {
    const Entries entries = champions();
    if (is_empty(entries)) return {};
    LAPILLI_TRY(const auto plan, compiled(entries));
    LAPILLI_TRY(const Match match, play(plan, kPairs, 1));
    if (match.pairs < kLeastPairs) ended_early_ = true;
    // The gain may be small compared with the whole, whose other dispatches only add noise: the whole must merely not
    // lose.
    const bool wins = match.pairs >= kLeastPairs && match.total() < 1 + options_.margin / 2;
    for (size_t c = 0; c < contests_.size(); ++c)
      if (contests_[c].champion) settle(contests_[c], wins ? match.ratio(c) : 1);
    if (wins) ratio_ = match.total();
    return {};
  }
  void settle(Contest& c, double ratio) const {
    tell("once more", c, {c.champion->variant, ratio});
    if (ratio >= 1 - options_.margin) return c.champion.reset();
    c.result.best = c.champion->variant;
    c.result.ratio = ratio;
  }

  TuningReport report() {
    TuningReport r;
    r.ratio = ratio_;
    r.complete = !ended_early_;
    for (Contest& c : contests_) {
      c.result.decided = c.champion || (c.result.left == 0 && !ended_early_);
      r.complete = r.complete && c.result.decided;
      if (c.champion) r.won += c.result.nodes;
      r.nodes.push_back(std::move(c.result));
    }
    std::ranges::stable_sort(r.nodes, std::greater<>(), &TunedNodes::standing_us);
    return r;
  }

  const TuningSubject& subject_;
  TuningBench& bench_;
  const TunerOptions& options_;
  const double begun_;
  std::shared_ptr<const Plan> base_;
  std::unique_ptr<TimedPlan> standing_;
  std::vector<Contest> contests_;
  std::vector<std::optional<size_t>> contest_of_;  // by node
  std::vector<PlannedPipeline> proven_, wrong_;
  double ratio_ = 1;
  bool ended_early_ = false;
};

}  // namespace

void TuningReport::apply_to(Tunings& tunings) const {
  for (const TunedNodes& n : nodes) {
    if (!same(n.best, n.standing))
      tunings.set(n.key, {n.best.name, n.best.numbers});
    else if (n.decided)
      tunings.forget(n.key);
  }
}

Result<TuningReport> tune(const TuningSubject& subject, TuningBench& bench, const TunerOptions& options) {
  return Tuner(subject, bench, options).run();
}

}  // namespace lapilli
