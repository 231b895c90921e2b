// Network shapes by name or list, for networks with random weights.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/config.hpp"

namespace lapilli::model {

// "transformer-base" (Vaswani et al. 2017, as opus-mt: d 512, 6 + 6 layers, 8 heads, feed-forward 2048, 58,101 words),
// "small" (the bundled model's), "tiny", "vit-base" (Dosovitskiy et al. 2020: a classifying picture encoder, d 768, 12
// layers, 224 pixels a side), "whisper-tiny" (Radford et al. 2022: 30 s of 80 mel bands, d 384, 4 + 4 layers);
// encoders of texts to vectors: "minilm" (all-MiniLM-L6-v2: d 384, 6 layers), "bge-small" (12 layers), "bert-base" (d
// 768, 12 layers), "modernbert-base" (22 layers, of which two of three see 64 keys on either side); or changes to one
// of these: "transformer-base,vocabulary=1000,layers=2". Keys: d, heads, kv_heads (heads of keys and values, which
// several heads of queries share), ffn, layers, encoder, decoder (layers; 0: without this side), vocabulary, positions
// (of both stacks), window (positions that a decoder's layers see, all but each third), full_caches (1: these layers
// keep all positions, as tests want), activation (relu, gelu, gelu_new, silu; gated feed-forward layers have gated-relu
// and so on; T5's gated-gelu is gated-gelu_new here), picture (pixels a side; for pictures).
Result<Config> parse_shape(const std::string& text);

}  // namespace lapilli::model
