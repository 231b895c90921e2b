// Donut's encoder (Kim et al. 2021), a Swin Transformer (Liu et al. 2021): patches are places of a map, with attention
// within windows; between stages, four neighbours are merged to one.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// By the encoder's model_type.
bool is_swin_encoder(const std::string& model_type);
// Reads the whole encoder and its input from `view`, the encoder's own object. Errors name file and key.
Status read_swin_encoder(const JsonView& view, Config& config);
// `prefix` begins all of its names.
void name_swin_encoder(const Config& config, const std::string& prefix, Names& names);

}  // namespace lapilli::model
