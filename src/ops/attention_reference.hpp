// The arithmetic that both attention ops' references share.
#pragma once

#include <cstdint>
#include <vector>

namespace lapilli {

// One query against a list of keys; keys[i] points to head_dim keys followed by head_dim values.
struct ReferenceQuery {
  const double* q = nullptr;
  std::vector<const double*> keys;
  uint64_t head_dim = 0;
  double scale = 1;
};
// context: head_dim values. weights: one per key, or null. No keys: zeros.
void attend_reference(const ReferenceQuery& query, double* context, double* weights);

}  // namespace lapilli
