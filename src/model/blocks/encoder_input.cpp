#include "model/blocks/encoder_input.hpp"

#include "model/blocks/embedding.hpp"
#include "ops/state.hpp"

namespace lapilli::model {

graph::TensorId encoder_input(Builder& b, const SourceRows& source) {
  const bool packed = source.packed_rows != 0;
  const uint64_t rows = packed ? source.packed_rows : uint64_t{source.batch} * source.length;
  const auto ids = b.state(state_id(StateKind::source_ids), "source_ids", packed ? 1 : source.batch,
                           packed ? source.packed_rows : source.length);
  EmbedAttributes e = embed_attributes(b.config().encoder, b.config().source_vocabulary);
  e.rows_per_slot = source.length;
  if (packed) e.place = Place::spans;
  return embed_rows(b, "encoder", {ids, source.spans, rows}, e);
}

}  // namespace lapilli::model
