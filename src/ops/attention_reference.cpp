#include "ops/attention_reference.hpp"

#include <algorithm>
#include <cmath>

namespace lapilli {

void attend_reference(const ReferenceQuery& r, double* context, double* weights) {
  std::vector<double> s(r.keys.size(), 0.0);
  double top = -1e300, sum = 0;
  for (size_t k = 0; k < s.size(); ++k) {
    for (uint64_t d = 0; d < r.head_dim; ++d) s[k] += r.q[d] * r.keys[k][d];
    s[k] *= r.scale;
    top = std::max(top, s[k]);
  }
  for (double& v : s) sum += v = std::exp(v - top);
  std::fill_n(context, r.head_dim, 0.0);
  for (size_t k = 0; k < s.size(); ++k) {
    for (uint64_t d = 0; d < r.head_dim; ++d) context[d] += s[k] / sum * r.keys[k][r.head_dim + d];
    if (weights) weights[k] = s[k] / sum;
  }
}

}  // namespace lapilli
