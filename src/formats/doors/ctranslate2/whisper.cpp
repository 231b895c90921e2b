#include <algorithm>
#include <optional>

#include "formats/doors/ctranslate2/mappings.hpp"
#include "formats/doors/ggml/whisper_ids.hpp"

namespace lapilli::doors::ct2 {

namespace {

using Json = nlohmann::json;

// "<|en|>", "<|yue|>".
bool is_language(const std::string& token) {
  return (token.size() == 6 || token.size() == 7) && token.starts_with("<|") && token.ends_with("|>") &&
         std::all_of(token.begin() + 2, token.end() - 2, [](char c) { return c >= 'a' && c <= 'z'; });
}

// Ids with a meaning. Where tokens have other names, they lie around the ids of the languages.
struct SpeechIds {
  std::optional<int32_t> end, start, translate, transcribe, start_of_lm, previous, no_speech, no_timestamps;
};

std::vector<int32_t> language_ids(const Beside& beside) {
  std::vector<int32_t> ids;
  const Tokens& tokens = beside.vocabularies.target;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (is_language(tokens[i])) ids.push_back(static_cast<int32_t>(i));
  const auto given = beside.settings.find("lang_ids");
  if (!ids.empty() || given == beside.settings.end() || !given->is_array()) return ids;
  for (const Json& id : *given)
    if (id.is_number_unsigned() && id.get<uint64_t>() < tokens.size()) ids.push_back(id.get<int32_t>());
  std::ranges::sort(ids);
  return ids;
}

SpeechIds speech_ids(const Tokens& tokens, const std::vector<int32_t>& languages) {
  const auto named = [&](const char* token, std::optional<int32_t> otherwise) {
    const auto id = id_of(tokens, token);
    return id ? id : otherwise;
  };
  const auto near = [&](int32_t base, int32_t offset) {
    const int32_t id = base + offset;
    const bool is_there = !languages.empty() && id >= 0 && static_cast<size_t>(id) < tokens.size();
    return is_there ? std::optional(id) : std::nullopt;
  };
  const int32_t first = languages.empty() ? 0 : languages.front(), last = languages.empty() ? 0 : languages.back();
  return {named("<|endoftext|>", near(first, -2)), named("<|startoftranscript|>", near(first, -1)),
          named("<|translate|>", near(last, 1)),   named("<|transcribe|>", near(last, 2)),
          named("<|startoflm|>", near(last, 3)),   named("<|startofprev|>", near(last, 4)),
          named("<|nospeech|>", near(last, 5)),    named("<|notimestamps|>", near(last, 6))};
}

// A setting that is a list; null where it is missing or null.
const Json* list_in(const Beside& beside, const char* key) {
  const auto at = beside.settings.find(key);
  return at != beside.settings.end() && at->is_array() ? &*at : nullptr;
}

// Ids that no speech has, by the tokens' texts, as Whisper's makers choose them.
Json suppressed_by_vocabulary(const Tokens& tokens, const SpeechIds& ids) {
  std::vector<std::string> texts;
  const size_t end = ids.end ? static_cast<size_t>(*ids.end) : tokens.size();
  for (size_t i = 0; i < std::min(end, tokens.size()); ++i) texts.push_back(bytes_of_alphabet(tokens[i]));
  auto suppressed = no_speech_tokens(MergedTokens(texts));
  for (const auto& id : {ids.start, ids.translate, ids.transcribe, ids.start_of_lm, ids.previous, ids.no_speech})
    if (id) suppressed.push_back(*id);
  return suppressed;
}

// A text does not begin with a blank or the end.
Json suppressed_at_begin(const Tokens& tokens, const SpeechIds& ids) {
  Json list = Json::array();
  if (const auto blank = id_of(tokens, in_byte_alphabet(" "))) list.push_back(*blank);
  if (ids.end) list.push_back(*ids.end);
  return list;
}

// The heads of the upper half of the decoder.
Json default_heads(uint32_t layers, uint32_t heads) {
  Json all = Json::array();
  for (uint32_t layer = layers / 2; layer < layers; ++layer)
    for (uint32_t head = 0; head < heads; ++head) all.push_back({layer, head});
  return all;
}

void add_generation(const Beside& beside, Fields& fields) {
  constexpr size_t kEnglishAlone = 51864;  // the vocabulary of models that know no other language
  const Tokens& tokens = beside.vocabularies.target;
  const auto languages = language_ids(beside);
  const SpeechIds ids = speech_ids(tokens, languages);
  Json& json = fields.generation;
  const auto set = [&](const char* key, const std::optional<int32_t>& id) {
    if (id) json[key] = *id;
  };
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) set(key, ids.end);
  set("decoder_start_token_id", ids.start);
  set("prev_sot_token_id", ids.previous);
  set("no_timestamps_token_id", ids.no_timestamps);
  json["is_multilingual"] = tokens.size() != kEnglishAlone;
  if (tokens.size() != kEnglishAlone) {
    for (const int32_t id : languages)
      if (const std::string& token = tokens[static_cast<size_t>(id)]; is_language(token))
        json["lang_to_id"][token] = id;
    if (ids.transcribe) json["task_to_id"]["transcribe"] = *ids.transcribe;
    if (ids.translate) json["task_to_id"]["translate"] = *ids.translate;
  }
  const Json *all = list_in(beside, "suppress_ids"), *first = list_in(beside, "suppress_ids_begin");
  json["suppress_tokens"] = all ? *all : suppressed_by_vocabulary(tokens, ids);
  json["begin_suppress_tokens"] = first ? *first : suppressed_at_begin(tokens, ids);
}

}  // namespace

void map_whisper(Mapper& m, const Beside& beside, Fields& fields) {
  Json& config = fields.config;
  config["model_type"] = "whisper";
  add_bart_sizes(m, config);
  config["num_mel_bins"] = m.size("encoder/conv1/weight", 1);
  config["max_source_positions"] = m.size("encoder/position_encodings/encodings", 0);
  config["max_target_positions"] = m.size("decoder/position_encodings/encodings", 0);
  config["vocab_size"] = m.size("decoder/embeddings/weight", 0);
  const std::string table = "decoder/embeddings/weight", output = "decoder/projection/weight";
  const bool tied = !m.has(output) || m.file().same(output, table);
  config["tie_word_embeddings"] = tied;
  m.matrix("model.decoder.embed_tokens.weight", table);
  if (!tied) m.matrix("proj_out.weight", output);
  for (const std::string name : {"conv1", "conv2"}) {
    m.numbers("model.encoder." + name + ".weight", "encoder/" + name + "/weight");
    m.numbers("model.encoder." + name + ".bias", "encoder/" + name + "/bias");
  }
  for (const std::string side : {"encoder", "decoder"}) {
    m.numbers("model." + side + ".embed_positions.weight", side + "/position_encodings/encodings");
    map_bart_stack(m, side, "model." + side + ".", false);
    if (m.setting(side + "/pre_norm", 1) != 1) m.refuse(side + "/pre_norm is off, and Whisper has it on");
    if (m.setting(side + "/scale_embeddings", 0) != 0)
      m.refuse(side + "/scale_embeddings is on, and Whisper has it off");
  }
  add_generation(beside, fields);
  const Json* heads = list_in(beside, "alignment_heads");
  fields.generation["alignment_heads"] = heads ? *heads : default_heads(m.layers("decoder"), m.heads("decoder"));
  if (!heads) fields.generation["alignment_heads_by_default"] = true;
  fields.generation["max_length"] = config["max_target_positions"];
  constexpr uint64_t kPositionsASecond = 50;
  const uint64_t positions = m.size("encoder/position_encodings/encodings", 0);
  fields.preprocessor = {{"feature_extractor_type", "WhisperFeatureExtractor"},
                         {"feature_size", config["num_mel_bins"]}};
  if (positions % kPositionsASecond == 0) fields.preprocessor["chunk_length"] = positions / kPositionsASecond;
}

}  // namespace lapilli::doors::ct2
