// "choose": log_softmax, processors and top_k of a beam step as one node, which devices that want few dispatches create
// from the three (runtime/plan/fuse.hpp): the parts of each row's sum, then everything else by slices.
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
// Joins three consecutive nodes; op is null if they do not read each other accordingly, or if the rules may need whole
// rows.
graph::Node chosen_together(const graph::Node& log_softmax, const graph::Node& processors, const graph::Node& top_k);
// The three separate nodes.
std::array<graph::Node, 3> chosen_apart(const graph::Node& node);

}  // namespace lapilli
