// Whisper (speech recognition): Radford et al. 2022. Two convolutions over the frames of a log-mel spectrogram, with
// twice as many frames per window as the encoder has positions; BART's layers with norms before the sublayers, and keys
// without bias.
#include <nlohmann/json.hpp>

#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_whisper;

namespace {

constexpr uint32_t kMaxMelBins = 4096;

Result<Config> read_whisper(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"whisper"}));
  set_pre_norm(c);
  set_positions(c, Positions::learned);
  LAPILLI_TRY(c.encoder.max_positions, get_size(v, "max_source_positions", kMaxPositionRows, 1500));
  LAPILLI_TRY(c.decoder.max_positions, get_size(v, "max_target_positions", kMaxPositionRows, 448));
  c.encoder.key_bias = c.decoder.key_bias = false;
  c.encoder.embedding_scale = c.decoder.embedding_scale = 1;  // the reference ignores scale_embedding
  c.logits_bias = false;
  LAPILLI_TRY(c.features.width, get_size(v, "num_mel_bins", kMaxMelBins, 80));
  c.features.rows = 2 * c.encoder.max_positions;
  const uint32_t d = c.encoder.d_model;
  c.features.layers = {{3, 1, 1, 1, d, Activation::gelu_erf, true}, {3, 2, 1, 1, d, Activation::gelu_erf, true}};
  c.source_vocabulary = 0;
  return c;
}

Names whisper_names(const Config& c) {
  Names n = bart_names(c);
  n.decoder.embedding = {"model.decoder.embed_tokens.weight"};
  n.output = {"proj_out.weight"};
  if (c.tied_output) {
    n.output.push_back(n.decoder.embedding.front());
    n.decoder.embedding.emplace_back("proj_out.weight");
  }
  n.encoder.input = {"model.encoder.conv1", "model.encoder.conv2"};
  return n;
}

}  // namespace

const Family family_whisper = {"whisper", "Whisper (speech recognition)", read_whisper, whisper_names};

}  // namespace lapilli::model
