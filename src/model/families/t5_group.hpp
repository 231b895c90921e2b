// Common parts of T5, mT5 and UMT5 (Raffel et al. 2020).
#pragma once

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// Reads sizes, feed_forward_proj ("relu", "gated-gelu", ...; `feed_forward` if missing) and relative positions; sets
// RMS norms before each sublayer and at the end of both stacks, unscaled scores, no bias anywhere.
Result<Config> t5_config(const JsonView& view, const char* family, const char* feed_forward);
// "encoder.block.{}.layer.0.SelfAttention.q" and so on.
Names t5_names(const Config& config);

}  // namespace lapilli::model
