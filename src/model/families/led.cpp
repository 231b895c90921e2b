// LED (Longformer encoder-decoder): Beltagy et al. 2020. BART with an encoder in which a token sees its neighbours,
// while global tokens see all and are seen by all; as many positions as the tables have rows.
#include <nlohmann/json.hpp>

#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_led;

namespace {

// attention_window: a number, or one per layer; the total width of both sides.
Result<std::vector<uint32_t>> windows(const JsonView& v, uint32_t layers) {
  std::vector<uint32_t> sizes(layers, 512);
  const auto it = v.json.find("attention_window");
  if (it != v.json.end() && it->is_array()) {
    if (it->size() != layers)
      return fail(ErrorCode::invalid_data, "%s: attention_window has %u entries for %u encoder layers", v.where,
                  it->size(), layers);
    for (size_t i = 0; i < sizes.size(); ++i) {
      const nlohmann::json entry = {{"attention_window", (*it)[i]}};
      LAPILLI_TRY(sizes[i], get_u32({entry, v.where}, "attention_window"));
    }
  } else {
    LAPILLI_TRY(const auto size, get_u32(v, "attention_window", 512));
    sizes.assign(layers, size);
  }
  for (uint32_t& size : sizes) {
    if (size == 0 || size % 2 != 0 || size > kMaxPositionRows)
      return fail(ErrorCode::invalid_data, "%s: attention_window %u is not an even number from 2 to %u", v.where, size,
                  kMaxPositionRows);
    size /= 2;
  }
  return sizes;
}

Result<Config> read_led(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {"led"}));
  set_embedding_norm(c);
  set_positions(c, Positions::learned);
  LAPILLI_TRY(c.encoder.max_positions, get_size(v, "max_encoder_position_embeddings", kMaxPositionRows, 16384));
  LAPILLI_TRY(c.decoder.max_positions, get_size(v, "max_decoder_position_embeddings", kMaxPositionRows, 1024));
  LAPILLI_TRY(c.encoder.windows, windows(v, c.encoder.layers));
  c.encoder.global_positions = true;
  return c;
}

Names led_names(const Config& c) {
  Names n = bart_names_under(c, "led.");
  const std::string layer = "led.encoder.layers.{}.self_attn.", inner = layer + "longformer_self_attn.";
  AttentionNames& self = n.encoder.layer.self;
  self.q = inner + "query";
  self.k = inner + "key";
  self.v = inner + "value";
  self.global_q = inner + "query_global";
  self.global_k = inner + "key_global";
  self.global_v = inner + "value_global";
  self.out = layer + "output";
  return n;
}

}  // namespace

const Family family_led = {"led", "LED (long documents)", read_led, led_names};

}  // namespace lapilli::model
