// "choose": log_softmax, processors and top_k of a step of beams as one node, which devices that want few dispatches
// make of the three (runtime/plan/fuse.hpp): the parts of each row's sum, then all of it by slices.
#pragma once

#include <array>

#include "ops/core/op.hpp"
#include "ops/search/search.hpp"

namespace lapilli {

// inputs: logits, step, search, lineage, lists. outputs: scores in place of the logits, parts of the sums, candidates.
struct ChooseAttributes {
  SearchShape shape;
  SelectAttributes select;
};
// The node of three that follow one another, or none (op is null) where they do not read each other so, or where the
// rules may look at whole rows.
graph::Node chosen_together(const graph::Node& log_softmax, const graph::Node& processors, const graph::Node& top_k);
// The three, as they would be by themselves.
std::array<graph::Node, 3> chosen_apart(const graph::Node& node);

}  // namespace lapilli
