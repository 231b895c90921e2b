#include "model/relative.hpp"

#include <algorithm>
#include <cmath>

#include "ops/attention/attention.hpp"

namespace lapilli::model {

namespace {

// The bucket of a distance's size among `buckets`. In float, as in the reference, so that sizes at the edge of a bucket
// go to the same side.
uint32_t bucket_of(uint32_t size, uint32_t buckets, uint32_t max_distance) {
  const uint32_t exact = buckets / 2;
  if (size < exact) return size;
  const auto log_of = [&](double x) { return static_cast<float>(std::log(x / exact)); };
  const float wide = log_of(size) / log_of(max_distance) * static_cast<float>(buckets - exact);
  return std::min(buckets - 1, exact + static_cast<uint32_t>(std::min(wide, static_cast<float>(buckets))));
}

}  // namespace

Result<RelativeTable> relative_table(uint32_t buckets, uint32_t max_distance, bool bidirectional) {
  const uint32_t side = bidirectional ? buckets / 2 : buckets;
  if (buckets < 4 || buckets > kBiasWords || max_distance <= side / 2)
    return fail(ErrorCode::unsupported, "%u buckets of relative positions up to a distance of %u", buckets,
                max_distance);
  // The first size in the last bucket.
  uint32_t reach = 0;
  while (reach < kBiasWords && bucket_of(reach, side, max_distance) + 1 < side) ++reach;
  const uint64_t count = bidirectional ? 2 * uint64_t{reach} + 1 : uint64_t{reach} + 1;
  if (count > kBiasWords)
    return fail(ErrorCode::unsupported,
                "%u buckets of relative positions up to a distance of %u; at most %u distances "
                "are supported",
                buckets, max_distance, kBiasWords);
  RelativeTable table;
  table.low = -static_cast<int32_t>(reach);
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t distance = static_cast<int64_t>(i) + table.low;
    const auto size = static_cast<uint32_t>(distance < 0 ? -distance : distance);
    const uint32_t later = distance > 0 ? side : 0;
    table.buckets.push_back(static_cast<float>(later + bucket_of(size, side, max_distance)));
  }
  return table;
}

}  // namespace lapilli::model
