// Tensor2Tensor's Transformers (Vaswani et al. 2018): a checkpoint of TensorFlow with hparams.json and subwords beside
// it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "formats/doors/readers.hpp"
#include "formats/doors/trained/tf_bundle.hpp"
#include "formats/doors/trained/trained_mapper.hpp"
#include "formats/doors/trained/trained_texts.hpp"
#include "formats/hf_config.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors {

namespace trained::t2t {

namespace {

using Json = nlohmann::json;

constexpr const char *kHparamsFile = "hparams.json", *kCheckpointFile = "checkpoint", *kFlagsFile = "flags.txt";

// ---- settings -------------------------------------------------------------------------------------------------------

std::string text_in(const Json& hparams, const char* key, const char* missing) {
  const auto at = hparams.find(key);
  return at != hparams.end() && at->is_string() ? at->get<std::string>() : missing;
}

double number_in(const Json& hparams, const char* key, double missing) {
  const auto at = hparams.find(key);
  return at != hparams.end() && at->is_number() ? at->get<double>() : missing;
}

// The steps before or behind a sublayer: a letter each, or none at all for the word "none".
std::string steps_in(const Json& hparams, const char* key, const char* missing) {
  const std::string steps = text_in(hparams, key, missing);
  return steps == "none" ? "" : steps;
}

// ---- the network ----------------------------------------------------------------------------------------------------

constexpr uint64_t kPositions = 4096;  // computed ones; the program has no end of them

struct Network {
  TrainedMapper& m;
  const Json& hparams;
  std::string scope;  // "transformer/"
  bool pre_norm = true;
  [[nodiscard]] std::string body(const std::string& name) const { return scope + "body/" + name; }
};

// The shards of a table, "NAME/weights_0" and so on, in order of their numbers.
std::vector<std::string> shards_of(const TrainedMapper& m, const std::string& name) {
  std::vector<std::string> shards;
  while (shards.size() < 4096 && m.has(name + "/weights_" + std::to_string(shards.size())))
    shards.push_back(name + "/weights_" + std::to_string(shards.size()));
  return shards;
}

uint64_t rows_in(const TrainedMapper& m, const std::vector<std::string>& shards) {
  uint64_t rows = 0;
  for (const std::string& name : shards) rows += m.size(name, 0);
  return rows;
}

// The shards of the table with this ending below any modality ("symbol_modality_32768_512/shared").
std::vector<std::string> find_table(const Network& n, const std::vector<std::string>& names,
                                    const std::string& ending) {
  for (const std::string& name : names)
    if (name.starts_with(n.scope + "symbol_modality_") && name.ends_with("/" + ending + "/weights_0"))
      return shards_of(n.m, name.substr(0, name.size() - std::string_view("/weights_0").size()));
  return {};
}

// Id 0 is a row of zeros where it is read, and a row like any other where it is scored.
void map_embeddings(const Network& n, const std::vector<std::string>& names) {
  const auto shared = find_table(n, names, "shared");
  const auto source = shared.empty() ? find_table(n, names, "input_emb") : shared,
             target = shared.empty() ? find_table(n, names, "target_emb") : shared,
             output = shared.empty() ? find_table(n, names, "softmax") : shared;
  n.m.joined("model.encoder.embed_tokens.weight", source, 1);
  if (shared.empty()) n.m.joined("model.decoder.embed_tokens.weight", target, 1);
  n.m.joined("lm_head.weight", output);
  n.m.config["tie_word_embeddings"] = false;
  n.m.config["vocab_size"] = rows_in(n.m, source);
  n.m.config["decoder_vocab_size"] = rows_in(n.m, target);
  n.m.config["d_model"] = source.empty() ? 0 : n.m.size(source[0], 1);
}

void map_norm(const Network& n, const std::string& to, const std::string& from) {
  const std::string norm = from + (n.pre_norm ? "/layer_prepostprocess" : "/layer_postprocess") + "/layer_norm/";
  n.m.copy(to + ".weight", norm + "layer_norm_scale");
  n.m.copy(to + ".bias", norm + "layer_norm_bias");
}

void map_attention(const Network& n, const std::string& to, const std::string& from) {
  const std::pair<const char*, const char*> kLayers[] = {
      {".q_proj", "q"}, {".k_proj", "k"}, {".v_proj", "v"}, {".out_proj", "output_transform"}};
  for (const auto& [ours, theirs] : kLayers)
    n.m.transposed(to + ours + ".weight", from + "/multihead_attention/" + theirs + "/kernel");
  map_norm(n, to + "_layer_norm", from);
}

void map_layer(const Network& n, const std::string& to, const std::string& from, bool decoder) {
  map_attention(n, to + ".self_attn", from + "/self_attention");
  if (decoder) map_attention(n, to + ".encoder_attn", from + "/encdec_attention");
  for (const auto& [ours, theirs] : {std::pair{".fc1", "conv1"}, {".fc2", "conv2"}}) {
    n.m.transposed(to + ours + ".weight", from + "/ffn/" + theirs + "/kernel");
    n.m.copy(to + ours + ".bias", from + "/ffn/" + theirs + "/bias");
  }
  map_norm(n, to + ".final_layer_norm", from + "/ffn");
}

// The first row of the embeddings of target spaces, which is that of translations, belongs to each row of the source.
std::vector<float> target_space(const Network& n, uint64_t width) {
  constexpr uint64_t kMostSpaces = 4096;
  const std::string name = n.body("target_space_embedding/kernel");
  const StoredTensor* t = n.m.find(name);
  std::vector<float> row(width, 0.0f);
  if (!t) return row;
  n.m.use(name);
  if (t->shape.size() != 2 || t->shape[1] != width || t->shape[0] == 0 || t->shape[0] > kMostSpaces)
    return n.m.refuse(name + " does not fit"), row;
  const auto all = read_floats(*t);
  if (!all) return n.m.refuse(name + " cannot be read"), row;
  std::copy_n(all->begin(), width, row.begin());
  return row;
}

void map_positions(const Network& n, const std::string& side, std::vector<float> added) {
  const bool timing = text_in(n.hparams, "pos", "timing") != "none";
  const bool plain = std::ranges::all_of(added, [](float v) { return v == 0; });
  n.m.config[side + "_max_positions"] = kPositions;
  n.m.config[side + "_positions"] = !timing ? "none" : plain ? "sinusoid_fairseq" : "sinusoid_stored";
  if (!plain && !timing) n.m.refuse("pos is none, and it has target_space_embedding");
  if (!plain) n.m.made(split_positions("model." + side + ".embed_positions.weight", kPositions, std::move(added)));
}

void map_side(const Network& n, const std::string& side) {
  constexpr uint64_t kMostWidth = uint64_t{1} << 16;
  const uint32_t layers = n.m.layers(n.body(side + "/layer_{}/ffn/conv1/kernel"));
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string number = std::to_string(i);
    map_layer(n, "model." + side + ".layers." + number, n.body(side + "/layer_" + number), side == "decoder");
  }
  double wanted = number_in(n.hparams, ("num_" + side + "_layers").c_str(), 0);
  if (wanted == 0) wanted = number_in(n.hparams, "num_hidden_layers", layers);
  if (wanted != layers || layers == 0)
    n.m.refuse(format("%s has %u layers, and hparams ask for %g", side, layers, wanted));
  n.m.config[side + "_layers"] = layers;
  n.m.config[side + "_ffn_dim"] = n.m.size(n.body(side + "/layer_0/ffn/conv1/bias"), 0);
  n.m.config[side + "_attention_heads"] =
      static_cast<uint64_t>(std::clamp(number_in(n.hparams, "num_heads", 8), 0.0, 65536.0));
  n.m.config[side + "_normalize_before"] = n.pre_norm;
  n.m.config[side + "_final_norm"] = n.pre_norm;
  if (n.pre_norm) map_norm(n, "model." + side + ".layer_norm", n.body(side));
  const auto width = n.m.config.at("d_model").get<uint64_t>();
  if (width > kMostWidth) return n.m.refuse(format("the embeddings have a width of %u", width));
  map_positions(n, side, side == "encoder" ? target_space(n, width) : std::vector<float>(width, 0.0f));
}

// ---- settings of networks that the family does not have -------------------------------------------------------------

void refuse_texts(TrainedMapper& m, const Json& hparams) {
  struct Only {
    const char *key, *value, *other;
  };
  constexpr Only kOnly[] = {{"self_attention_type", "dot_product", ""},
                            {"ffn_layer", "dense_relu_dense", "conv_hidden_relu"},
                            {"pos", "timing", "none"},
                            {"norm_type", "layer", ""},
                            {"multiply_embedding_mode", "sqrt_depth", "none"}};
  for (const Only& only : kOnly)
    if (const std::string value = text_in(hparams, only.key, only.value); value != only.value && value != only.other)
      m.refuse(std::string(only.key) + " is " + value + ", and " + only.value + " is read");
}

// Settings that change the network without a variable that tells.
void refuse_silent(TrainedMapper& m, const Json& hparams) {
  constexpr std::pair<const char*, bool> kFlags[] = {
      {"proximity_bias", false}, {"unidirectional_encoder", false}, {"causal_decoder_self_attention", true}};
  for (const auto& [key, only] : kFlags)
    if (const auto at = hparams.find(key); at != hparams.end() && *at == !only)
      m.refuse(std::string(key) + (only ? " is off" : " is on"));
  for (const char* key : {"hard_attention_k", "num_area_layers"})
    if (const double n = number_in(hparams, key, 0); n != 0) m.refuse(format("%s is %g", key, n));
}

void refuse_settings(TrainedMapper& m, const Json& hparams) {
  refuse_texts(m, hparams);
  refuse_silent(m, hparams);
  const auto width = static_cast<double>(m.config.at("d_model").get<uint64_t>());
  const double heads = number_in(hparams, "num_heads", 8);
  if (heads < 1 || heads > width || static_cast<uint64_t>(width) % static_cast<uint64_t>(heads) != 0)
    m.refuse(format("num_heads is %g, which does not divide the width %g", heads, width));
  for (const char* key : {"attention_key_channels", "attention_value_channels"})
    if (const double n = number_in(hparams, key, 0); n != 0 && n != width) m.refuse(format("%s is %g", key, n));
}

// Norms before each sublayer and at the end, or behind each sublayer.
bool read_norms(TrainedMapper& m, const Json& hparams) {
  const std::string before = steps_in(hparams, "layer_preprocess_sequence", "n"),
                    behind = steps_in(hparams, "layer_postprocess_sequence", "da");
  if (before == "n" && behind == "da") return true;
  if (!before.empty() || behind != "dan")
    m.refuse("layer_preprocess_sequence is " + before + " and layer_postprocess_sequence " + behind +
             "; n and da, or none and dan, are read");
  return false;
}

// The scope of the variables is what stands before this one.
std::string find_scope(const std::vector<StoredTensor>& tensors) {
  constexpr std::string_view kBody = "body/encoder/layer_0/self_attention/multihead_attention/q/kernel";
  for (const StoredTensor& t : tensors)
    if (t.name.ends_with(kBody)) return t.name.substr(0, t.name.size() - kBody.size());
  return "transformer/";
}

void map_network(TrainedMapper& m, const Json& hparams, const std::vector<StoredTensor>& tensors) {
  Network n{m, hparams, find_scope(tensors), read_norms(m, hparams)};
  std::vector<std::string> names;
  for (const StoredTensor& t : tensors) names.push_back(t.name);
  map_embeddings(n, names);
  m.config["model_type"] = "transformer";
  m.config["activation_function"] = "relu";
  m.config["scale_embedding"] = text_in(hparams, "multiply_embedding_mode", "sqrt_depth") == "sqrt_depth";
  m.config["layer_norm_eps"] = number_in(hparams, "norm_epsilon", 1e-6);
  m.config["attention_bias"] = m.config["attention_out_bias"] = false;
  map_side(n, "encoder");
  map_side(n, "decoder");
  refuse_settings(m, hparams);
  m.refuse_unused();
}

// Counters and the optimizer's own variables do not belong to the network.
bool is_of_network(const std::string& name) {
  constexpr std::string_view kEndings[] = {"/Adam",   "/Adam_1",  "/ExponentialMovingAverage", "_slot_vr", "_slot_vc",
                                           "_slot_v", "/Momentum"};
  return name != "global_step" && !name.starts_with("training/") && name.find("losses_avg") == std::string::npos &&
         name.find("_power") == std::string::npos &&
         std::ranges::none_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

// The program's own search has four beams and Wu's penalty with this power; ours divides by a power of the length.
void add_search(TrainedMapper& m) {
  for (Json* json : {&m.config, &m.generation}) {
    (*json)["pad_token_id"] = 0;
    (*json)["eos_token_id"] = 1;
    (*json)["decoder_start_token_id"] = 0;
  }
  m.generation["num_beams"] = 4;
  m.generation["length_penalty"] = 0.6;
  m.generation["early_stopping"] = true;
  m.generation["max_new_tokens"] = 256;
}

// ---- subwords -------------------------------------------------------------------------------------------------------

// A piece stands in a line, in quotes or without them.
Result<Pieces> read_subwords(const FileName& name) {
  LAPILLI_TRY(const auto text, read_text_file(name));
  Pieces pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    const bool quoted = line.size() >= 2 && line.front() == line.back() && (line[0] == '\'' || line[0] == '"');
    pieces.push_back(quoted ? line.substr(1, line.size() - 2) : line);
  }
  return pieces;
}

std::vector<std::string> subword_files(const Files& files) {
  std::vector<std::string> found;
  for (const std::string& name : file_names(files))
    if (name.ends_with(".subwords")) found.push_back(name);
  return found;
}

// The problem in the command line that the program keeps: "translate_enpt_wmt32k", with "_rev" for the other direction.
std::pair<std::string, std::string> languages_of(const Files& files) {
  const FileName name = files / kFlagsFile;
  const auto text = name.there() ? read_text_file(name, 1 << 20) : Result<std::string>(std::string());
  const size_t at = text ? text->find("--problem=translate_") : std::string::npos;
  if (at == std::string::npos) return {};
  const std::string problem = text->substr(at + 20, text->find_first_of(" \n", at) - at - 20);
  if (problem.size() < 4) return {};
  std::pair languages{problem.substr(0, 2), problem.substr(2, 2)};
  if (problem.ends_with("_rev")) std::swap(languages.first, languages.second);
  return languages;
}

std::vector<std::string> own_files(const Files& files, const std::string& prefix) {
  std::vector<std::string> own = subword_files(files);
  for (const char* name : {kHparamsFile, kCheckpointFile, kFlagsFile}) own.emplace_back(name);
  for (const std::string& name : file_names(files))
    if (name == prefix + ".index" || name.starts_with(prefix + ".data-")) own.push_back(name);
  return own;
}

Failure other_sizes(const Files& files, const TrainedMapper& m, const std::vector<std::string>& names,
                    const std::vector<Pieces>& lists) {
  std::string have;
  for (size_t i = 0; i < names.size(); ++i)
    have += format("%s%s with %u pieces", i ? ", " : "", quote_name(names[i], 60), lists[i].size());
  return fail(ErrorCode::invalid_data,
              "%s: the network has %u rows for the source and %u for the target, and the vocabularies are %s; they are "
              "another model's",
              files, m.config.at("vocab_size").get<uint64_t>(), m.config.at("decoder_vocab_size").get<uint64_t>(),
              have);
}

struct Subwords {
  std::vector<std::string> names;
  std::vector<Pieces> lists;
};

// The lists with so many pieces; of several, those whose names have the language.
std::vector<size_t> fitting(const Subwords& s, uint64_t rows, const std::string& language) {
  std::vector<size_t> fit, named;
  for (size_t i = 0; i < s.lists.size(); ++i) {
    if (s.lists[i].size() != rows) continue;
    fit.push_back(i);
    if (!language.empty() && s.names[i].find("-" + language + ".") != std::string::npos) named.push_back(i);
  }
  return named.empty() ? fit : named;
}

// Several files may fit where all of them hold the same.
Result<Pieces> choose_list(const Files& files, const TrainedMapper& m, const Subwords& s, const char* key,
                           const std::string& language) {
  const auto fit = fitting(s, m.config.at(key).get<uint64_t>(), language);
  if (fit.empty()) return other_sizes(files, m, s.names, s.lists);
  for (const size_t i : fit)
    if (s.lists[i] != s.lists[fit[0]])
      return fail(ErrorCode::invalid_data,
                  "%s: %s and %s are of one size, and neither names its language as flags.txt does; leave the model's "
                  "own there, or put flags.txt beside them",
                  files, quote_name(s.names[fit[0]], 60), quote_name(s.names[i], 60));
  return s.lists[fit[0]];
}

// Each side has the file with as many pieces as its table has rows; of two such files, the one that names its language.
Result<PieceFiles> read_vocabularies(const Files& files, const TrainedMapper& m) {
  PieceFiles p;
  std::tie(p.source_language, p.target_language) = languages_of(files);
  Subwords s{subword_files(files), {}};
  if (s.names.empty()) return p;  // given ids run
  for (const std::string& name : s.names) {
    LAPILLI_TRY(auto list, read_subwords(files / name));
    s.lists.push_back(std::move(list));
  }
  LAPILLI_TRY(p.source, choose_list(files, m, s, "vocab_size", p.source_language));
  LAPILLI_TRY(p.target, choose_list(files, m, s, "decoder_vocab_size", p.target_language));
  if (p.source == p.target) p.target.clear();
  p.unknown = p.padding = "<pad>", p.end = "<EOS>";
  p.cut = "subwords";
  return p;
}

Result<Opened> read(const Files& files, const std::string& prefix) {
  LAPILLI_TRY(const auto hparams, read_json_file(files / kHparamsFile));
  LAPILLI_TRY(const auto tensors, read_tf_bundle(files, prefix, is_of_network));
  TrainedMapper mapper(tensors);
  map_network(mapper, hparams, tensors);
  LAPILLI_CHECK(mapper.verdict((files / (prefix + ".index")).path(), "Tensor2Tensor"));
  add_search(mapper);
  LAPILLI_TRY(const auto pieces, read_vocabularies(files, mapper));
  Opened opened{{"Tensor2Tensor", "TensorFlow checkpoint " + prefix, "TensorFlow's checkpoint", {}},
                {files, {}, {}, mapper.take()},
                own_files(files, prefix)};
  opened.origin.unused.push_back("the optimizer's variables and counters, if there are any");
  add_texts(mapper, pieces, opened.files);
  return opened;
}

// The name in a "checkpoint" file, without folders; else that of the only index.
std::string find_prefix(const Files& files) {
  const FileName name = files / kCheckpointFile;
  const auto text = name.there() ? read_text_file(name, 1 << 20) : Result<std::string>(std::string());
  constexpr std::string_view kKey = "model_checkpoint_path: \"";
  if (const size_t at = text ? text->find(kKey) : std::string::npos; at != std::string::npos) {
    std::string path = text->substr(at + kKey.size(), text->find('"', at + kKey.size()) - at - kKey.size());
    path.erase(0, path.find_last_of("/\\") + 1);
    if ((files / (path + ".index")).there()) return path;
  }
  std::vector<std::string> found;
  for (const std::string& each : file_names(files))
    if (each.ends_with(".index")) found.push_back(each.substr(0, each.size() - 6));
  return found.size() == 1 ? found[0] : std::string();
}

}  // namespace

}  // namespace trained::t2t

Result<std::optional<Opened>> open_tensor2tensor(const Files& files) {
  if (!(files / trained::t2t::kHparamsFile).there()) return std::optional<Opened>();
  const std::string prefix = trained::t2t::find_prefix(files);
  if (prefix.empty()) return std::optional<Opened>();
  LAPILLI_TRY(auto opened, trained::t2t::read(files, prefix));
  name_unused(files, opened);
  return std::optional(std::move(opened));
}

}  // namespace lapilli::doors
