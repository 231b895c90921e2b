#include "model/shape.hpp"

#include <algorithm>
#include <charconv>

#include "model/families/parse.hpp"
#include "model/patches.hpp"

namespace lapilli::model {

namespace {

struct BaseSize {
  uint32_t d_model, heads, ffn, encoder_layers, decoder_layers, vocabulary;
};

Config base_config(const BaseSize& size) {
  Config c;
  c.family = "random";
  c.tokenizer = "none";
  c.encoder.layers = size.encoder_layers;
  c.decoder.layers = size.decoder_layers;
  for (StackConfig* s : {&c.encoder, &c.decoder}) {
    s->d_model = size.d_model;
    s->heads = size.heads;
    s->ffn = size.ffn;
    s->activation = Activation::silu;
    s->activation_name = "silu";
    s->positions = Positions::sinusoid_split;
    s->max_positions = 512;
  }
  c.source_vocabulary = c.target_vocabulary = size.vocabulary;
  c.logits_bias = true;
  return c;
}

// ViT-Base (Dosovitskiy et al. 2020): a picture encoder with a classification head.
Config vit_base() {
  Config c = base_config({768, 12, 3072, 12, 0, 8001});
  StackConfig& s = c.encoder;
  s.activation = Activation::gelu_erf;
  s.activation_name = "gelu";
  s.pre_norm = s.final_norm = s.states_before_final_norm = true;
  c.patches = {3, 224, 224, 16, 16};
  c.features.front = 1;
  HeadConfig& head = c.heads.front();
  head.kind = HeadKind::classes;
  head.every_row = false;
  head.columns = 1000;
  c.source_vocabulary = 0;
  return c;
}

// Whisper's smallest (Radford et al. 2022): two convolutions over 3,000 frames give 1,500 positions.
Config whisper_tiny() {
  Config c = base_config({384, 6, 1536, 4, 4, 51865});
  for (StackConfig* s : {&c.encoder, &c.decoder}) {
    s->activation = Activation::gelu_erf;
    s->activation_name = "gelu";
    s->pre_norm = s->final_norm = true;
    s->key_bias = false;
  }
  c.encoder.max_positions = 1500;
  c.decoder.max_positions = 448;
  c.logits_bias = false;
  c.features.width = 80;
  c.features.layers.resize(2);
  c.source_vocabulary = 0;
  return c;
}

// BERT's encoder of texts (Devlin et al. 2019), to vectors of length 1 (Reimers and Gurevych 2019).
Config text_encoder(const BaseSize& size, Pooling pooling) {
  Config c = base_config(size);
  StackConfig& s = c.encoder;
  s.activation = Activation::gelu_erf;
  s.activation_name = "gelu";
  s.embedding_norm = true;
  s.row_types = 2;
  c.logits_bias = false;
  HeadConfig& head = c.heads.front();
  head.kind = HeadKind::sentences;
  head.every_row = false;
  head.pooling = pooling;
  head.steps = {{}};
  return c;
}

// ModernBERT's base (Warner et al. 2024): rotary positions; two of three layers see 64 keys on either side.
Config modernbert_base() {
  Config c = text_encoder({768, 12, 1152, 22, 0, 50368}, Pooling::mean);
  StackConfig& s = c.encoder;
  s.positions = Positions::none;
  s.max_positions = c.decoder.max_positions = 8192;
  s.row_types = 0;
  s.gated = s.pre_norm = s.final_norm = s.rotary_halves = true;
  s.first_norm = false;
  s.rotary_base = 160000;
  s.windows = {64};
  return c;
}

void fit_layers(StackConfig& s) {
  if (s.windows.empty()) return;
  const uint32_t width = s.windows.back();
  s.windows.assign(s.layers, width);
  for (uint32_t i = 0; i < s.layers; i += 3) s.windows[i] = kNoWindow;
  s.rotary = s.head_dim;
}

void fit_frames(Config& c) {
  if (c.features.layers.size() != 2) return;
  c.features.rows = 2 * c.encoder.max_positions;
  const uint32_t d = c.encoder.d_model;
  c.features.layers = {{3, 1, 1, 1, d, Activation::gelu_erf, true}, {3, 2, 1, 1, d, Activation::gelu_erf, true}};
}

Status fit_pictures(Config& c) {
  if (c.kind().reads != Reads::pictures) return {};
  c.features.width = c.patches.numbers();
  c.features.layers = {{1, 1, 0, 0, c.encoder.d_model, Activation::none, true}};
  const Status fits = fit_picture(c, "shape");
  return fits ? Status() : fail(ErrorCode::invalid_argument, "%s", fits.error().message);
}

Status apply_activation(Config& c, const std::string& value) {
  constexpr std::string_view kGated = "gated-";
  const bool gated = value.starts_with(kGated);
  const std::string name = value.substr(gated ? kGated.size() : 0);
  const auto known = find_activation(name);
  if (!known) return fail(ErrorCode::invalid_argument, "shape: activation %s is not known", value);
  for (StackConfig* s : {&c.encoder, &c.decoder}) {
    s->activation = *known;
    s->activation_name = name;
    s->gated = gated;
  }
  return {};
}

Status apply(Config& c, const std::string& key, const std::string& value) {
  if (key == "activation") return apply_activation(c, value);
  uint32_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  const uint32_t least = key == "encoder" || key == "decoder" ? 0 : 1;  // layers of a side that there is not
  if (error != std::errc() || end != value.data() + value.size() || n < least || n > 1u << 24)
    return fail(ErrorCode::invalid_argument, "shape: %s=%s is not a number from %u to 16777216", key, value, least);
  if (key == "d")
    c.encoder.d_model = c.decoder.d_model = n;
  else if (key == "heads")
    c.encoder.heads = c.decoder.heads = n;
  else if (key == "kv_heads")
    c.encoder.cache_heads = c.decoder.cache_heads = n;
  else if (key == "ffn")
    c.encoder.ffn = c.decoder.ffn = n;
  else if (key == "layers")
    c.encoder.layers = c.decoder.layers = n;
  else if (key == "encoder")
    c.encoder.layers = n;
  else if (key == "decoder")
    c.decoder.layers = n;
  else if (key == "window" && c.decoder.layers > 0)
    c.decoder.windows = {n - 1};
  else if (key == "full_caches" && n == 1)
    c.decoder.rings = false;
  else if (key == "vocabulary" && !c.kind().reads_text())
    c.target_vocabulary = n;
  else if (key == "vocabulary")
    c.source_vocabulary = c.target_vocabulary = n;
  else if (key == "picture" && c.kind().reads == Reads::pictures)
    c.patches.height = c.patches.width = n;
  else if (key == "positions")
    c.encoder.max_positions = c.decoder.max_positions = n;
  else
    return fail(ErrorCode::invalid_argument,
                "shape: %s is not known; keys: d heads kv_heads ffn layers encoder decoder vocabulary positions "
                "activation, window and full_caches=1 of a decoder, and picture of vit-base",
                key);
  return {};
}

struct Named {
  const char* name;
  Config (*make)();
};
constexpr Named kNamed[] = {
    {"transformer-base",
     [] {
       return base_config({512, 8, 2048, 6, 6, 58101});
     }},
    {"small",
     [] {
       return base_config({256, 4, 1024, 4, 2, 8001});
     }},
    {"tiny",
     [] {
       return base_config({32, 4, 64, 2, 2, 257});
     }},
    {"vit-base", vit_base},
    {"whisper-tiny", whisper_tiny},
    {"minilm",
     [] {
       return text_encoder({384, 12, 1536, 6, 0, 30522}, Pooling::mean);
     }},
    {"bge-small",
     [] {
       return text_encoder({384, 12, 1536, 12, 0, 30522}, Pooling::row);
     }},
    {"bert-base",
     [] {
       return text_encoder({768, 12, 3072, 12, 0, 30522}, Pooling::mean);
     }},
    {"modernbert-base", modernbert_base},
};

std::string all_names() {
  std::string names;
  for (const Named& named : kNamed) names += (names.empty() ? "" : ", ") + std::string(named.name);
  return names;
}

Status apply_item(Config& c, const std::string& item) {
  const size_t equals = item.find('=');
  if (equals != std::string::npos) return apply(c, item.substr(0, equals), item.substr(equals + 1));
  const auto* named = std::ranges::find(kNamed, item, &Named::name);
  if (named == std::end(kNamed))
    return fail(ErrorCode::invalid_argument, "shape: \"%s\" is not known; names: %s", item, all_names());
  c = named->make();
  return {};
}

// Limits for command lines from strangers; larger networks would not fit the memory of a process either.
constexpr uint64_t kMaxParameters = uint64_t{1} << 32;
constexpr uint32_t kMaxLayers = 256, kMaxPositions = 1u << 16, kMaxWidth = 1u << 16;

Status check(const Config& c) {
  const uint64_t d = c.decoder.d_model, ffn = (c.encoder.gated ? 3 : 2) * d * c.encoder.ffn,
                 positions = c.decoder.max_positions;
  if (c.encoder.layers + c.decoder.layers == 0)
    return fail(ErrorCode::invalid_argument, "shape: without layers of an encoder or a decoder there is no model");
  if (c.encoder.layers == 0 && (c.features.width > 0 || c.patches.channels > 0))
    return fail(ErrorCode::invalid_argument, "shape: without an encoder nothing reads sound or pictures");
  if (d % c.encoder.heads != 0)
    return fail(ErrorCode::invalid_argument, "shape: %u heads do not divide d %u", c.encoder.heads, c.decoder.d_model);
  if (c.encoder.heads % c.encoder.kv_heads() != 0)
    return fail(ErrorCode::invalid_argument, "shape: %u kv_heads do not divide %u heads", c.encoder.kv_heads(),
                c.encoder.heads);
  if (c.encoder.gated && c.encoder.ffn % 4 != 0)
    return fail(ErrorCode::invalid_argument, "shape: a gated ffn of %u; a multiple of 4 is possible", c.encoder.ffn);
  if (d > kMaxWidth || positions > kMaxPositions || std::max(c.encoder.layers, c.decoder.layers) > kMaxLayers)
    return fail(ErrorCode::invalid_argument, "shape: at most d=%u, positions=%u, %u layers a side", kMaxWidth,
                kMaxPositions, kMaxLayers);
  const uint64_t parameters = d * (c.target_vocabulary + positions) + c.encoder.layers * (4 * d * d + ffn) +
                              c.decoder.layers * (8 * d * d + ffn);
  if (parameters > kMaxParameters)
    return fail(ErrorCode::invalid_argument, "shape: %u parameters; at most %u", parameters, kMaxParameters);
  return {};
}

}  // namespace

Result<Config> parse_shape(const std::string& text) {
  Config c = kNamed[0].make();
  size_t at = 0;
  while (at <= text.size()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    LAPILLI_CHECK(apply_item(c, text.substr(at, comma - at)));
    at = comma + 1;
  }
  LAPILLI_CHECK(check(c));
  c.encoder.head_dim = c.decoder.head_dim = c.decoder.d_model / c.decoder.heads;
  if (c.kind().reads == Reads::nothing) c.source_vocabulary = 0;
  if (!c.kind().decodes && c.head(HeadKind::tokens)) c.heads.clear();
  fit_layers(c.encoder);
  fit_layers(c.decoder);
  fit_frames(c);
  LAPILLI_CHECK(fit_pictures(c));
  return c;
}

}  // namespace lapilli::model
