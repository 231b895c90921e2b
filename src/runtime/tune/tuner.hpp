// Finds for the nodes of a plan which variants and numbers are fastest on a device: candidates of the tuning space are
// proven against the references, then timed in turn with what stands, all nodes of a plan at once. A candidate takes
// its place only if it wins by a margin, twice, and if what it makes of the very values that it is timed on is the
// same.
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

// A plan with the memory that it works on.
class TimedPlan {
 public:
  virtual ~TimedPlan() = default;
  virtual Result<std::vector<double>> run() = 0;  // microseconds, by the plan's dispatches
};
// What the tuner asks of a device.
class TuningBench {
 public:
  virtual ~TuningBench() = default;
  // Which of them compute what their references do; those that no case runs, or that the driver refuses, are not.
  virtual Result<std::vector<bool>> prove(std::span<const KernelInTest> kernels) = 0;
  virtual Result<std::unique_ptr<TimedPlan>> bind(std::shared_ptr<const Plan> plan) = 0;
  // Both make the same, but for rounding, of what they are timed on. They were compiled with reuse_memory off.
  virtual Result<bool> agree(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& standing) = 0;
};

// What is tuned: `options` without tunings; what is fused is fused.
struct TuningSubject {
  graph::Graph graph;
  Capabilities caps;
  CompileOptions options;
};
struct TunerOptions {
  double margin = 0.05;  // less than this wins nothing
  double seconds = std::numeric_limits<double>::infinity();
  std::function<double()> now;  // seconds; empty: the host's clock
  std::function<bool()> go_on;  // false: it ends, with what was decided; empty: it goes on
};

// Nodes that are alike.
struct TunedNodes {
  TuningKey key;
  size_t nodes = 0;
  Variant standing, best;
  double standing_us = 0;                             // all of them: the fastest run of each
  double ratio = 1;                                   // of the time of `best` to that of `standing`
  size_t tried = 0, wrong = 0, left = 0, pruned = 0;  // candidates; left: for want of time
  bool decided = false;
};
struct TuningReport {
  std::vector<TunedNodes> nodes;  // most time first
  double ratio = 1;               // of the plan's time with all that was found
  size_t won = 0;                 // of the nodes
  bool complete = false;          // nothing was left undone
  // Puts what won into `tunings`, and takes out of it where the defaults stay.
  void apply_to(Tunings& tunings) const;
};
Result<TuningReport> tune(const TuningSubject& subject, TuningBench& bench, const TunerOptions& options);

}  // namespace lapilli
