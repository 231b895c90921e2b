// A model as it is published: config.json and weights.
#pragma once

#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"
#include "model/network.hpp"

namespace lapilli {

// The network points into the checkpoint.
struct Published {
  model::Network network;
  Checkpoint checkpoint;
};
// Errors name the file, and the families that are known.
Result<Published> read_published(const Files& files);

// The network of a published directory, or of a shape ("shape:small,layers=1"), without loading any weight; its
// matrices have this format.
Result<model::Network> read_network(const std::string& directory_or_shape, WeightFormat format = WeightFormat::fp32);

}  // namespace lapilli
