// Finds the fastest variants and numbers for the nodes of a plan on a device: candidates of the tuning space are proven
// against the references, then timed in turn with the standing ones, all nodes of a plan at once. A candidate replaces
// the standing one only if it wins by a margin, twice, and gives the same results on the very values that it is timed
// on.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "runtime/check/kernel_trials.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/plan/tunings.hpp"

namespace lapilli {

// A plan together with its memory.
class TimedPlan {
 public:
  virtual ~TimedPlan() = default;
  virtual Result<std::vector<double>> run() = 0;  // microseconds per dispatch of the plan
};
// The tuner's interface to a device.
class TuningBench {
 public:
  virtual ~TuningBench() = default;
  // For each kernel: does it match its references? False for those that no case runs, or that the driver refuses.
  virtual Result<std::vector<bool>> prove(std::span<const KernelInTest> kernels) = 0;
  virtual Result<std::unique_ptr<TimedPlan>> bind(std::shared_ptr<const Plan> plan) = 0;
  // True if both give the same results, up to rounding, on the values that they are timed on. They were compiled with
  // reuse_memory off.
  virtual Result<bool> agree(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& standing) = 0;
};

// The plan to tune: `options` without tunings; the graph is already fused.
struct TuningSubject {
  graph::Graph graph;
  Capabilities caps;
  CompileOptions options;
};
struct TunerOptions {
  double margin = 0.05;  // a smaller gain does not win
  double seconds = std::numeric_limits<double>::infinity();
  std::function<double()> now;  // seconds; empty: the host's clock
  std::function<bool()> go_on;  // false: stops, keeping decisions made so far; empty: never stops
};

// Nodes that are alike.
struct TunedNodes {
  TuningKey key;
  size_t nodes = 0;
  Variant standing, best;
  double standing_us = 0;                             // sum over the nodes, each with its fastest run
  double ratio = 1;                                   // time of `best` relative to `standing`
  size_t tried = 0, wrong = 0, left = 0, pruned = 0;  // candidates; left: not tried for lack of time
  bool decided = false;
};
struct TuningReport {
  std::vector<TunedNodes> nodes;  // most time first
  double ratio = 1;               // the plan's time with everything found, relative to before
  size_t won = 0;                 // nodes that got a new variant
  bool complete = false;          // nothing was left undone
  // Stores the winners in `tunings`, and removes entries where the defaults stay.
  void apply_to(Tunings& tunings) const;
};
Result<TuningReport> tune(const TuningSubject& subject, TuningBench& bench, const TunerOptions& options);

}  // namespace lapilli
