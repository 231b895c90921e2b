// Common parts of ViT (Dosovitskiy et al. 2020), DeiT (Touvron et al. 2021) and pairs with one of them as encoder: a
// picture is cut into patches, a linear layer makes each a row; class tokens come first.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// Reads the sizes of pictures and patches, with the defaults of all picture encoders.
Status read_patches(const JsonView& view, PatchInput& patches);
// By the encoder's model_type.
bool is_picture_encoder(const std::string& model_type);
// Reads the whole encoder and its input from `view`, the encoder's own object. Errors name file and key.
Status read_picture_encoder(const JsonView& view, Config& config);
// `prefix` begins all of its names.
StackNames picture_encoder_names(const Config& config, const std::string& prefix);

}  // namespace lapilli::model
