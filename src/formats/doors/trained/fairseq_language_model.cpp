// fairseq's language models (transformer_lm): decoders alone, whose network is OPT's.
#include <algorithm>
#include <cmath>

#include "formats/doors/trained/fairseq.hpp"

namespace lapilli::doors::trained::fairseq {

namespace {

constexpr const char* kTable = "decoder.embed_tokens.weight";

// The row of padding is zeros where it is learned; the first position is the row behind it.
void map_lm_positions(TrainedMapper& m, const Settings& s) {
  const std::string from = "decoder.embed_positions.weight", to = "model." + from;
  if (s.model.flag("no_token_positional_embeddings", false)) m.refuse("no_token_positional_embeddings is on");
  const uint64_t stored = m.size(from, 0);
  const double most =
      s.model.number("max_target_positions")
          .value_or(s.model.number("tokens_per_sample").value_or(s.task.number("tokens_per_sample").value_or(1024)));
  const auto rows = stored > 2 ? stored - 2 : static_cast<uint64_t>(std::clamp(most, 1.0, 16384.0));
  m.config["max_position_embeddings"] = rows;
  if (stored > 2) return m.copy(to, from);
  m.made(split_positions(to, rows + 2, std::vector<float>(m.config.at("hidden_size").get<uint64_t>(), 0.0f)));
}

// OPT's embeddings are not scaled: scaled ones become a table of their own beside the output projection.
void map_lm_embeddings(TrainedMapper& m, const Settings& s) {
  const std::string output =
      m.has("decoder.output_projection.weight") ? "decoder.output_projection.weight" : "decoder.embed_out";
  const bool scaled = !s.model.flag("no_scale_embedding", false);
  const bool tied = !m.has(output) || m.same(output, kTable);
  const auto width = m.config.at("hidden_size").get<uint64_t>();
  const std::string to = "model.decoder.embed_tokens.weight";
  if (scaled)
    m.scaled(to, kTable, std::sqrt(static_cast<float>(width)));
  else
    m.copy(to, kTable);
  m.use(output);
  if (!tied || scaled) m.copy("lm_head.weight", tied ? kTable : output);
  m.config["tie_word_embeddings"] = tied && !scaled;
}

}  // namespace

void map_language_model(TrainedMapper& m, const Settings& s) {
  const uint32_t layers = m.layers("decoder.layers.{}.fc1.weight");
  if (layers == 0) m.refuse("it has no layers");
  const bool pre_norm = s.model.flag("decoder_normalize_before", true);
  m.config["model_type"] = "opt";
  m.config["hidden_size"] = m.config["word_embed_proj_dim"] = m.size(kTable, 1);
  m.config["vocab_size"] = m.size(kTable, 0);
  m.config["num_hidden_layers"] = layers;
  m.config["num_attention_heads"] = heads_of(s, "decoder");
  m.config["ffn_dim"] = m.size("decoder.layers.0.fc1.weight", 0);
  m.config["activation_function"] = s.model.text("activation_fn", s.arch.activation);
  m.config["do_layer_norm_before"] = pre_norm;
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string name = "decoder.layers." + std::to_string(i);
    map_layer(m, name, "model." + name, false);
  }
  const bool final_norm = m.has("decoder.layer_norm.weight");
  m.config["_remove_final_layer_norm"] = pre_norm && !final_norm;
  if (final_norm) m.linear("model.decoder.final_layer_norm", "decoder.layer_norm");
  if (final_norm && !pre_norm) m.refuse("decoder.layer_norm stands behind layers that normalize at their ends");
  if (m.has("decoder.layernorm_embedding.weight")) m.refuse("layernorm_embedding is on");
  map_lm_positions(m, s);
  map_lm_embeddings(m, s);
  for (const char* unused : {"decoder.version", "decoder.embed_positions._float_tensor"}) m.leave(unused);
  refuse_settings(m, s, kTable);
  m.refuse_unused();
}

}  // namespace lapilli::doors::trained::fairseq
