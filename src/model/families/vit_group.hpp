// What ViT (Dosovitskiy et al. 2020), DeiT (Touvron et al. 2021) and pairs with one of them as encoder have in common:
// a picture is cut into patches, each of which becomes a row by a linear layer; class tokens stand in front.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// Sizes of pictures and patches, with the defaults that all encoders of pictures have.
Status read_patches(const JsonView& view, PatchInput& patches);
// By the model_type of the encoder.
bool is_picture_encoder(const std::string& model_type);
// All of the encoder and of the input: `view` is the encoder's own object. Errors name file and key.
Status read_picture_encoder(const JsonView& view, Config& config);
// `prefix` is what its names begin with.
StackNames picture_encoder_names(const Config& config, const std::string& prefix);

}  // namespace lapilli::model
