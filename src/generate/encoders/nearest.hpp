// The vectors that are most similar to a query, exactly: the device computes products in 32 bits, and the host takes
// every vector that these leave in question and computes its score in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/device/device.hpp"

namespace lapilli {

enum class Similarity : uint8_t {
  cosine,     // 0 if a vector has no length
  dot,        // the product
  euclidean,  // the negative distance
};

struct NearestRequest {
  std::span<const float> vectors, queries;  // one behind the other
  uint32_t dimensions = 0;
  Similarity similarity = Similarity::cosine;
  size_t top = 0;  // for each query
  // Called with vectors done, each counted once for every 32 queries; false cancels. May be empty.
  std::function<bool(uint64_t done, uint64_t total)> go_on;
};

struct Neighbour {
  uint64_t index = 0;
  double score = 0;
};

// For each query its neighbours, the highest score first, of equal ones the lower index first: as many as there are, up
// to `top`. Takes the device's memory for two blocks of vectors, fewer if there is less, and waits. invalid_data names
// a vector that is not finite; cancelled: `go_on` said so.
Result<std::vector<std::vector<Neighbour>>> nearest(const std::shared_ptr<vulkan::Device>& device,
                                                    const NearestRequest& request);

}  // namespace lapilli
