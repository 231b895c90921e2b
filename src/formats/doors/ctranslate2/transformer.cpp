#include <algorithm>
#include <cmath>

#include "formats/doors/ctranslate2/mappings.hpp"

namespace lapilli::doors::ct2 {

namespace {

// CTranslate2 computes positions that the file lacks, and has no end of them.
constexpr uint64_t kComputedPositions = 2048;
constexpr uint32_t kMostNewTokens = 256;  // CTranslate2's own default
// As a bias this leaves an id without any probability in each format of numbers.
constexpr float kNever = -30000;

void map_attention(Mapper& m, const std::string& from, const std::string& to, bool cross, bool key_bias) {
  const std::string keys = from + (cross ? "/linear_1" : "/linear_0");
  m.linear(to + ".q_proj", from + "/linear_0", cross ? Rows{} : Rows{0, 3});
  const uint64_t of = cross ? 2 : 3;
  m.matrix(to + ".k_proj.weight", keys + "/weight", {of - 2, of});
  if (key_bias && m.has(keys + "/bias")) m.numbers(to + ".k_proj.bias", keys + "/bias", {of - 2, of});
  m.linear(to + ".v_proj", keys, {of - 1, of});
  m.linear(to + ".out_proj", from + (cross ? "/linear_2" : "/linear_1"));
  m.norm(to + "_layer_norm", from + "/layer_norm");
}

bool has_languages(const Tokens& tokens) { return id_of(tokens, "__en__") || id_of(tokens, "eng_Latn"); }

std::string family_of(const Mapper& m, const Beside& beside, bool pre_norm) {
  if (m.has("encoder/layernorm_embedding/gamma")) return pre_norm ? "mbart" : "bart";
  if (!pre_norm) return "marian";
  const bool biased = m.has("decoder/projection/bias");
  return has_languages(beside.vocabularies.source) && !biased ? "m2m_100" : "pegasus";
}

constexpr uint64_t kMostComputedWidth = uint64_t{1} << 14;

// Sines in the first half, cosines in the second; the first position is 1.
std::vector<float> computed_positions(uint64_t width) {
  const uint64_t half = width / 2;
  const double step = std::log(10000.0) / std::max(1.0, static_cast<double>(half) - 1);
  std::vector<float> values(kComputedPositions * width, 0.0f);
  for (uint64_t p = 0; p < kComputedPositions; ++p)
    for (uint64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(p + 1) * std::exp(-step * static_cast<double>(i));
      values[p * width + i] = static_cast<float>(std::sin(angle));
      values[p * width + half + i] = static_cast<float>(std::cos(angle));
    }
  return values;
}

// Returns the number of positions. BART has two unused rows before the first one.
uint64_t map_positions(Mapper& m, const std::string& side, const std::string& to, uint64_t before) {
  const std::string from = side + "/position_encodings/encodings", name = to + "embed_positions.weight";
  if (const uint64_t rows = m.size(from, 0); rows > 0) {
    m.numbers(name, from, {}, {before, 0});
    return rows;
  }
  const uint64_t width = m.size(side + "/layer_0/self_attention/linear_0/weight", 1);
  if (before == 0 && width > kMostComputedWidth)
    m.refuse(format("%s has no positions, and they are not computed for a width of %u", side, width));
  else if (before == 0)
    m.values(name, {kComputedPositions, width}, computed_positions(width));
  return kComputedPositions;
}

// The source's embeddings: early revisions do not number them.
std::string source_embeddings(const Mapper& m) {
  return m.has("encoder/embeddings_0/weight") ? "encoder/embeddings_0/weight" : "encoder/embeddings/weight";
}

struct Embeddings {
  std::string source, target = "decoder/embeddings/weight", output = "decoder/projection/weight";
  uint64_t zeros = 0;  // rows behind the stored ones
};

void map_embeddings(Mapper& m, const Embeddings& e, nlohmann::json& config) {
  const bool shared = m.file().same(e.source, e.target), tied = !m.has(e.output) || m.file().same(e.output, e.target);
  config["tie_word_embeddings"] = tied;
  config["share_encoder_decoder_embeddings"] = shared;
  config["vocab_size"] = m.size(e.source, 0) + e.zeros;
  config["decoder_vocab_size"] = m.size(e.target, 0) + e.zeros;
  m.matrix(shared ? "model.shared.weight" : "model.encoder.embed_tokens.weight", e.source, {}, {0, e.zeros});
  if (!shared) m.matrix("model.decoder.embed_tokens.weight", e.target, {}, {0, e.zeros});
  if (!tied) m.matrix("lm_head.weight", e.output, {}, {0, e.zeros});
}

// The bias of the logits; an added id gets no probability.
void map_logits_bias(Mapper& m, uint64_t vocabulary, uint64_t added) {
  const std::string from = "decoder/projection/bias";
  std::vector<float> bias(vocabulary, 0.0f);
  if (m.has(from)) m.floats(from, vocabulary - added, bias);
  std::fill(bias.end() - static_cast<ptrdiff_t>(added), bias.end(), kNever);
  m.values("final_logits_bias", {1, vocabulary}, std::move(bias));
}

// The decoder starts from zeros: the embedding of an id that the vocabulary does not have, as in published Marian
// models.
void start_from_zeros(uint64_t id, Fields& fields) {
  for (nlohmann::json* json : {&fields.config, &fields.generation}) {
    (*json)["pad_token_id"] = id;
    (*json)["decoder_start_token_id"] = id;
  }
  fields.generation["bad_words_ids"] = nlohmann::json::array({nlohmann::json::array({id})});
}

}  // namespace

void map_bart_stack(Mapper& m, const std::string& side, const std::string& prefix, bool key_bias) {
  for (uint32_t i = 0, layers = m.layers(side); i < layers; ++i) {
    const std::string from = side + "/layer_" + std::to_string(i), to = prefix + "layers." + std::to_string(i);
    map_attention(m, from + "/self_attention", to + ".self_attn", false, key_bias);
    if (m.has(from + "/attention/linear_0/weight"))
      map_attention(m, from + "/attention", to + ".encoder_attn", true, key_bias);
    m.linear(to + ".fc1", from + "/ffn/linear_0");
    m.linear(to + ".fc2", from + "/ffn/linear_1");
    m.norm(to + ".final_layer_norm", from + "/ffn/layer_norm");
  }
  if (m.has(side + "/layer_norm/gamma")) m.norm(prefix + "layer_norm", side + "/layer_norm");
  if (m.has(side + "/layernorm_embedding/gamma")) m.norm(prefix + "layernorm_embedding", side + "/layernorm_embedding");
}

void add_bart_sizes(Mapper& m, nlohmann::json& config) {
  for (const std::string side : {"encoder", "decoder"}) {
    config[side + "_layers"] = m.layers(side);
    config[side + "_ffn_dim"] = m.size(side + "/layer_0/ffn/linear_0/weight", 0);
    config[side + "_attention_heads"] = m.heads(side);
  }
  config["d_model"] = m.size("decoder/embeddings/weight", 1);
  config["activation_function"] = m.activation("decoder");
  if (m.has("encoder/activation") && m.activation("encoder") != m.activation("decoder"))
    m.refuse("encoder and decoder have different activations");
}

void add_special_ids(const Beside& beside, nlohmann::json& fields) {
  const Tokens& tokens = beside.vocabularies.target;
  const auto set = [&](const char* key, const std::string& token) {
    if (const auto id = id_of(tokens, token)) fields[key] = *id;
  };
  const std::string bos = beside.text("bos_token", "<s>"), eos = beside.text("eos_token", "</s>");
  set("bos_token_id", bos);
  set("eos_token_id", eos);
  set("pad_token_id", eos);
  for (const char* pad : {"<pad>", "<blank>", "[PAD]"}) set("pad_token_id", pad);
  set("decoder_start_token_id", beside.text("decoder_start_token", bos.c_str()));
}

void map_transformer(Mapper& m, const Beside& beside, Fields& fields) {
  if (m.has("encoder/layer_0/self_attention/relative_attention_bias")) return map_t5(m, beside, fields);
  const bool pre_norm = m.setting("decoder/pre_norm", 1) != 0;
  if (pre_norm != (m.setting("encoder/pre_norm", 1) != 0))
    m.refuse("encoder and decoder have norms at different places");
  const std::string family = family_of(m, beside, pre_norm);
  nlohmann::json& config = fields.config;
  config["model_type"] = family;
  add_bart_sizes(m, config);
  add_special_ids(beside, config);
  add_special_ids(beside, fields.generation);
  const uint64_t width = m.size("decoder/embeddings/weight", 1);
  const bool scaled = m.scales_embeddings("decoder", width);
  if (scaled != m.scales_embeddings("encoder", width)) m.refuse("one side alone scales its embeddings");
  config["scale_embedding"] = scaled;
  const bool zeros = m.setting("decoder/start_from_zero_embedding", 0) != 0;
  map_embeddings(m, {.source = source_embeddings(m), .zeros = zeros ? 1u : 0u}, config);
  const auto vocabulary = config["decoder_vocab_size"].get<uint64_t>();
  if (zeros) start_from_zeros(vocabulary - 1, fields);
  if (family != "m2m_100") map_logits_bias(m, vocabulary, zeros ? 1 : 0);
  uint64_t positions = kComputedPositions;
  for (const std::string side : {"encoder", "decoder"}) {
    const std::string prefix = "model." + side + ".";
    map_bart_stack(m, side, prefix);
    if (family == "m2m_100") m.use(side + "/position_encodings/encodings");
    positions =
        std::min(positions, family == "m2m_100" ? m.size(side + "/position_encodings/encodings", 0)
                                                : map_positions(m, side, prefix, family.ends_with("bart") ? 2 : 0));
  }
  config["max_position_embeddings"] = positions;
  fields.generation["max_length"] = std::min<uint64_t>(positions, kMostNewTokens);
}

}  // namespace lapilli::doors::ct2
