// Test cases of "attention" and "attention_step", and what both share.
#pragma once

#include <vector>

#include "ops/attention/attention.hpp"
#include "ops/core/case_util.hpp"

namespace lapilli {

std::vector<OpCase> attention_cases();
std::vector<OpCase> attention_step_cases();

// A bias over distances [low, high] with few buckets.
RelativeBias bias_case(BiasForm form, int32_t low, int32_t high, const KvShape& kv);
// Columns that the bias takes in q.
uint64_t bias_columns(const RelativeBias& bias, const KvShape& kv);
struct BiasInputs {
  graph::TensorId distances = graph::kNone, values = graph::kNone;
};
// Adds distances (neighbours share buckets, some repeat) and values to the case, as far as the bias has them.
BiasInputs add_bias_inputs(OpCase& c, const RelativeBias& bias, const KvShape& kv, CaseRandom& random);

}  // namespace lapilli
