#include "formats/doors/marian/network.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/math.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors::marian {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostDepth = 16;  // of feed-forward sublayers
constexpr uint64_t kMostLayers = 1024, kMostHeads = 4096;
constexpr uint64_t kComputedPositions = 2048;  // Marian computes them, and has no end of them
// As a bias this leaves an id without any probability in each format of numbers.
constexpr float kNever = -30000;

// The tensors that a network needs, made from the parameters that it has.
class NetworkMapper {
 public:
  NetworkMapper(const Parameters& parameters, const Settings& settings) : p_(parameters), s_(settings) {}

  void map();
  Result<Mapped> take(const std::string& where);

 private:
  void refuse(const std::string& reason) { reasons_.push_back(reason); }
  const Parameter* use(const std::string& name);
  [[nodiscard]] uint64_t size(const std::string& name, size_t dimension) const;
  uint64_t number(const char* key, uint64_t missing, uint64_t most);

  void check_settings();
  void check_places();
  void check_tied_layers(uint64_t layers);
  void check_unused();
  void embeddings();
  void output(const std::string& table);
  void logits_bias();
  void encoder(uint64_t layers);
  void decoder(uint64_t layers);
  void self_attention(const std::string& from, const std::string& to);
  void cell(const std::string& from, const std::string& to);
  void attention(const std::string& from, const std::string& to);
  void feed_forward(const std::string& from, const std::string& to);
  void layer(const std::string& to, const std::string& weight, const std::string& bias);
  void norm(const std::string& to, const std::string& from);
  void matrix(const std::string& to, const std::string& from);
  void table(const std::string& to, const std::string& from);
  void vector(const std::string& to, const std::string& from);
  // With columns as rows, as ours are.
  void add_matrix(const std::string& to, const Parameter& p, bool turn);

  [[nodiscard]] bool norms_first() const { return s_.text("transformer-preprocess").find('n') != std::string::npos; }
  [[nodiscard]] bool norms_last() const {
    return s_.text("transformer-postprocess-top").find('n') != std::string::npos;
  }
  // The number that a decoder's layer has in names: layers that share their weights have one. 0: it is none.
  [[nodiscard]] uint64_t stored_number(uint64_t layer) const;
  [[nodiscard]] bool has_cells() const { return s_.text("transformer-decoder-autoreg", "self-attention") == "rnn"; }

  const Parameters& p_;
  const Settings& s_;
  Mapped made_;
  std::set<std::string> used_;
  std::vector<std::string> reasons_;
  uint64_t depth_ = 2;  // layers of a feed-forward sublayer
};

const Parameter* NetworkMapper::use(const std::string& name) {
  used_.insert(name);
  const Parameter* p = p_.find(name);
  if (!p) refuse("it lacks " + name);
  return p;
}

uint64_t NetworkMapper::size(const std::string& name, size_t dimension) const {
  const Parameter* p = p_.find(name);
  return p && dimension < p->shape.size() ? p->shape[dimension] : 0;
}

uint64_t NetworkMapper::number(const char* key, uint64_t missing, uint64_t most) {
  const uint64_t n = s_.number(key, missing, most);
  if (n > 0 && n <= most) return n;
  refuse(format("%s is %s, not a number from 1 to %u", key, quote_name(s_.text(key), 40), most));
  return 1;
}

// One row of 8-bit numbers as words; the one scale is that of each block.
MakeRow scaled_rows(const Parameter& p, uint64_t row) {
  return [row, divisor = p.divisor, stored = stored_bytes_of(p.range)](uint64_t r, std::span<std::byte> to) -> Status {
    std::vector<int8_t> numbers(row);
    LAPILLI_CHECK(stored(r * row, std::as_writable_bytes(std::span(numbers))));
    const std::vector<float> scales(div_up<uint64_t>(row, kScaledDepths), 1.0f / divisor);
    write_scaled_row(numbers, scales, to);
    return {};
  };
}

void NetworkMapper::add_matrix(const std::string& to, const Parameter& p, bool turn) {
  const uint64_t rows = p.shape[turn ? 1 : 0], depth = p.shape[turn ? 0 : 1];
  MadeTensor t{to, p.type, {rows, depth}, nullptr};
  if (p.type == StoredType::i8) {
    if (turn != p.turned) return refuse(to + " lies the other way round than such matrices do");
    t.type = StoredType::u32;
    t.shape[1] = scaled_row_words(depth);
    t.read = rows_of(t.shape[1] * sizeof(uint32_t), scaled_rows(p, depth));
    made_.scaled = true;
  } else {
    t.shape = {p.shape[0], p.shape[1]};
    t.read = stored_bytes_of(p.range);
    if (turn) turn_around(t);
  }
  made_.tensors.push_back(std::move(t));
}

void NetworkMapper::matrix(const std::string& to, const std::string& from) {
  const Parameter* p = use(from);
  if (!p) return;
  if (p->shape.size() != 2) return refuse(from + " is no matrix");
  add_matrix(to, *p, true);
}

// A table of embeddings with a row of zeros behind it, from which the decoder starts.
void NetworkMapper::table(const std::string& to, const std::string& from) {
  const Parameter* p = use(from);
  if (!p) return;
  if (p->shape.size() != 2) return refuse(from + " is no table");
  const size_t before = made_.tensors.size();
  add_matrix(to, *p, false);
  if (made_.tensors.size() > before) add_zero_rows(made_.tensors.back(), 0, 1);
}

void NetworkMapper::vector(const std::string& to, const std::string& from) {
  const Parameter* p = use(from);
  if (!p) return;
  uint64_t n = 1;
  for (const uint64_t d : p->shape) n *= d;
  if (p->type == StoredType::i8) return refuse(from + " has 8-bit numbers");
  made_.tensors.push_back({to, p->type, {n}, stored_bytes_of(p->range)});
}

void NetworkMapper::layer(const std::string& to, const std::string& weight, const std::string& bias) {
  matrix(to + ".weight", weight);
  if (!bias.empty()) vector(to + ".bias", bias);
}

void NetworkMapper::norm(const std::string& to, const std::string& from) {
  const std::string end = norms_first() && !from.ends_with("_top_ln") ? "_pre" : "";
  vector(to + ".weight", from + "_scale" + end);
  vector(to + ".bias", from + "_bias" + end);
}

void NetworkMapper::attention(const std::string& from, const std::string& to) {
  for (const std::string which : {"q", "k", "v"})
    layer(to + "." + which + "_proj", from + "_W" + which, from + "_b" + which);
  layer(to + ".out_proj", from + "_Wo", from + "_bo");
  norm(to + "_layer_norm", from + "_Wo_ln");
}

void NetworkMapper::self_attention(const std::string& from, const std::string& to) {
  attention(from + "_self", to + ".self_attn");
}

void NetworkMapper::cell(const std::string& from, const std::string& to) {
  layer(to + ".cell.gate", from + "_rnn_Wf", from + "_rnn_bf");
  layer(to + ".cell.value", from + "_rnn_W", "");
  norm(to + ".cell_layer_norm", from + "_rnn_ffn_ln");
}

void NetworkMapper::feed_forward(const std::string& from, const std::string& to) {
  const auto inner = [&](const std::string& name, uint64_t i) {
    layer(to + name, format("%s_ffn_W%u", from, i), format("%s_ffn_b%u", from, i));
  };
  inner(".fc1", 1);
  for (uint64_t i = 2; i < depth_; ++i) inner(format(".middle.%u", i - 2), i);
  inner(".fc2", depth_);
  norm(to + ".final_layer_norm", from + "_ffn_ffn_ln");
}

void NetworkMapper::encoder(uint64_t layers) {
  for (uint64_t i = 0; i < layers; ++i) {
    const std::string from = format("encoder_l%u", i + 1), to = format("model.encoder.layers.%u", i);
    self_attention(from, to);
    feed_forward(from, to);
  }
  if (norms_last()) norm("model.encoder.layer_norm", "encoder_top_ln");
}

uint64_t NetworkMapper::stored_number(uint64_t layer) const {
  constexpr size_t kMostDigits = 4;
  const auto tied = s_.list("transformer-tied-layers");
  if (tied.empty()) return layer + 1;
  if (layer >= tied.size() || tied[layer].empty() || tied[layer].size() > kMostDigits) return 0;
  uint64_t number = 0;
  for (const char c : tied[layer]) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

void NetworkMapper::decoder(uint64_t layers) {
  if (norms_last()) norm("model.decoder.layer_norm", "decoder_top_ln");
  for (uint64_t i = 0; i < layers; ++i) {
    const std::string from = format("decoder_l%u", stored_number(i)), to = format("model.decoder.layers.%u", i);
    has_cells() ? cell(from, to) : self_attention(from, to);
    attention(from + "_context", to + ".encoder_attn");
    feed_forward(from, to);
  }
}

void NetworkMapper::embeddings() {
  made_.shared = p_.find("Wemb") != nullptr;
  const std::string source = made_.shared ? "Wemb" : "encoder_Wemb", target = made_.shared ? source : "decoder_Wemb";
  made_.source_ids = size(source, 0);
  made_.target_ids = size(target, 0);
  table(made_.shared ? "model.shared.weight" : "model.encoder.embed_tokens.weight", source);
  if (!made_.shared) table("model.decoder.embed_tokens.weight", target);
  output(target);
  logits_bias();
  const uint64_t width = number("dim-emb", size(target, 1), uint64_t{1} << 16);
  if (width != size(target, 1)) refuse(format("dim-emb is %u, and %s has %u columns", width, target, size(target, 1)));
  made_.config["d_model"] = size(target, 1);
  made_.config["vocab_size"] = made_.source_ids + 1;
  made_.config["decoder_vocab_size"] = made_.target_ids + 1;
  made_.config["share_encoder_decoder_embeddings"] = made_.shared;
}

void NetworkMapper::output(const std::string& table_name) {
  const bool tied = s_.flag("tied-embeddings-all") || s_.flag("tied-embeddings");
  made_.config["tie_word_embeddings"] = tied;
  if (tied) return;
  const std::string turned = "decoder_ff_logit_out_Wt", old = "decoder_ff_logit_out_W";
  if (p_.find(turned)) return table("lm_head.weight", turned);
  const size_t before = made_.tensors.size();
  matrix("lm_head.weight", old);
  if (made_.tensors.size() > before) add_zero_rows(made_.tensors.back(), 0, 1);
  if (size(old, 1) != size(table_name, 0) && p_.find(old))
    refuse(format("%s has %u columns for %u ids", old, size(old, 1), size(table_name, 0)));
}

// The bias of the logits; the added id gets no probability.
void NetworkMapper::logits_bias() {
  const std::string from = "decoder_ff_logit_out_b";
  std::vector<float> bias(made_.target_ids, 0.0f);
  if (!s_.flag("output-omit-bias")) {
    const Parameter* p = use(from);
    if (!p) return;
    if (p->type != StoredType::f32 || p->range.bytes != bias.size() * sizeof(float))
      return refuse(format("%s is no vector of %u numbers", from, bias.size()));
    if (!p->range.file.read(p->range.offset, std::as_writable_bytes(std::span(bias))))
      return refuse(from + " cannot be read");
  }
  bias.push_back(kNever);
  const uint64_t ids = bias.size();
  made_.tensors.push_back({"final_logits_bias", StoredType::f32, {1, ids}, values_of(std::move(bias))});
}

// Dropout ("d") is nothing when a model runs.
std::string without_dropout(std::string steps) {
  std::erase(steps, 'd');
  return steps;
}

// Where norms are, and that sublayers are added.
void NetworkMapper::check_places() {
  const std::string before = without_dropout(s_.text("transformer-preprocess")),
                    behind = without_dropout(s_.text("transformer-postprocess", "dan")),
                    top = without_dropout(s_.text("transformer-postprocess-top"));
  const bool post = before.empty() && behind == "an", pre = before == "n" && behind == "a";
  if (!post && !pre)
    refuse(
        format("transformer-preprocess is %s and transformer-postprocess %s; norms are read behind sublayers "
               "(\"\", \"dan\") and before them (\"n\", \"da\")",
               quote_name(before, 20), quote_name(behind, 20)));
  if (pre && has_cells()) refuse("norms are before sublayers with cells");
  if (!without_dropout(s_.text("transformer-postprocess-emb", "d")).empty())
    refuse("transformer-postprocess-emb is not \"d\"");
  if (!top.empty() && top != "n") refuse(format("transformer-postprocess-top is %s", quote_name(top, 20)));
}

// A list of numbers, one for each layer of the decoder, none above its own layer's.
void NetworkMapper::check_tied_layers(uint64_t layers) {
  const auto tied = s_.list("transformer-tied-layers");
  if (tied.empty()) return;
  bool fits = tied.size() == layers;
  for (size_t i = 0; fits && i < tied.size(); ++i) fits = stored_number(i) >= 1 && stored_number(i) <= i + 1;
  if (!fits) refuse("transformer-tied-layers has not one number of a layer for each layer of the decoder");
}

// Settings that ask for another network.
void NetworkMapper::check_settings() {
  const std::string type = s_.text("type", "transformer"),
                    autoreg = s_.text("transformer-decoder-autoreg", "self-attention");
  if (type != "transformer") refuse(format("its type is %s; transformers are read", quote_name(type, 40)));
  if (autoreg != "rnn" && autoreg != "self-attention")
    refuse(format("transformer-decoder-autoreg is %s; self-attention and rnn are read", quote_name(autoreg, 40)));
  if (has_cells() && s_.text("dec-cell", "ssru") != "ssru")
    refuse(format("dec-cell is %s; ssru is read", quote_name(s_.text("dec-cell"), 40)));
  if (has_cells())
    for (const char* flag : {"transformer-rnn-projection", "layer-normalization"})
      if (s_.flag(flag)) refuse(format("%s is on, which its cells are not read with", flag));
  for (const char* flag : {"transformer-train-position-embeddings", "transformer-no-projection", "right-left",
                           "transformer-pool", "transformer-decoder-dense"})
    if (s_.flag(flag)) refuse(format("%s is on", flag));
  depth_ = s_.number("transformer-ffn-depth", 2, kMostDepth);
  if (depth_ < 2 || depth_ > kMostDepth)
    refuse(format("transformer-ffn-depth is %s, not a number from 2 to %u",
                  quote_name(s_.text("transformer-ffn-depth"), 40), kMostDepth));
  if (s_.number("lemma-dim-emb", 0, 0) != 0) refuse("lemma-dim-emb is not 0");
  check_places();
}

std::string activation_of(const std::string& name) {
  if (name == "gelu") return "quick_gelu";  // x * sigmoid(1.702 x)
  return name;
}

void NetworkMapper::map() {
  check_settings();
  Json& config = made_.config;
  const std::string activation = s_.text("transformer-ffn-activation", "swish");
  if (activation != "relu" && activation != "swish" && activation != "gelu")
    refuse(format("transformer-ffn-activation is %s; relu, swish and gelu are read", quote_name(activation, 40)));
  const uint64_t encoder_layers = number("enc-depth", 1, kMostLayers),
                 decoder_layers = number("dec-depth", 1, kMostLayers),
                 heads = number("transformer-heads", 8, kMostHeads);
  embeddings();
  if (size("encoder_l1_ffn_W1", 0) % heads != 0)
    refuse(format("transformer-heads is %u, which does not divide the width %u", heads, size("encoder_l1_ffn_W1", 0)));
  config["model_type"] = "marian_nmt";
  config["activation_function"] = activation_of(activation);
  config["encoder_layers"] = encoder_layers;
  config["decoder_layers"] = decoder_layers;
  config["encoder_attention_heads"] = config["decoder_attention_heads"] = heads;
  config["encoder_ffn_dim"] = size("encoder_l1_ffn_W1", 1);
  config["decoder_ffn_dim"] = size("decoder_l1_ffn_W1", 1);
  config["decoder_cell"] = has_cells() ? "ssru" : "attention";
  config["layer_norm_eps"] = 1e-6;
  config["scale_embedding"] = true;
  config["max_position_embeddings"] = kComputedPositions;
  config["normalize_before"] = norms_first();
  config["final_norm"] = norms_last();
  config["ffn_middle_layers"] = depth_ >= 2 && depth_ <= kMostDepth ? depth_ - 2 : 0;
  check_tied_layers(decoder_layers);
  if (reasons_.size() > kMostLayers) return;
  encoder(encoder_layers);
  decoder(decoder_layers);
}

// A layer's parameter that nothing reads, but for scales of inputs: the network computes more than is computed here.
void NetworkMapper::check_unused() {
  for (const auto& [name, parameter] : p_.all) {
    if (used_.contains(name) || name.starts_with("special:")) continue;
    const bool of_layer = name.starts_with("encoder_l") || name.starts_with("decoder_l");
    if (of_layer && !name.ends_with("_QuantMultA")) refuse(name + " belongs to a layer and is not read");
    made_.unused.push_back(name);
  }
}

Result<Mapped> NetworkMapper::take(const std::string& where) {
  constexpr size_t kMost = 12;
  check_unused();
  if (reasons_.empty()) return std::move(made_);
  std::string all;
  for (size_t i = 0; i < std::min(reasons_.size(), kMost); ++i) all += (i ? "; " : "") + quote_name(reasons_[i], 200);
  if (reasons_.size() > kMost) all += format("; and %u more", reasons_.size() - kMost);
  return fail(ErrorCode::unsupported, "%s: this model of Marian cannot run: %s", where, all);
}

}  // namespace

Result<Mapped> map_network(const Parameters& parameters, const Settings& settings, const std::string& where) {
  NetworkMapper mapper(parameters, settings);
  mapper.map();
  return mapper.take(where);
}

}  // namespace lapilli::doors::marian
