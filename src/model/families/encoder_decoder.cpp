// Pairs of BERT-like models (Rothe et al. 2020): an encoder, and a decoder with cross attention and a language head,
// each with a config of its own.
#include <nlohmann/json.hpp>

#include "model/families/bert_group.hpp"

namespace lapilli::model {

extern const Family family_encoder_decoder;

namespace {

Result<Config> read_encoder_decoder(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  LAPILLI_TRY(const auto encoder, get_object(v, "encoder"));
  LAPILLI_TRY(const auto decoder, get_object(v, "decoder"));
  Config c;
  c.family = "encoder-decoder";
  LAPILLI_CHECK(read_bert_side(encoder, "encoder", c.encoder, c.source_vocabulary));
  LAPILLI_CHECK(read_bert_side(decoder, "decoder", c.decoder, c.target_vocabulary));
  LAPILLI_CHECK(read_bert_head(decoder, c));
  c.tokenizer = find_bert_side(c.encoder.type)->base;
  c.shared_embeddings = false;
  LAPILLI_TRY(c.tied_stacks, get_bool(v, "tie_encoder_decoder", false));
  return c;
}

Names encoder_decoder_names(const Config& c) {
  Names n;
  n.encoder = bert_side_names("encoder.", false);
  n.other_prefixes = {{"encoder.", std::string("encoder.") + find_bert_side(c.encoder.type)->base + "."}};
  name_bert_decoder(c, n);
  if (c.tied_output) {
    n.output.push_back(n.decoder.embedding[0]);
    n.decoder.embedding.push_back(n.output[0]);
  }
  if (c.tied_stacks)
    n.other_prefixes.emplace_back("encoder.", std::string("decoder.") + find_bert_side(c.decoder.type)->base + ".");
  return n;
}

}  // namespace

const Family family_encoder_decoder = {"encoder-decoder", "pairs of BERT and RoBERTa models", read_encoder_decoder,
                                       encoder_decoder_names};

}  // namespace lapilli::model
