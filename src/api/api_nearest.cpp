// The C interface: the vectors that are nearest to queries.
#include <algorithm>
#include <limits>

#include "api/handles.hpp"
#include "base/math.hpp"
#include "generate/encoders/nearest.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;
using lapilli::api::read_struct;

namespace {

using Found = std::vector<std::vector<lapilli::Neighbour>>;

Result<std::span<const float>> numbers_of(const lapilli_vectors* given, const char* which, uint32_t& dimensions) {
  if (!given) return fail(ErrorCode::invalid_argument, "lapilli_nearest: %s is null", which);
  lapilli_vectors vectors{};
  LAPILLI_CHECK(read_struct(given, vectors, "lapilli_vectors"));
  dimensions = vectors.dimensions;
  uint64_t numbers = 0;
  if (!lapilli::checked_mul(vectors.count, vectors.dimensions, numbers) ||
      numbers > std::numeric_limits<ptrdiff_t>::max() / sizeof(float))
    return fail(ErrorCode::invalid_argument, "lapilli_nearest: no memory holds %u vectors of %u numbers", vectors.count,
                vectors.dimensions);
  if (!vectors.values && numbers > 0)
    return fail(ErrorCode::invalid_argument, "lapilli_nearest: %u %s at a null pointer", vectors.count, which);
  return std::span(vectors.values, static_cast<size_t>(numbers));
}

Result<lapilli::Similarity> similarity_of(int32_t given) {
  switch (given) {
    case LAPILLI_COSINE: return lapilli::Similarity::cosine;
    case LAPILLI_DOT: return lapilli::Similarity::dot;
    case LAPILLI_EUCLIDEAN: return lapilli::Similarity::euclidean;
    default: break;
  }
  return fail(ErrorCode::invalid_argument, "lapilli_nearest_options.similarity is %d, which is none", given);
}

std::function<bool(uint64_t, uint64_t)> going_on(const lapilli_nearest_options& from) {
  lapilli_options as = lapilli_default_options();
  as.cancel_token = from.cancel_token;
  as.progress = from.progress;
  as.progress_user = from.progress_user;
  return lapilli::api::progress_of(as);
}

Status read_request(const lapilli_vectors* vectors, const lapilli_vectors* queries,
                    const lapilli_nearest_options* options, lapilli::NearestRequest& to) {
  uint32_t dimensions = 0;
  LAPILLI_TRY(to.vectors, numbers_of(vectors, "vectors", to.dimensions));
  LAPILLI_TRY(to.queries, numbers_of(queries, "queries", dimensions));
  if (dimensions != to.dimensions)
    return fail(ErrorCode::invalid_argument, "lapilli_nearest: vectors have %u dimensions, and queries %u",
                to.dimensions, dimensions);
  lapilli_nearest_options given = lapilli_default_nearest_options();
  LAPILLI_CHECK(read_struct(options, given, "lapilli_nearest_options"));
  LAPILLI_TRY(to.similarity, similarity_of(given.similarity));
  to.top = given.top;
  to.go_on = going_on(given);
  return {};
}

// Begins again on another device if this one is lost.
Result<Found> find(lapilli::api::ReplaceableDevice& place, const lapilli::NearestRequest& request) {
  const auto held = place.held();
  auto found = lapilli::nearest(held.device, request);
  if (found || found.error().code != ErrorCode::device_lost) return found;
  if (const Status can = place.replaceable(); !can) return lapilli::api::with_advice(found.error(), can.error());
  LAPILLI_TRY(const auto other, place.replace(held.generation));
  return lapilli::nearest(other.device, request);
}

void write_found(const Found& found, size_t* indices, double* scores) {
  for (const auto& of_query : found) {
    for (const lapilli::Neighbour& neighbour : of_query) {
      *indices++ = static_cast<size_t>(neighbour.index);
      if (scores) *scores++ = neighbour.score;
    }
  }
}

}  // namespace

extern "C" lapilli_status lapilli_nearest(lapilli_device* device, const lapilli_vectors* vectors,
                                          const lapilli_vectors* queries, const lapilli_nearest_options* options,
                                          size_t* indices, double* scores) {
  return guarded([&]() -> Status {
    if (!device) return fail(ErrorCode::invalid_argument, "lapilli_nearest: device is null");
    if (!indices) return fail(ErrorCode::invalid_argument, "lapilli_nearest: indices is null");
    const lapilli::LogScope log(device->device()->log_sink());
    lapilli::NearestRequest request;
    LAPILLI_CHECK(read_request(vectors, queries, options, request));
    LAPILLI_TRY(const Found found, find(*device->place, request));
    write_found(found, indices, scores);
    return {};
  });
}
