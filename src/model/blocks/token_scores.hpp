// The scores of given ids from a decoder's last rows.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// Keeps "token_scores.N", a number for each of the rows from N on: the log-probability of the id behind the row's own
// in `ids`. The logits of a few rows exist at a time.
void keep_token_scores(Builder& b, graph::TensorId x, graph::TensorId ids);

}  // namespace lapilli::model
