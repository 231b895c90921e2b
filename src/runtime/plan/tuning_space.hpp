// The ways to run a node that are worth a try on a device: the op's eligible variants with other numbers, as far as
// they can be lowered. Pruned by a model of bytes, cycles and dispatches, which no device is needed for.
#pragma once

#include <span>
#include <vector>

#include "runtime/plan/plan.hpp"

namespace lapilli {

// By cycle_model(): what reads and writes memory at the same time as it multiplies takes the longer of both.
double estimated_cycles(const Capabilities& caps, std::span<const Dispatch> dispatches);

struct TuningSpace {
  std::vector<Variant> candidates;  // the cheapest first; without `standing`
  size_t pruned = 0;                // that could be lowered as well, but are hopeless or too many
};
// `standing`: what compile() takes with these options, whose verdicts and order the candidates obey. None has more
// dispatches: what was fused would come apart.
TuningSpace tuning_space(const LowerContext& context, const graph::Node& node, const Variant& standing,
                         const CompileOptions& options);

}  // namespace lapilli
