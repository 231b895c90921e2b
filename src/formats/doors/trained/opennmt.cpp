// OpenNMT-py's translation models (Klein et al. 2017), of versions 1 to 3: a checkpoint with settings and vocabularies
// as objects, whose tensors may lie in safetensors files beside it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "formats/doors/trained/trained_mapper.hpp"
#include "formats/doors/trained/trained_texts.hpp"
#include "formats/doors/trained/training_file.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli::doors::trained {

namespace onmt {

namespace {

using Kind = PickleValue::Kind;

// ---- vocabularies ---------------------------------------------------------------------------------------------------

// A list of pieces, or an object of torchtext that has one: a Vocab, a Field around it, or a TextMultiField around
// that.
Result<PickleValue> find_pieces(const Pickle& pickle, PickleValue v, const std::string& where) {
  constexpr int kMostObjects = 8;
  for (int i = 0; i < kMostObjects && v.kind != Kind::list; ++i) {
    const bool object = v.kind == Kind::dict;
    const PickleValue* next = nullptr;
    for (const char* field : {"itos", "vocab", "fields"})
      if (object && !next) next = pickle.at(v, field);
    if (!next) break;
    v = *next;
    // TextMultiField: pairs of a name and a field, of which the first is that of the words.
    if (v.kind != Kind::list || pickle.items(v).empty()) continue;
    const PickleValue first = pickle.items(v)[0];
    if (first.kind == Kind::tuple && pickle.items(first).size() == 2) v = pickle.items(first)[1];
  }
  if (v.kind == Kind::list) return v;
  return fail(ErrorCode::invalid_data, "%s: its vocabulary is none of those that OpenNMT-py writes", where);
}

Result<Pieces> read_list(const Pickle& pickle, const PickleValue& list, const std::string& where) {
  Pieces pieces;
  std::unordered_set<std::string_view> seen;
  for (const PickleValue& v : pickle.items(list)) {
    if (v.kind != Kind::text)
      return fail(ErrorCode::invalid_data, "%s: entry %u of a vocabulary is no text", where, pieces.size());
    if (!seen.insert(pickle.text(v)).second)
      return fail(ErrorCode::invalid_data, "%s: a vocabulary has the piece %s twice", where,
                  quote_name(pickle.text(v), 40));
    pieces.emplace_back(pickle.text(v));
  }
  return pieces;
}

// Version 1 has a list of pairs, later ones have a dict.
const PickleValue* find_side(const Pickle& pickle, const PickleValue& vocab, const char* side) {
  if (vocab.kind == Kind::dict) return pickle.at(vocab, side);
  if (vocab.kind != Kind::list) return nullptr;
  for (const PickleValue& pair : pickle.items(vocab)) {
    if (pair.kind != Kind::tuple || pickle.items(pair).size() != 2) continue;
    const auto& [name, value] = std::pair(pickle.items(pair)[0], &pickle.items(pair)[1]);
    if (name.kind == Kind::text && pickle.text(name) == side) return value;
  }
  return nullptr;
}

// Like the root, it may stand in containers of omegaconf.
PickleValue vocabularies_of(const TrainingFile& file) {
  const PickleValue* at = file.root().find("vocab");
  return at ? unwrapped(file.content.pickle, *at) : PickleValue();
}

Result<Pieces> read_side(const TrainingFile& file, const char* side) {
  const Pickle& pickle = file.content.pickle;
  const PickleValue* at = find_side(pickle, vocabularies_of(file), side);
  if (!at) return fail(ErrorCode::invalid_data, "%s: its vocabulary lacks %s", file.path(), side);
  LAPILLI_TRY(const auto list, find_pieces(pickle, *at, file.path()));
  return read_list(pickle, list, file.path());
}

Status check_rows(const TrainingFile& file, const Pieces& pieces, uint64_t rows, const char* side) {
  if (pieces.size() == rows) return {};
  return fail(ErrorCode::invalid_data, "%s: its vocabulary of %s has %u pieces, and the network has %u rows for them",
              file.path(), side, pieces.size(), rows);
}

// Version 2 and later name their steps on texts; pyonmttok's have settings of their own.
std::string unread_cutting(const TrainingFile& file) {
  const Pickle& pickle = file.content.pickle;
  const PickledFields opt = file.root().below("opt");
  const PickleValue* at = opt.find("transforms");
  const PickleValue steps = at ? unwrapped(pickle, *at) : PickleValue();
  if (steps.kind != Kind::list) return {};
  for (const PickleValue& step : pickle.items(steps))
    if (step.kind == Kind::text && pickle.text(step) == "onmt_tokenize") return "onmt_tokenize (pyonmttok)";
  return {};
}

Result<PieceFiles> read_vocabularies(const TrainingFile& file, const TrainedMapper& m) {
  PieceFiles p;
  LAPILLI_TRY(p.source, read_side(file, "src"));
  LAPILLI_TRY(p.target, read_side(file, "tgt"));
  LAPILLI_CHECK(check_rows(file, p.source, m.config.at("vocab_size").get<uint64_t>(), "src"));
  LAPILLI_CHECK(check_rows(file, p.target, m.config.at("decoder_vocab_size").get<uint64_t>(), "tgt"));
  p.unknown = "<unk>", p.end = "</s>", p.start = "<s>", p.padding = "<blank>";
  p.source_end = false;
  for (const char* key : {"src_lang", "tgt_lang"})
    (key[0] == 's' ? p.source_language : p.target_language) = language_of(file.root().below("opt").text(key));
  if (p.source == p.target) p.target.clear();
  p.unread = unread_cutting(file);
  find_cut(file.files, p);
  return p;
}

// ---- the network ----------------------------------------------------------------------------------------------------

// Norms of version 1 have names of their own.
void map_norm(TrainedMapper& m, const std::string& to, const std::string& from) {
  const bool old = m.has(from + ".a_2");
  m.copy(to + ".weight", from + (old ? ".a_2" : ".weight"));
  m.copy(to + ".bias", from + (old ? ".b_2" : ".bias"));
}

// Tables of relative positions are used where the settings ask for them; others stay unused, which is refused.
void map_attention(TrainedMapper& m, const std::string& to, const std::string& from) {
  const std::pair<const char*, const char*> kLayers[] = {{".q_proj", ".linear_query"},
                                                         {".k_proj", ".linear_keys"},
                                                         {".v_proj", ".linear_values"},
                                                         {".out_proj", ".final_linear"}};
  for (const auto& [ours, theirs] : kLayers) m.linear(to + ours, from + theirs);
  const std::string table = ".relative_positions_embeddings.weight";
  if (m.has(from + table) && m.config.contains("max_relative_positions"))
    m.copy(to + ".relative_positions.weight", from + table);
}

// The family has one setting for all layers.
void hold_setting(TrainedMapper& m, const char* setting, const std::string& name) {
  if (m.has(name) == m.config.at(setting).get<bool>()) return;
  m.refuse(name + (m.has(name) ? " is there" : " is not there") + ", unlike in the encoder's first layer");
}

void hold_attention(TrainedMapper& m, const std::string& from) {
  for (const char* layer : {".linear_query", ".linear_keys", ".linear_values"})
    hold_setting(m, "attention_bias", from + layer + ".bias");
  hold_setting(m, "attention_out_bias", from + ".final_linear.bias");
}

void hold_layer(TrainedMapper& m, const std::string& from, bool decoder) {
  hold_attention(m, from + ".self_attn");
  if (decoder) hold_attention(m, from + ".context_attn");
  const std::string ffn = from + ".feed_forward";
  for (const char* layer : {".w_1", ".w_2"}) hold_setting(m, "ffn_bias", ffn + layer + ".bias");
  hold_setting(m, "gated", ffn + ".w_3.weight");
  if (m.has(ffn + ".w_3.weight")) hold_setting(m, "ffn_bias", ffn + ".w_3.bias");
}

void map_layer(TrainedMapper& m, const std::string& to, const std::string& from, bool decoder) {
  hold_layer(m, from, decoder);
  map_attention(m, to + ".self_attn", from + ".self_attn");
  map_norm(m, to + ".self_attn_layer_norm", from + (decoder ? ".layer_norm_1" : ".layer_norm"));
  if (decoder) {
    map_attention(m, to + ".encoder_attn", from + ".context_attn");
    map_norm(m, to + ".encoder_attn_layer_norm", from + ".layer_norm_2");
  }
  m.linear(to + ".fc1", from + ".feed_forward.w_1");
  m.linear(to + ".fc2", from + ".feed_forward.w_2");
  if (m.has(from + ".feed_forward.w_3.weight")) m.linear(to + ".gate", from + ".feed_forward.w_3");
  map_norm(m, to + ".final_layer_norm", from + ".feed_forward.layer_norm");
}

// Sines and cosines side by side, a row for each position, as the program keeps them in its files.
void map_positions(TrainedMapper& m, const std::string& side, bool encoded) {
  constexpr uint64_t kMostPositions = 5000;  // OpenNMT-py's own table
  const std::string from = side + ".embeddings.make_embedding.pe.pe", to = "model." + side + ".embed_positions.weight";
  m.leave(from);
  m.config[side + "_positions"] = encoded ? "sinusoid_stored" : "none";
  m.config[side + "_max_positions"] = kMostPositions;
  const auto width = m.config.at("d_model").get<uint64_t>();
  if (!encoded) return;
  if (m.size(from, 0) == kMostPositions) return m.copy_reshaped(to, from, {kMostPositions, width});
  m.made(paired_positions(to, kMostPositions, width));
}

void map_side(TrainedMapper& m, const PickledFields& opt, const std::string& side) {
  const bool decoder = side == "decoder";
  const std::string stack = side + (decoder ? ".transformer_layers." : ".transformer.");
  const uint32_t layers = m.layers(stack + "{}.feed_forward.w_1.weight");
  if (layers == 0) m.refuse("it has no layers of the " + side);
  for (uint32_t i = 0; i < layers; ++i)
    map_layer(m, "model." + side + ".layers." + std::to_string(i), stack + std::to_string(i), decoder);
  map_norm(m, "model." + side + ".layer_norm", side + ".layer_norm");
  m.config[side + "_layers"] = layers;
  m.config[side + "_ffn_dim"] = m.size(stack + "0.feed_forward.w_1.weight", 0);
  m.config[side + "_attention_heads"] = static_cast<uint64_t>(std::clamp(opt.number("heads").value_or(8), 0.0, 4096.0));
  m.config[side + "_normalize_before"] = true;
  map_positions(m, side, opt.flag("position_encoding", false));
}

void map_embeddings(TrainedMapper& m) {
  const std::string source = "encoder.embeddings.make_embedding.emb_luts.0.weight",
                    target = "decoder.embeddings.make_embedding.emb_luts.0.weight",
                    output = m.has("generator.0.weight") ? "generator.0" : "generator";
  const bool shared = m.same(source, target), tied = m.same(output + ".weight", target);
  m.copy("model.encoder.embed_tokens.weight", source);
  if (!shared) m.copy("model.decoder.embed_tokens.weight", target);
  if (!tied) m.copy("lm_head.weight", output + ".weight");
  m.use(target), m.use(output + ".weight");
  m.config["tie_word_embeddings"] = tied;
  m.config["vocab_size"] = m.size(source, 0);
  m.config["decoder_vocab_size"] = m.size(shared ? source : target, 0);
  m.config["d_model"] = m.size(source, 1);
  if (m.has(output + ".bias"))
    m.copy_reshaped("final_logits_bias", output + ".bias", {1, m.size(shared ? source : target, 0)});
}

// Biases are those that the file has.
void map_biases(TrainedMapper& m) {
  m.config["attention_bias"] = m.has("encoder.transformer.0.self_attn.linear_query.bias");
  m.config["attention_out_bias"] = m.has("encoder.transformer.0.self_attn.final_linear.bias");
  m.config["ffn_bias"] = m.has("encoder.transformer.0.feed_forward.w_1.bias");
  m.config["gated"] = m.has("encoder.transformer.0.feed_forward.w_3.weight");
}

void map_activation(TrainedMapper& m, const PickledFields& opt) {
  std::string name = opt.text("pos_ffn_activation_fn", "relu");
  if (name.starts_with("gated-")) name.erase(0, 6);
  m.config["activation_function"] = name;
}

// ---- settings of networks that the family does not have -------------------------------------------------------------

void refuse_texts(TrainedMapper& m, const PickledFields& opt) {
  constexpr std::pair<const char*, const char*> kOnly[] = {
      {"encoder_type", "transformer"},  {"decoder_type", "transformer"}, {"model_type", "text"},
      {"model_task", "seq2seq"},        {"layer_norm", "standard"},      {"self_attn_type", "scaled-dot"},
      {"generator_function", "softmax"}};
  for (const auto& [key, only] : kOnly)
    if (const std::string value = opt.text(key, only); value != only && value != "scaled-dot-flash")
      m.refuse(std::string(key) + " is " + value + ", and " + only + " is read");
}

void refuse_relative(TrainedMapper& m, const PickledFields& opt) {
  const double most = opt.number("max_relative_positions").value_or(0);
  if (most == -1) m.refuse("max_relative_positions is -1 (rotary positions)");
  if (most == -2) m.refuse("max_relative_positions is -2 (ALiBi)");
  if (most < -2 || most > 4096) m.refuse(format("max_relative_positions is %g", most));
}

void refuse_settings(TrainedMapper& m, const PickledFields& opt) {
  for (const char* flag : {"copy_attn", "multiquery", "parallel_residual", "shared_layer_norm", "aan_useffn"})
    if (opt.flag(flag, false)) m.refuse(std::string(flag) + " is on");
  if (opt.number("num_kv").value_or(0) != 0) m.refuse("num_kv is set");
  const double heads = opt.number("heads").value_or(8);
  const auto width = static_cast<double>(m.config.at("d_model").get<uint64_t>());
  if (heads < 1 || heads > width || static_cast<uint64_t>(width) % static_cast<uint64_t>(heads) != 0)
    m.refuse(format("heads is %g, which does not divide the width %g", heads, width));
  refuse_texts(m, opt);
  refuse_relative(m, opt);
}

void map_relative(TrainedMapper& m, const PickledFields& opt) {
  const double most = opt.number("max_relative_positions").value_or(0);
  if (most < 1 || most > 4096) return;
  m.config["max_relative_positions"] = static_cast<uint64_t>(most);
}

void map_network(TrainedMapper& m, const PickledFields& opt) {
  m.config["model_type"] = "transformer";
  m.config["layer_norm_eps"] = opt.number("norm_eps").value_or(1e-6);
  m.config["scale_embedding"] = opt.flag("position_encoding", false);
  map_activation(m, opt);
  map_embeddings(m);
  map_biases(m);
  map_relative(m, opt);
  map_side(m, opt, "encoder");
  map_side(m, opt, "decoder");
  refuse_settings(m, opt);
  m.refuse_unused();
}

// ---- tensors --------------------------------------------------------------------------------------------------------

std::string stem_of(const TrainingFile& file) { return file.name.substr(0, file.name.size() - 3); }

// "model_step_7.00.safetensors" and so on, beside "model_step_7.pt".
std::vector<std::string> shards_of(const TrainingFile& file) {
  constexpr uint32_t kMostShards = 100;
  std::vector<std::string> names;
  for (uint32_t i = 0; i < kMostShards; ++i) {
    const std::string name = format("%s.%02u.safetensors", stem_of(file), i);
    if (!(file.files / name).there()) break;
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> own_files(const TrainingFile& file) {
  std::vector<std::string> own = {file.name};
  if (!file.root().below("model").empty()) return own;
  for (std::string& name : shards_of(file)) own.push_back(std::move(name));
  return own;
}

Result<std::vector<StoredTensor>> read_shards(const TrainingFile& file) {
  std::vector<StoredTensor> tensors;
  std::unordered_set<std::string> seen;
  for (const std::string& shard : shards_of(file)) {
    const FileName name = file.files / shard;
    LAPILLI_TRY(const auto opened, File::open(name));
    LAPILLI_TRY(auto more, read_safetensors(opened));
    for (StoredTensor& t : more) {
      if (!seen.insert(t.name).second)
        return fail(ErrorCode::invalid_data, "%s: tensor %s lies in another shard, too", name, quote_name(t.name));
      tensors.push_back(std::move(t));
    }
  }
  if (!tensors.empty()) return tensors;
  return fail(ErrorCode::not_found, "%s has no tensors in it, and %s.00.safetensors is not beside it", file.path(),
              stem_of(file));
}

Result<std::vector<StoredTensor>> read_tensors(const TrainingFile& file) {
  const PickledFields root = file.root(), model = root.below("model"), generator = root.below("generator");
  if (model.empty()) return read_shards(file);
  LAPILLI_TRY(auto tensors, file.content.tensors(model.value()));
  if (generator.empty()) return tensors;
  LAPILLI_TRY(auto more, file.content.tensors(generator.value()));
  for (StoredTensor& t : more) {
    t.name = "generator." + t.name;
    tensors.push_back(std::move(t));
  }
  return tensors;
}

// OpenNMT-py's own defaults of a search.
Status add_search(const TrainingFile& file, const PieceFiles& p, TrainedMapper& m) {
  const Pieces& target = p.target.empty() ? p.source : p.target;
  const auto id_of = [&](const std::string& piece) -> Result<uint64_t> {
    const auto at = std::ranges::find(target, piece);
    if (at != target.end()) return static_cast<uint64_t>(at - target.begin());
    return fail(ErrorCode::invalid_data, "%s: its vocabulary lacks %s", file.path(), quote_name(piece, 40));
  };
  LAPILLI_TRY(const auto start, id_of(file.root().below("vocab").text("decoder_start_token", p.start)));
  LAPILLI_TRY(const auto end, id_of(p.end));
  LAPILLI_TRY(const auto padding, id_of(p.padding));
  for (nlohmann::json* json : {&m.config, &m.generation}) {
    (*json)["pad_token_id"] = padding;
    (*json)["eos_token_id"] = end;
    (*json)["decoder_start_token_id"] = start;
  }
  m.generation["num_beams"] = 5;
  m.generation["early_stopping"] = true;
  m.generation["max_new_tokens"] = 250;
  return {};
}

const char* form_of_weights(const TrainingFile& file) {
  return file.root().below("model").empty() ? "safetensors" : kTorchWeights;
}

std::string version_of(const TrainingFile& file) {
  const Pickle& pickle = file.content.pickle;
  const PickleValue vocab = vocabularies_of(file);
  if (vocab.kind == Kind::list) return "version 1";
  const PickleValue* source = find_side(pickle, vocab, "src");
  if (source && source->kind != Kind::list) return "version 2";
  return file.root().has("model") ? "version 3" : "version 3.4 or later, in safetensors";
}

}  // namespace

}  // namespace onmt

bool is_opennmt(const TrainingFile& file) { return !file.root().below("opt").empty() && file.root().has("vocab"); }

Result<Opened> open_opennmt(const TrainingFile& file) {
  LAPILLI_TRY(const auto tensors, onmt::read_tensors(file));
  TrainedMapper mapper(tensors);
  onmt::map_network(mapper, file.root().below("opt"));
  LAPILLI_CHECK(mapper.verdict(file.path(), "OpenNMT-py"));
  LAPILLI_TRY(const auto pieces, onmt::read_vocabularies(file, mapper));
  LAPILLI_CHECK(onmt::add_search(file, pieces, mapper));
  Opened opened{{"OpenNMT-py", onmt::version_of(file), onmt::form_of_weights(file), {}},
                {file.files, {}, {}, mapper.take()},
                onmt::own_files(file)};
  add_texts(mapper, pieces, opened.files);
  if (file.root().has("optim")) opened.origin.unused.push_back("the state of the optimizer");
  return opened;
}

}  // namespace lapilli::doors::trained
