#include "speech/measures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#ifdef LAPILLI_HAVE_ZLIB
#include <zlib.h>
#endif

#include "ops/core/state.hpp"

namespace lapilli::speech {

namespace {

// The reference's formula: floor(log2(vocabulary) / 8) + 1.
uint32_t bytes_of_id(uint32_t vocabulary) {
  return static_cast<uint32_t>(std::floor(std::log2(static_cast<double>(std::max(vocabulary, 1u)))) / 8) + 1;
}

std::vector<unsigned char> as_bytes(std::span<const int32_t> ids, uint32_t vocabulary) {
  std::vector<unsigned char> bytes;
  for (const int32_t id : ids)
    for (uint32_t i = 0; i < bytes_of_id(vocabulary); ++i)
      bytes.push_back(static_cast<unsigned char>(static_cast<uint32_t>(id) >> (8 * i)));
  return bytes;
}

}  // namespace

#ifdef LAPILLI_HAVE_ZLIB
Result<double> compression_ratio(std::span<const int32_t> ids, uint32_t vocabulary) {
  constexpr int kLevel = 6;
  const auto bytes = as_bytes(ids, vocabulary);
  uLongf packed = compressBound(static_cast<uLong>(bytes.size()));
  std::vector<unsigned char> out(packed);
  if (compress2(out.data(), &packed, bytes.data(), static_cast<uLong>(bytes.size()), kLevel) != Z_OK)
    return fail(ErrorCode::internal, "zlib does not pack %u bytes", bytes.size());
  return static_cast<double>(bytes.size()) / static_cast<double>(packed);
}
#else
Result<double> compression_ratio(std::span<const int32_t>, uint32_t) {
  (void)as_bytes;
  return fail(ErrorCode::unsupported,
              "compression_ratio_threshold: Lapilli was built without zlib, which measures it; build it with zlib, or "
              "leave the threshold out");
}
#endif

double log_probability(std::span<const float> scores, int32_t id, double temperature) {
  double largest = state::MASKED, sum = 0;
  for (const float s : scores)
    if (s > state::FORBIDDEN) largest = std::max(largest, static_cast<double>(s) * temperature);
  for (const float s : scores)
    if (s > state::FORBIDDEN) sum += std::exp(static_cast<double>(s) * temperature - largest);
  return static_cast<double>(scores[static_cast<size_t>(id)]) * temperature - largest - std::log(std::max(sum, 1e-300));
}

double probability(std::span<const float> logits, int32_t id) { return std::exp(log_probability(logits, id, 1)); }

}  // namespace lapilli::speech
