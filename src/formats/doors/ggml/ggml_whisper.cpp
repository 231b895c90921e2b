#include "formats/doors/ggml/ggml_whisper.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "formats/doors/ggml/ggml_blocks.hpp"
#include "formats/doors/ggml/whisper_texts.hpp"
#include "formats/hf_config.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors {

namespace {

// ---- names ----------------------------------------------------------------------------------------------------------

using Shape = std::vector<uint64_t>;

// A tensor that the network has: its names, and its shape.
struct Expected {
  std::string theirs, ours;
  Shape shape;
  bool one_column = false;  // stored as [n, 1]
};

struct NamePair {
  const char *theirs, *ours;
};
constexpr NamePair kSelf[] = {{"attn.query", "self_attn.q_proj"},
                              {"attn.key", "self_attn.k_proj"},
                              {"attn.value", "self_attn.v_proj"},
                              {"attn.out", "self_attn.out_proj"}};
constexpr NamePair kCross[] = {{"cross_attn.query", "encoder_attn.q_proj"},
                               {"cross_attn.key", "encoder_attn.k_proj"},
                               {"cross_attn.value", "encoder_attn.v_proj"},
                               {"cross_attn.out", "encoder_attn.out_proj"}};

// Collects the tensors of a network whose widths are known.
class Expectation {
 public:
  Expectation(const GgmlSizes& sizes, uint64_t ffn) : s_(sizes), ffn_(ffn), d_(sizes.audio_width) {}

  std::vector<Expected> all() {
    add("encoder.positional_embedding", "encoder.embed_positions.weight", {s_.audio_positions, d_});
    convolution("conv1", s_.mel_bins);
    convolution("conv2", d_);
    side("encoder", s_.audio_layers, "ln_post");
    add("decoder.positional_embedding", "decoder.embed_positions.weight", {s_.text_positions, d_});
    add("decoder.token_embedding.weight", "decoder.embed_tokens.weight", {s_.vocabulary, d_});
    side("decoder", s_.text_layers, "ln");
    return std::move(all_);
  }

 private:
  void add(const std::string& theirs, const std::string& ours, Shape shape, bool one_column = false) {
    all_.push_back({theirs, "model." + ours, std::move(shape), one_column});
  }
  void convolution(const std::string& name, uint64_t width) {
    add("encoder." + name + ".weight", "encoder." + name + ".weight", {d_, width, 3});
    add("encoder." + name + ".bias", "encoder." + name + ".bias", {d_}, true);
  }
  void norm(const std::string& theirs, const std::string& ours) {
    for (const char* part : {".weight", ".bias"}) add(theirs + part, ours + part, {d_});
  }
  void linear(const std::string& theirs, const std::string& ours, uint64_t rows, uint64_t columns, bool bias = true) {
    add(theirs + ".weight", ours + ".weight", {rows, columns});
    if (bias) add(theirs + ".bias", ours + ".bias", {rows});
  }
  void attention(const std::string& theirs, const std::string& ours, std::span<const NamePair> names) {
    for (const auto& n : names) linear(theirs + n.theirs, ours + n.ours, d_, d_, &n != &names[1]);  // keys have no bias
  }
  void layer(const std::string& theirs, const std::string& ours, bool cross) {
    norm(theirs + "attn_ln", ours + "self_attn_layer_norm");
    attention(theirs, ours, kSelf);
    if (cross) {
      norm(theirs + "cross_attn_ln", ours + "encoder_attn_layer_norm");
      attention(theirs, ours, kCross);
    }
    norm(theirs + "mlp_ln", ours + "final_layer_norm");
    linear(theirs + "mlp.0", ours + "fc1", ffn_, d_);
    linear(theirs + "mlp.2", ours + "fc2", d_, ffn_);
  }
  void side(const std::string& name, uint32_t layers, const std::string& last) {
    for (uint32_t i = 0; i < layers; ++i) {
      const std::string n = std::to_string(i) + ".";
      layer(name + ".blocks." + n, name + ".layers." + n, name == "decoder");
    }
    norm(name + "." + last, name + ".layer_norm");
  }

  const GgmlSizes& s_;
  uint64_t ffn_, d_;
  std::vector<Expected> all_;
};

// ---- checks ---------------------------------------------------------------------------------------------------------

Failure wrong(const GgmlFile& f, const std::string& why) {
  return fail(ErrorCode::invalid_data, "%s: %s; the file is damaged, or no model of whisper.cpp", f.file.path(), why);
}

Status check_sizes(const GgmlFile& f) {
  const GgmlSizes& s = f.sizes;
  if (s.audio_width != s.text_width)
    return wrong(
        f, format("encoder and decoder are %u and %u wide, and Whisper has one width", s.audio_width, s.text_width));
  for (const uint32_t heads : {s.audio_heads, s.text_heads})
    if (heads == 0 || s.audio_width == 0 || s.audio_width % heads != 0)
      return wrong(f, format("%u heads do not divide a width of %u", heads, s.audio_width));
  // Each layer has tensors, so that lists of layers stay as short as the file.
  constexpr uint64_t kOfAnEncoderLayer = 15, kOfADecoderLayer = 24;
  const uint64_t least = s.audio_layers * kOfAnEncoderLayer + s.text_layers * kOfADecoderLayer;
  if (s.audio_layers == 0 || s.text_layers == 0 || least > f.tensors.size())
    return wrong(f,
                 format("%u and %u layers cannot be with %u tensors", s.audio_layers, s.text_layers, f.tensors.size()));
  return {};
}

const GgmlTensor* find(const GgmlFile& f, std::string_view name) {
  const auto it = std::ranges::find(f.tensors, name, &GgmlTensor::name);
  return it == f.tensors.end() ? nullptr : &*it;
}

Result<uint64_t> ffn_width(const GgmlFile& f) {
  const GgmlTensor* first = find(f, "encoder.blocks.0.mlp.0.weight");
  if (first) return first->shape.front();
  return wrong(f, "tensor encoder.blocks.0.mlp.0.weight is missing");
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (const uint64_t n : shape) text += (text.empty() ? "[" : ", ") + std::to_string(n);
  return text + "]";
}

Status check_tensor(const GgmlFile& f, const GgmlTensor& t, const Expected& e) {
  Shape shape = e.shape;
  if (e.one_column && t.shape.size() == 2) shape.push_back(1);
  if (t.shape != shape)
    return wrong(f,
                 format("tensor %s has shape %s, and the sizes ask for %s", t.name, text_of(t.shape), text_of(shape)));
  const bool matrix = e.shape.size() == 2 && !e.theirs.ends_with("positional_embedding");
  if (has_blocks(t.type) && !matrix)
    return wrong(f, format("tensor %s is %s, as matrices alone can be", t.name, ggml_type_name(t.type)));
  return {};
}

// ---- tensors --------------------------------------------------------------------------------------------------------

StoredType type_of(GgmlType type) {
  if (type == GgmlType::f16) return StoredType::f16;
  return becomes_int8(type) ? StoredType::u32 : StoredType::f32;
}

Result<MadeTensor> made_tensor(const GgmlFile& f, const GgmlTensor& t, const Expected& e) {
  LAPILLI_CHECK(check_tensor(f, t, e));
  MadeTensor made{e.ours, type_of(t.type), e.shape, {}};
  if (becomes_int8(t.type)) made.shape.back() = scaled_row_words(made.shape.back());
  made.read = has_blocks(t.type) ? converted(f, t) : stored_bytes_of({f.file, t.offset, t.bytes});
  return made;
}

Result<std::vector<MadeTensor>> made_tensors(const GgmlFile& f, uint64_t ffn) {
  std::map<std::string_view, const GgmlTensor*> left;
  for (const GgmlTensor& t : f.tensors) left.emplace(t.name, &t);
  std::vector<MadeTensor> all;
  for (const Expected& e : Expectation(f.sizes, ffn).all()) {
    const auto it = left.find(e.theirs);
    if (it == left.end()) return wrong(f, "tensor " + e.theirs + " is missing");
    LAPILLI_TRY(auto made, made_tensor(f, *it->second, e));
    all.push_back(std::move(made));
    left.erase(it);
  }
  if (left.empty()) return all;
  return wrong(f, "tensor " + quote_name(left.begin()->first) + " is none of Whisper's");
}

// The type that the matrices have.
std::string matrix_type(const GgmlFile& f) {
  const GgmlTensor* first = find(f, "encoder.blocks.0.mlp.0.weight");
  return first ? ggml_type_name(first->type) : "";
}

Failure no_rule(const GgmlFile& f) {
  return fail(
      ErrorCode::unsupported,
      "%s has a vocabulary of %u ids, for which Whisper's special ids are not known: the rule knows 51864 "
      "(English), 51865 and 51866 (99 and 100 languages); put the config.json and generation_config.json of the "
      "model that it was made from beside the file",
      f.file.path(), f.sizes.vocabulary);
}

// By the rule, or as config.json gives them.
Result<WhisperIds> special_ids(const GgmlFile& f, const Files& own) {
  if (auto ids = whisper_ids(f.sizes.vocabulary)) return std::move(*ids);
  LAPILLI_TRY(const auto given, given_whisper_ids(own, f.sizes.vocabulary));
  if (!given) return no_rule(f);
  WhisperIds ids;
  ids.end = given->end;
  ids.start = given->start;
  return ids;
}

// Where ids were given, the directory's own settings count.
Status keep_settings(const Files& own, std::map<std::string, std::string>& texts) {
  const FileName name = own / "generation_config.json";
  if (!name.there()) return {};
  LAPILLI_TRY(texts["generation_config.json"], read_text_file(name));
  return {};
}

// The texts are all that the model has: what lies beside the file may be another model's.
class NoFiles final : public FileSource {
 public:
  Result<std::unique_ptr<FileContent>> open(const std::string&) override {
    return fail(ErrorCode::not_found, "the model has no such file");
  }
};

}  // namespace

Result<std::optional<GivenIds>> given_whisper_ids(const Files& own, uint32_t vocabulary) {
  const FileName name = own / "config.json";
  if (!name.there()) return std::optional<GivenIds>();
  LAPILLI_TRY(const auto json, read_json_file(name));
  const JsonView v{json, name.path()};
  LAPILLI_TRY(const auto type, get_string(v, "model_type", ""));
  LAPILLI_TRY(const uint32_t size, get_u32(v, "vocab_size", 0));
  if (type != "whisper" || size != vocabulary) return std::optional<GivenIds>();
  GivenIds ids;
  LAPILLI_TRY(ids.end, get_id(v, "eos_token_id"));
  LAPILLI_TRY(ids.start, get_id(v, "decoder_start_token_id"));
  return std::optional(ids);
}

Result<Opened> read_ggml_whisper(const File& file, const Files& own) {
  LAPILLI_TRY(const GgmlFile f, read_ggml(file));
  LAPILLI_CHECK(check_sizes(f));
  LAPILLI_CHECK(check_filters(f));
  LAPILLI_TRY(const uint64_t ffn, ffn_width(f));
  LAPILLI_TRY(auto tensors, made_tensors(f, ffn));
  LAPILLI_TRY(const auto ids, special_ids(f, own));
  const bool packed = std::ranges::any_of(tensors, [](const MadeTensor& t) { return t.type == StoredType::u32; });
  MadeFiles made{
      Files(std::make_unique<NoFiles>(), file.path()), whisper_texts({f, ffn, packed}, ids), {}, std::move(tensors)};
  if (ids.translate < 0) LAPILLI_CHECK(keep_settings(own, made.texts));
  return Opened{{"whisper.cpp", "ggml, " + matrix_type(f), "ggml", {}}, std::move(made)};
}

}  // namespace lapilli::doors
