// Ways to run a node that are worth trying on a device: the op's eligible variants with other numbers, as far as they
// can be lowered. Pruned by a model of bytes, cycles and dispatches, without a device.
#pragma once

#include <span>
#include <vector>

#include "runtime/plan/plan.hpp"

namespace lapilli {

// Uses cycle_model(): memory traffic and arithmetic overlap, so the longer of both counts.
double estimated_cycles(const Capabilities& caps, std::span<const Dispatch> dispatches);

struct TuningSpace {
  std::vector<Variant> candidates;  // cheapest first; without `standing`
  size_t pruned = 0;                // others that can be lowered, but are hopeless or too many
};
// `standing`: the choice of compile() with these options, whose verdicts and order the candidates obey. No candidate
// has more dispatches, since that would split fused nodes.
TuningSpace tuning_space(const LowerContext& context, const graph::Node& node, const Variant& standing,
                         const CompileOptions& options);

}  // namespace lapilli
