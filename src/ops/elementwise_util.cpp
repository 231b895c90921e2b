#include "ops/elementwise_util.hpp"

#include <algorithm>

namespace lapilli::elementwise {

Result<std::vector<Slice>> slices(const LowerContext& context, const graph::Node& node, const graph::Tensor& tensor,
                                  uint64_t block) {
  const auto& caps = context.caps;
  const uint64_t elements = tensor.elements(), per_row = div_up(tensor.ld, block);
  std::vector<Slice> all;
  if (tensor.live_rows && tensor.bytes() <= caps.max_storage_range && tensor.rows * per_row <= max_groups(caps)) {
    all.push_back({0, elements, tensor.ld, per_row, tensor.rows * per_row, true});
    return all;
  }
  // The other side may begin in a row's padding, up to a vector earlier than this one.
  LAPILLI_TRY(const auto blocks, row_slices(context, node, div_up(elements, block), {block * 4 + 16, 1}));
  for (const auto& b : blocks) {
    const uint64_t begin = b.begin * block, end = std::min(elements, b.end * block);
    all.push_back({begin, end, end - begin, b.end - b.begin, b.end - b.begin, false});
  }
  return all;
}

}  // namespace lapilli::elementwise
