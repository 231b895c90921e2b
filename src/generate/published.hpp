// A published model: config.json and weights.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "generate/generate.hpp"
#include "model/network.hpp"

namespace lapilli {

// Weights, and the format of their matrices if these are packed.
struct StoredWeights {
  Checkpoint checkpoint;
  std::optional<WeightFormat> packed;
};
// `config` is config.json.
Result<StoredWeights> open_weights(const Files& files, const JsonView& config);

// config.json. Where it lacks the model type or the class, as files of 2018 to 2020 do, it gets those that the names of
// the weights tell (or the type that the class tells).
Result<nlohmann::json> read_config(const Files& files);

// Matrices of packed weights get their stored formats.
Result<model::Network> bind_network(const model::Config& config, const model::Names& names,
                                    const StoredWeights& weights);

// The files of the network and its tokenizer: the directory's, or those of a folder that modules.json names.
Result<Files> files_of_network(const Files& files);

// The network points into the checkpoint.
struct Published {
  model::Network network;
  Checkpoint checkpoint;
  std::optional<WeightFormat> packed;
  Files files;  // files_of_network()
};
// Errors name the file, and the families that are known.
Result<Published> read_published(const Files& files, const PictureSize& pictures = {});

// The network of a published directory, or of a shape ("shape:small,layers=1"), without loading any weights; its
// matrices have this format.
Result<model::Network> read_network(const std::string& directory_or_shape, WeightFormat format = WeightFormat::fp32,
                                    KvFormat kv_format = KvFormat::fp32);

}  // namespace lapilli
