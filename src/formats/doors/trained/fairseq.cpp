// fairseq's translation models (Ott et al. 2019): a checkpoint with its settings as argparse's or omegaconf's objects.
#include "formats/doors/trained/fairseq.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "formats/doors/trained/fairseq_dictionary.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors::trained {

namespace fairseq {

namespace {

constexpr Arch kArchs[] = {{"transformer"},
                           {"transformer_tiny", 2},
                           {"transformer_iwslt_de_en", 4},
                           {"transformer_wmt_en_de"},
                           {"transformer_vaswani_wmt_en_de_big", 16},
                           {"transformer_vaswani_wmt_en_fr_big", 16},
                           {"transformer_wmt_en_de_big", 16},
                           {"transformer_wmt_en_de_big_t2t", 16, true},
                           {"transformer_align"},
                           {"transformer_wmt_en_de_big_align", 16},
                           {"bart_large", 16, false, true},
                           {"bart_base", 12, false, true},
                           {"transformer_lm", 8, true, false, true},
                           {"transformer_lm_big", 16, true, false, true},
                           {"transformer_lm_gpt", 12, true, false, true, "gelu"},
                           {"transformer_lm_gpt2_small", 16, true, false, true, "gelu"},
                           {"transformer_lm_gpt2_medium", 20, true, false, true, "gelu"},
                           {"transformer_lm_gpt2_big", 25, true, false, true, "gelu"}};

PickledFields settings_of(const TrainingFile& file) {
  const PickledFields root = file.root();
  if (const PickledFields args = root.below("args"); !args.empty()) return args;
  return root.below("cfg").below("model");
}

PickledFields task_of(const TrainingFile& file) {
  const PickledFields root = file.root();
  if (const PickledFields args = root.below("args"); !args.empty()) return args;
  return root.below("cfg").below("task");
}

Result<Settings> read_settings(const TrainingFile& file) {
  Settings s{settings_of(file), task_of(file), {}};
  std::string name = s.model.text("arch", s.model.text("_name")), known;
  for (const Arch& arch : kArchs) {
    if (name == arch.name) return s.arch = arch, s;
    known += (known.empty() ? "" : ", ") + std::string(arch.name);
  }
  return fail(ErrorCode::unsupported, "%s is of fairseq's architecture %s, which is not read; these are: %s",
              file.path(), quote_name(name, 60), known);
}

// ---- the network ----------------------------------------------------------------------------------------------------

// Queries, keys and values stand one behind the other in files of 2018.
void map_attention(TrainedMapper& m, const std::string& from, const std::string& to) {
  constexpr const char* kNames[] = {"q_proj", "k_proj", "v_proj"};
  for (uint64_t i = 0; i < 3; ++i) {
    const std::string name = to + "." + kNames[i];
    if (!m.has(from + ".in_proj_weight")) {
      m.linear(name, from + "." + kNames[i]);
      continue;
    }
    m.copy(name + ".weight", from + ".in_proj_weight", {i, 3});
    if (m.has(from + ".in_proj_bias")) m.copy(name + ".bias", from + ".in_proj_bias", {i, 3});
  }
  m.linear(to + ".out_proj", from + ".out_proj");
}

void map_norm(TrainedMapper& m, const std::string& layer, const std::string& to, const std::string& name,
              const char* old_name) {
  m.linear(to + "." + name, layer + (m.has(layer + old_name + ".weight") ? old_name : "." + name));
}

}  // namespace

void map_layer(TrainedMapper& m, const std::string& from, const std::string& to, bool cross) {
  map_attention(m, from + ".self_attn", to + ".self_attn");
  map_norm(m, from, to, "self_attn_layer_norm", ".layer_norms.0");
  if (cross) {
    map_attention(m, from + ".encoder_attn", to + ".encoder_attn");
    map_norm(m, from, to, "encoder_attn_layer_norm", ".layer_norms.1");
  }
  m.linear(to + ".fc1", from + ".fc1");
  m.linear(to + ".fc2", from + ".fc2");
  map_norm(m, from, to, "final_layer_norm", cross ? ".layer_norms.2" : ".layer_norms.1");
}

uint64_t heads_of(const Settings& s, const std::string& side) {
  return static_cast<uint64_t>(
      std::clamp(s.model.number(side + "_attention_heads").value_or(s.arch.heads), 0.0, 4096.0));
}

namespace {

uint64_t position_rows(TrainedMapper& m, const Settings& s, const std::string& side) {
  const uint64_t rows = m.size(side + ".embed_positions.weight", 0);
  const char* key = side == "encoder" ? "max_source_positions" : "max_target_positions";
  const auto most =
      static_cast<uint64_t>(std::clamp(s.model.number(key).value_or(s.task.number(key).value_or(1024)), 1.0, 16384.0));
  if (rows > 2) return rows - 2;
  return most;
}

// Tables that are learned lie in the file; sinusoids are computed.
void map_positions(TrainedMapper& m, const Settings& s, const std::string& side) {
  const std::string from = side + ".embed_positions.weight";
  if (s.model.flag("no_token_positional_embeddings", false)) {
    m.config[side + "_positions"] = "none";
    return;
  }
  const bool learned = m.has(from);
  if (learned) m.copy("model." + from, from);
  m.config[side + "_positions"] = learned ? "learned" : "sinusoid_fairseq";
  m.config[side + "_max_positions"] = position_rows(m, s, side);
}

void map_side(TrainedMapper& m, const Settings& s, const std::string& side) {
  const bool decoder = side == "decoder";
  const std::string layer = side + ".layers.{}.fc1.weight";
  const uint32_t layers = m.layers(layer);
  if (layers == 0) m.refuse("it has no layers of the " + side);
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string name = side + ".layers." + std::to_string(i);
    map_layer(m, name, "model." + name, decoder);
  }
  m.config[side + "_layers"] = layers;
  m.config[side + "_ffn_dim"] = m.size(side + ".layers.0.fc1.weight", 0);
  m.config[side + "_attention_heads"] = heads_of(s, side);
  m.config[side + "_normalize_before"] = s.model.flag(side + "_normalize_before", s.arch.pre_norm);
  const bool final_norm = m.has(side + ".layer_norm.weight");
  m.config[side + "_final_norm"] = final_norm;
  if (final_norm) m.linear("model." + side + ".layer_norm", side + ".layer_norm");
  if (m.has(side + ".layernorm_embedding.weight"))
    m.linear("model." + side + ".layernorm_embedding", side + ".layernorm_embedding");
  map_positions(m, s, side);
  for (const char* unused : {".version", ".embed_positions._float_tensor"}) m.leave(side + unused);
}

void map_embeddings(TrainedMapper& m, const Settings& s) {
  const std::string source = "encoder.embed_tokens.weight", target = "decoder.embed_tokens.weight",
                    output = "decoder.output_projection.weight", old_output = "decoder.embed_out";
  const bool all = s.model.flag("share_all_embeddings", s.arch.bart) || m.same(source, target);
  m.copy("model.encoder.embed_tokens.weight", source);
  if (!all) m.copy("model.decoder.embed_tokens.weight", target);
  m.use(target);
  const std::string own = m.has(output) ? output : m.has(old_output) ? old_output : "";
  const bool tied = own.empty() || m.same(own, target);
  if (tied && !own.empty()) m.use(own);
  if (!tied) m.copy("lm_head.weight", own);
  if (own.empty() && !all && !s.model.flag("share_decoder_input_output_embed", false))
    m.refuse("it has neither an output projection nor share_decoder_input_output_embed");
  m.config["tie_word_embeddings"] = tied;
  m.config["vocab_size"] = m.size(source, 0);
  m.config["decoder_vocab_size"] = m.size(all ? source : target, 0);
  m.config["d_model"] = m.size(source, 1);
}

}  // namespace

void refuse_settings(TrainedMapper& m, const Settings& s, const std::string& embedding) {
  constexpr const char* kFlags[] = {"adaptive_input", "no_cross_attention", "cross_self_attention", "char_inputs",
                                    "character_embeddings"};
  for (const char* flag : kFlags)
    if (s.model.flag(flag, false)) m.refuse(std::string(flag) + " is on");
  if (s.model.has("adaptive_softmax_cutoff")) m.refuse("adaptive_softmax_cutoff is set");
  const auto width = static_cast<double>(m.size(embedding, 1));
  for (const char* key : {"encoder_embed_dim", "decoder_embed_dim", "decoder_input_dim", "decoder_output_dim"})
    if (const auto n = s.model.number(key); n && *n != width)
      m.refuse(format("%s is %g, and the embeddings have a width of %g", key, *n, width));
}

namespace {

// Tasks of many languages put ids for them behind those of dict.txt, and begin texts with them.
void refuse_languages(TrainedMapper& m, const Settings& s) {
  for (const char* key : {"encoder_langtok", "decoder_langtok", "langs"})
    if (s.task.has(key) && s.task.number(key).value_or(1) != 0)
      m.refuse(std::string(key) + " is set (a model of many languages, with ids for them)");
  const std::string task = s.task.text("task", s.task.text("_name"));
  for (const char* name : {"multilingual_translation", "translation_multi_simple_epoch", "multilingual_denoising",
                           "translation_from_pretrained_bart"})
    if (task == name) m.refuse("it is of the task " + task + ", with ids for languages");
}

void map_network(TrainedMapper& m, const Settings& s) {
  refuse_languages(m, s);
  if (s.arch.alone) return map_language_model(m, s);
  m.config["model_type"] = "transformer";
  m.config["activation_function"] = s.model.text("activation_fn", s.arch.bart ? "gelu" : s.arch.activation);
  m.config["scale_embedding"] = !s.model.flag("no_scale_embedding", s.arch.bart);
  m.config["position_offset"] = 2;
  m.config["uncounted_id"] = 1;
  map_embeddings(m, s);
  map_side(m, s, "encoder");
  map_side(m, s, "decoder");
  m.config["normalize_embedding"] = m.has("encoder.layernorm_embedding.weight");
  if (m.has("encoder.layernorm_embedding.weight") != m.has("decoder.layernorm_embedding.weight"))
    m.refuse("one side alone normalizes its embeddings");
  refuse_settings(m, s, "encoder.embed_tokens.weight");
  m.refuse_unused();
}

// ---- the search and the texts ---------------------------------------------------------------------------------------

// fairseq-generate's own defaults: padding is never chosen, the end not at once, and it is forced behind 200 ids.
void add_search(TrainedMapper& m) {
  constexpr uint32_t kMost = 200;
  for (nlohmann::json* json : {&m.config, &m.generation}) {
    (*json)["bos_token_id"] = 0;
    (*json)["pad_token_id"] = 1;
    (*json)["eos_token_id"] = 2;
    (*json)["decoder_start_token_id"] = 2;
  }
  m.generation["bad_words_ids"] = nlohmann::json::array({nlohmann::json::array({1})});
  m.generation["min_new_tokens"] = 1;
  m.generation["forced_eos_token_id"] = 2;
  m.generation["num_beams"] = 5;
  m.generation["early_stopping"] = true;
  m.generation["max_new_tokens"] = std::min<uint64_t>(kMost + 1, m.config.value("decoder_max_positions", kMost + 1));
}

// The language of a side: as the settings say, or by the dictionaries that lie beside the checkpoint.
std::string dictionary_name(const TrainingFile& file, const std::string& language) {
  const std::string name = language.empty() ? "dict.txt" : "dict." + language + ".txt";
  return (file.files / name).there() ? name : "dict.txt";
}

// A name of args, or an object of cfg that has one.
std::string unread_cutting(const TrainingFile& file, const Settings& s) {
  std::string name = s.task.text("bpe", s.model.text("bpe"));
  if (name.empty()) name = file.root().below("cfg").below("bpe").text("_name");
  for (const char* read : {"", "subword_nmt", "fastbpe", "sentencepiece"})
    if (name == read) return {};
  return "fairseq's bpe " + quote_name(name, 60);
}

// A language model has those of the target alone.
std::pair<std::string, std::string> languages_of(const Settings& s) {
  const auto side = [&](const char* key) { return language_of(s.task.text(key, s.model.text(key))); };
  return {s.arch.alone ? std::string() : side("source_lang"), side("target_lang")};
}

Result<PieceFiles> read_pieces(const TrainingFile& file, const Settings& s, const TrainedMapper& m) {
  PieceFiles p;
  p.unknown = "<unk>", p.end = "</s>", p.start = "<s>", p.padding = "<pad>";
  std::tie(p.source_language, p.target_language) = languages_of(s);
  const FileName source = file.files / dictionary_name(file, p.source_language),
                 target = file.files / dictionary_name(file, p.target_language);
  if (!source.there() && !target.there()) return PieceFiles();  // given ids run
  LAPILLI_TRY(p.source, read_dictionary(source, m.config.at("vocab_size").get<uint64_t>()));
  if (!s.arch.alone) {
    LAPILLI_TRY(p.target, read_dictionary(target, m.config.at("decoder_vocab_size").get<uint64_t>()));
  }
  if (p.source == p.target) p.target.clear();
  p.source_start = s.arch.alone;
  if (s.arch.alone) p.start = p.end;  // the end of an earlier text
  p.source_end = !s.arch.alone;
  p.unread = unread_cutting(file, s);
  find_cut(file.files, p);
  p.moses = p.cut != "sentencepiece";
  return p;
}

std::vector<std::string> own_files(const TrainingFile& file, const Settings& s) {
  const auto [source, target] = languages_of(s);
  return {file.name, dictionary_name(file, source), dictionary_name(file, target)};
}

std::string version_of(const TrainingFile& file, const Settings& s) {
  return std::string(s.arch.name) + (file.root().has("cfg") ? ", settings in cfg" : ", settings in args");
}

}  // namespace

}  // namespace fairseq

bool is_fairseq(const TrainingFile& file) {
  const PickledFields root = file.root();
  return !root.below("model").empty() && (!root.below("args").empty() || !root.below("cfg").empty());
}

Result<Opened> open_fairseq(const TrainingFile& file) {
  LAPILLI_TRY(const auto settings, fairseq::read_settings(file));
  LAPILLI_TRY(const auto tensors, file.content.tensors(file.root().below("model").value()));
  TrainedMapper mapper(tensors);
  fairseq::map_network(mapper, settings);
  LAPILLI_CHECK(mapper.verdict(file.path(), "fairseq"));
  fairseq::add_search(mapper);
  LAPILLI_TRY(const auto pieces, fairseq::read_pieces(file, settings, mapper));
  Opened opened{{"fairseq", fairseq::version_of(file, settings), kTorchWeights, {}},
                {file.files, {}, {}, mapper.take()},
                fairseq::own_files(file, settings)};
  add_texts(mapper, pieces, opened.files);
  if (file.root().has("last_optimizer_state")) opened.origin.unused.push_back("the state of the optimizer");
  return opened;
}

}  // namespace lapilli::doors::trained
