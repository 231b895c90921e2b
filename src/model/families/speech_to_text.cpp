// Speech2Text (speech recognition and translation): Wang et al. 2020. Convolutions of stride 2 with gated linear units
// over frames of filter banks, then M2M100's layers and positions.
#include <nlohmann/json.hpp>

#include "model/families/bart_group.hpp"
#include "model/features.hpp"

namespace lapilli::model {

extern const Family family_speech_to_text;

namespace {

constexpr uint32_t kMostInputLayers = 8, kMostKernel = 255, kMostFrameNumbers = 4096;

// conv_kernel_sizes: one per layer.
Result<std::vector<uint32_t>> kernels(const JsonView& v) {
  LAPILLI_TRY(const auto layers, get_size(v, "num_conv_layers", kMostInputLayers, 2));
  const auto it = v.json.find("conv_kernel_sizes");
  std::vector<uint32_t> sizes(layers, 5);
  if (it == v.json.end() || it->is_null()) return sizes;
  if (!it->is_array() || it->size() != layers)
    return fail(ErrorCode::invalid_data, "%s: conv_kernel_sizes is not a list of num_conv_layers (%u) numbers", v.where,
                layers);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const nlohmann::json entry = {{"conv_kernel_sizes", (*it)[i]}};
    LAPILLI_TRY(sizes[i], get_size({entry, v.where}, "conv_kernel_sizes", kMostKernel));
  }
  return sizes;
}

Status read_input(const JsonView& v, Config& c) {
  LAPILLI_TRY(const auto numbers, get_size(v, "input_feat_per_channel", kMostFrameNumbers, 80));
  LAPILLI_TRY(const auto channels, get_size(v, "input_channels", kMostFrameNumbers / numbers, 1));
  LAPILLI_TRY(const auto between, get_size(v, "conv_channels", kMaxModelWidth, 1024));
  LAPILLI_TRY(const auto sizes, kernels(v));
  c.features.width = numbers * channels;
  for (size_t i = 0; i < sizes.size(); ++i) {
    InputLayer layer;
    layer.kernel = sizes[i];
    layer.stride = 2;
    layer.before = layer.after = sizes[i] / 2;
    layer.columns = i + 1 < sizes.size() ? between / 2 : c.encoder.d_model;
    layer.gated = true;
    layer.activation = Activation::sigmoid;
    if (between % 2 != 0)
      return fail(ErrorCode::invalid_data, "%s: conv_channels %u is odd; half of them are gates", v.where, between);
    c.features.layers.push_back(layer);
  }
  return {};
}

Result<Config> read_speech_to_text(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"speech_to_text", "relu", true}));
  set_pre_norm(c);
  LAPILLI_TRY(c.features.most, get_size(v, "max_source_positions", kMaxPositionRows, 6000));
  LAPILLI_TRY(c.decoder.max_positions, get_size(v, "max_target_positions", kMaxPositionRows, 1024));
  LAPILLI_CHECK(set_fairseq_positions(v, c));
  // The reference masks padded frames by zeros and ones, and then reads the mask as ids.
  if (c.encoder.position_offset == 1)
    return fail(ErrorCode::unsupported, "%s: with a pad_token_id of 0 no frame has a position", where);
  LAPILLI_CHECK(read_input(v, c));
  c.encoder.max_positions = level_rows(c.features, c.features.most).back();
  if (c.encoder.max_positions == 0)
    return fail(ErrorCode::invalid_data, "%s: max_source_positions %u is too few for the convolutions", where,
                c.features.most);
  c.logits_bias = false;
  c.shared_embeddings = false;
  c.source_vocabulary = 0;
  return c;
}

Names speech_to_text_names(const Config& c) {
  Names n = bart_names(c);
  // Older files have the computed tables, which are not read.
  n.encoder.positions = n.decoder.positions = {};
  for (size_t i = 0; i < c.features.layers.size(); ++i)
    n.encoder.input.push_back(format("model.encoder.conv.conv_layers.%u", i));
  return n;
}

}  // namespace

const Family family_speech_to_text = {"speech_to_text", "Speech2Text (speech recognition and translation)",
                                      read_speech_to_text, speech_to_text_names};

}  // namespace lapilli::model
