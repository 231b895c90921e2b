#include "model/families/decoders/gemma_group.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace lapilli::model {

// In the newer form the kinds of layers have an entry each; in the older one the near layers have a frequency of their
// own, and what changes frequencies (rope_scaling) is for the others.
Status read_near_rotary(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const float base, get_float(v, "rope_local_base_freq", 10000.0f));
  s.window_rotary_base = static_cast<double>(base);
  s.window_rotary_scaling = {};
  if (has(v, "rope_parameters")) {
    LAPILLI_TRY(const auto kinds, get_object(v, "rope_parameters"));
    LAPILLI_CHECK(read_rotary_entry(v, kinds, "sliding_attention", s.window_rotary_base, s.window_rotary_scaling));
    if (!has(v, "rope_scaling"))
      LAPILLI_CHECK(read_rotary_entry(v, kinds, "full_attention", s.rotary_base, s.rotary_scaling));
  }
  if (s.window_rotary_base > 0 && s.rotary_base > 0) return {};
  return fail(ErrorCode::invalid_data,
              "%s: base frequencies of %g and %g in layers with and without a window; both are positive", v.where,
              s.window_rotary_base, s.rotary_base);
}

Status read_gemma_scores(const JsonView& v, StackConfig& s) {
  LAPILLI_TRY(const float scalar, get_float(v, "query_pre_attn_scalar", 256.0f));
  if (!(scalar > 0))
    return fail(ErrorCode::invalid_data, "%s: query_pre_attn_scalar %g is not positive", v.where, scalar);
  s.score_scale = 1 / std::sqrt(scalar);
  return {};
}

Status read_cap(const JsonView& v, const char* key, float missing, float& cap) {
  LAPILLI_TRY(cap, get_float(v, key, v.json.contains(key) ? 0.0f : missing));
  if (cap >= 0) return {};
  return fail(ErrorCode::invalid_data, "%s: %s %g is negative; it is positive, or null for no cap", v.where, key, cap);
}

}  // namespace lapilli::model
