// Networks as Marian itself computes them (Junczys-Dowmunt et al. 2018): opus-mt's originals, and the students of
// Firefox and Bergamot, whose decoders have recurrent cells (Kim et al. 2019). Another family than "marian", which is
// what became of the former in Transformers: frequencies of positions are 10000^(-i/(d/2-1)), and epsilon is 1e-6.
#include "model/families/bart_group.hpp"

namespace lapilli::model {

extern const Family family_marian_nmt;

namespace {

Status read_cells(const JsonView& v, StackConfig& decoder) {
  LAPILLI_TRY(const auto cell, get_string(v, "decoder_cell", "attention"));
  if (cell != "attention" && cell != "ssru")
    return fail(ErrorCode::unsupported, "%s: decoder_cell is neither attention nor ssru", v.where);
  decoder.cells = cell == "ssru";
  return {};
}

// Norms before sublayers are norms of queries alone.
Status read_variants(const JsonView& v, StackConfig& s) {
  constexpr uint32_t kMostMiddle = 14;
  LAPILLI_TRY(s.pre_norm, get_bool(v, "normalize_before", false));
  s.query_norm_alone = s.pre_norm;
  LAPILLI_TRY(s.final_norm, get_bool(v, "final_norm", false));
  LAPILLI_TRY(s.middle_layers, get_u32(v, "ffn_middle_layers", 0));
  if (s.middle_layers <= kMostMiddle) return {};
  return fail(ErrorCode::unsupported, "%s: ffn_middle_layers is %u; at most %u are supported", v.where, s.middle_layers,
              kMostMiddle);
}

Result<Config> read_marian_nmt(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(Config c, bart_config(v, {.family = "marian_nmt", .activation = "relu", .scale_embedding = true}));
  c.tokenizer = "marian";
  LAPILLI_TRY(c.shared_embeddings, get_bool(v, "share_encoder_decoder_embeddings", true));
  if (!c.shared_embeddings) {
    LAPILLI_TRY(c.target_vocabulary, get_size(v, "decoder_vocab_size", kMaxVocabulary, c.source_vocabulary));
  }
  LAPILLI_TRY(const float epsilon, get_epsilon(v, "layer_norm_eps", 1e-6f));
  c.encoder.norm_epsilon = c.decoder.norm_epsilon = epsilon;
  set_positions(c, Positions::sinusoid_fairseq);
  LAPILLI_CHECK(read_cells(v, c.decoder));
  for (StackConfig* s : {&c.encoder, &c.decoder}) LAPILLI_CHECK(read_variants(v, *s));
  return c;
}

Names marian_nmt_names(const Config& c) {
  Names n = bart_names(c);
  n.encoder.layer.middle = "model.encoder.layers.{}.middle.";
  n.decoder.layer.middle = "model.decoder.layers.{}.middle.";
  if (!c.decoder.cells) return n;
  AttentionNames& cell = n.decoder.layer.self;
  cell = {};
  cell.gate = "model.decoder.layers.{}.cell.gate";
  cell.v = "model.decoder.layers.{}.cell.value";
  cell.norm = "model.decoder.layers.{}.cell_layer_norm";
  return n;
}

}  // namespace

const Family family_marian_nmt = {"marian_nmt", "Marian's own networks, Firefox's students", read_marian_nmt,
                                  marian_nmt_names};

}  // namespace lapilli::model
