#include "model/causal_encoder.hpp"

#include <utility>

namespace lapilli::model {

void make_causal_encoder(Config& c, Names& names) {
  c.encoder = std::exchange(c.decoder, {});
  c.encoder.causal = !c.encoder.sees_ahead;
  if (c.encoder.causal && !c.encoder.windows.empty()) c.encoder.windows_after.assign(c.encoder.layers, 0);
  c.source_vocabulary = c.target_vocabulary;
  c.heads.clear();
  names.encoder = std::exchange(names.decoder, {});
  names.heads.clear();
}

}  // namespace lapilli::model
