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

namespace {

// The bucket of a positive distance. In float, step by step as in the reference: the ceiling of numbers near whole ones
// depends on how they are rounded.
int64_t log_bucket(int64_t x, uint32_t buckets, uint32_t distance) {
  const int64_t half = buckets / 2;
  if (x <= half) return x;
  const auto log_of = [&](int64_t v) {
    return std::log(static_cast<float>(static_cast<double>(v) / static_cast<double>(half)));
  };
  const float place = log_of(x) / log_of(int64_t{distance} - 1) * static_cast<float>(half - 1);
  return half + static_cast<int64_t>(std::ceil(std::min(place, static_cast<float>(buckets))));
}

}  // namespace

Result<RelativeTable> vector_table(uint32_t buckets, uint32_t distance) {
  const int64_t span = buckets ? buckets : distance;
  if (span == 0 || (buckets && (buckets < 4 || distance < buckets / 2 + 2)))
    return fail(
        ErrorCode::unsupported,
        "%u buckets of relative positions up to a distance of %u; 4 or more buckets up to a distance beyond half "
        "of them are supported",
        buckets, distance);
  const auto bucket = [&](int64_t x) { return buckets ? log_bucket(x, buckets, distance) : x; };
  const auto first_in = [&](int64_t last) {
    int64_t x = 1;
    while (x < kBiasWords && bucket(x) < last) ++x;
    return x;
  };
  const int64_t before = first_in(span - 1), after = first_in(span);  // keys as far away have the outermost rows
  if (before + after + 1 > kBiasWords)
    return fail(ErrorCode::unsupported,
                "%u buckets of relative positions up to a distance of %u; at most %u distances are supported", buckets,
                distance, kBiasWords);
  RelativeTable table;
  table.low = static_cast<int32_t>(-before);
  for (int64_t key = -before; key <= after; ++key) {
    const int64_t b = bucket(key < 0 ? -key : key), row = span + (key < 0 ? b : -b);
    table.buckets.push_back(static_cast<float>(std::clamp<int64_t>(row, 0, 2 * span - 1)));
  }
  return table;
}

RelativeTable plain_table() {
  constexpr int32_t kReach = kBiasWords / 2 - 1;
  RelativeTable table;
  table.low = -kReach;
  for (int32_t key = -kReach; key <= kReach; ++key) table.buckets.push_back(static_cast<float>(kReach - key));
  return table;
}

VectorRows vector_rows(const RelativeTable& table, uint32_t length) {
  const auto at = [&](int64_t key) {
    const auto last = static_cast<int64_t>(table.buckets.size()) - 1;
    return static_cast<uint32_t>(table.buckets[static_cast<size_t>(std::clamp<int64_t>(key - table.low, 0, last))]);
  };
  // Rows decrease from key to key.
  return {at(int64_t{length} - 1), at(1 - int64_t{length})};
}

}  // namespace lapilli::model
