// Donut's encoder (Kim et al. 2021), a Swin Transformer (Liu et al. 2021): patches are places of a map, on which
// attention stays within windows; between stages four neighbours become one.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// By the model_type of the encoder.
bool is_swin_encoder(const std::string& model_type);
// All of the encoder and of the input: `view` is the encoder's own object. Errors name file and key.
Status read_swin_encoder(const JsonView& view, Config& config);
// `prefix` is what its names begin with.
void name_swin_encoder(const Config& config, const std::string& prefix, Names& names);

}  // namespace lapilli::model
