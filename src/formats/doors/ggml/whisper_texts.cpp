#include "formats/doors/ggml/whisper_texts.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "formats/quantization.hpp"

namespace lapilli::doors {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr uint32_t kRate = 16000, kHop = 160, kWindow = 400;

// ---- network --------------------------------------------------------------------------------------------------------

void add_ids(OrderedJson& json, const WhisperIds& ids) {
  json["bos_token_id"] = json["eos_token_id"] = json["pad_token_id"] = ids.end;
  json["decoder_start_token_id"] = ids.start;
}

OrderedJson config(const WhisperForm& form, const WhisperIds& ids) {
  const GgmlSizes& s = form.file.sizes;
  OrderedJson json = {{"model_type", "whisper"},
                      {"architectures", {"WhisperForConditionalGeneration"}},
                      {"activation_function", "gelu"},
                      {"d_model", s.audio_width},
                      {"encoder_layers", s.audio_layers},
                      {"encoder_attention_heads", s.audio_heads},
                      {"encoder_ffn_dim", form.ffn},
                      {"decoder_layers", s.text_layers},
                      {"decoder_attention_heads", s.text_heads},
                      {"decoder_ffn_dim", form.ffn},
                      {"max_source_positions", s.audio_positions},
                      {"max_target_positions", s.text_positions},
                      {"num_mel_bins", s.mel_bins},
                      {"vocab_size", s.vocabulary},
                      {"scale_embedding", false},
                      {"tie_word_embeddings", true}};
  add_ids(json, ids);
  if (form.packed) json["quantization_config"] = quantization_json({"int8", {}});
  return json;
}

OrderedJson sound_config(const GgmlSizes& s) {
  constexpr uint32_t a_second = kRate / kHop / 2;  // positions
  return {{"feature_extractor_type", "WhisperFeatureExtractor"},
          {"feature_size", s.mel_bins},
          {"sampling_rate", kRate},
          {"hop_length", kHop},
          {"n_fft", kWindow},
          {"chunk_length", s.audio_positions / a_second}};
}

// ---- generation -----------------------------------------------------------------------------------------------------

void add_languages(OrderedJson& json, const WhisperIds& ids) {
  json["is_multilingual"] = ids.multilingual;
  if (!ids.multilingual) {
    json["forced_decoder_ids"] = {{1, ids.no_timestamps}};
    return;
  }
  for (const auto& [code, id] : ids.languages) json["lang_to_id"]["<|" + code + "|>"] = id;
  json["task_to_id"] = {{"transcribe", ids.transcribe}, {"translate", ids.translate}};
}

OrderedJson generation_config(const WhisperForm& form, const WhisperIds& ids, const MergedTokens& tokens) {
  OrderedJson json;
  add_ids(json, ids);
  add_languages(json, ids);
  auto suppressed = no_speech_tokens(tokens);
  for (const int32_t id : {ids.start, ids.translate, ids.transcribe, ids.start_of_lm, ids.previous, ids.no_speech})
    suppressed.push_back(id);
  json["suppress_tokens"] = suppressed;
  json["begin_suppress_tokens"] = OrderedJson::array({ids.end});
  if (const int32_t blank = tokens.id(" "); blank >= 0) json["begin_suppress_tokens"] = {blank, ids.end};
  json["max_initial_timestamp_index"] = 50;
  json["max_length"] = form.file.sizes.text_positions;
  json["no_timestamps_token_id"] = ids.no_timestamps;
  json["prev_sot_token_id"] = ids.previous;
  json["return_timestamps"] = false;
  return json;
}

// ---- tokens ---------------------------------------------------------------------------------------------------------

// Text tokens; ids from the end on are special. A token that is there twice keeps its first id.
// Sorted, because an object in order compares each new name with all others.
nlohmann::json vocabulary(const GgmlFile& f, const WhisperIds& ids) {
  nlohmann::json json = nlohmann::json::object();
  std::set<std::string> names;
  for (int32_t i = 0; i < ids.end && static_cast<size_t>(i) < f.tokens.size(); ++i) {
    std::string name = in_byte_alphabet(f.tokens[static_cast<size_t>(i)]);
    if (!names.insert(name).second) name = "[token " + std::to_string(i) + "]";
    json.emplace(std::move(name), i);
  }
  return json;
}

std::string merges(const MergedTokens& tokens) {
  std::string text = "#version: 0.2\n";
  for (const auto& [left, right] : tokens.merges())
    text += in_byte_alphabet(left) + " " + in_byte_alphabet(right) + "\n";
  return text;
}

std::vector<std::pair<std::string, int32_t>> special_tokens(const WhisperIds& ids) {
  std::vector<std::pair<std::string, int32_t>> all{{"endoftext", ids.end}, {"startoftranscript", ids.start}};
  if (ids.translate < 0) return all;
  all.insert(all.end(), ids.languages.begin(), ids.languages.end());
  all.insert(all.end(), {{"translate", ids.translate},
                         {"transcribe", ids.transcribe},
                         {"startoflm", ids.start_of_lm},
                         {"startofprev", ids.previous},
                         {"nospeech", ids.no_speech},
                         {"notimestamps", ids.no_timestamps}});
  return all;
}

OrderedJson tokenizer_config(const WhisperIds& ids) {
  const char* end = "<|endoftext|>";
  OrderedJson json = {{"tokenizer_class", "WhisperTokenizer"},
                      {"bos_token", end},
                      {"eos_token", end},
                      {"unk_token", end},
                      {"add_prefix_space", false},
                      {"errors", "replace"}};
  for (const auto& [name, id] : special_tokens(ids))
    json["added_tokens_decoder"][std::to_string(id)] = {{"content", "<|" + name + "|>"}, {"lstrip", false},
                                                        {"normalized", false},           {"rstrip", false},
                                                        {"single_word", false},          {"special", true}};
  return json;
}

// ---- filters --------------------------------------------------------------------------------------------------------

// Slaney's scale: linear below 1000 Hz, then 27 steps for a factor of 6.4.
double hertz(double mel) { return mel < 15 ? mel * 200 / 3 : 1000 * std::exp((mel - 15) * std::log(6.4) / 27); }
double mels(double hz) { return hz < 1000 ? hz * 3 / 200 : 15 + std::log(hz / 1000) * 27 / std::log(6.4); }

// A triangle of area 1 between the neighbours' middles.
double slaney(uint32_t band, uint32_t bands, double frequency) {
  const double step = mels(kRate / 2.0) / (bands + 1);
  const double low = hertz(step * band), middle = hertz(step * (band + 1)), high = hertz(step * (band + 2));
  const double up = (frequency - low) / (middle - low), down = (high - frequency) / (high - middle);
  return std::max(0.0, std::min(up, down)) * 2 / (high - low);
}

}  // namespace

std::map<std::string, std::string> whisper_texts(const WhisperForm& form, const WhisperIds& ids) {
  const GgmlFile& f = form.file;
  std::vector<std::string> text_tokens = f.tokens;
  text_tokens.resize(std::min<size_t>(text_tokens.size(), static_cast<size_t>(std::max(ids.end, 0))));
  const MergedTokens tokens(text_tokens);
  std::map<std::string, std::string> texts{{"config.json", config(form, ids).dump(1)},
                                           {"vocab.json", vocabulary(f, ids).dump()},
                                           {"merges.txt", merges(tokens)},
                                           {"tokenizer_config.json", tokenizer_config(ids).dump()}};
  if (ids.translate >= 0) texts["generation_config.json"] = generation_config(form, ids, tokens).dump(1);
  if (f.sizes.audio_positions % (kRate / kHop / 2) == 0)
    texts["preprocessor_config.json"] = sound_config(f.sizes).dump(1);
  return texts;
}

Status check_filters(const GgmlFile& f) {
  constexpr double kTolerance = 1e-6;  // filters of 80 bands reach 0.025
  const uint32_t columns = kWindow / 2 + 1;
  bool fits = f.filter_rows == f.sizes.mel_bins && f.filter_columns == columns;
  for (uint32_t i = 0; fits && i < f.filters.size(); ++i) {
    const double frequency = i % columns * (kRate / 2.0) / (columns - 1);
    fits = std::abs(f.filters[i] - slaney(i / columns, f.filter_rows, frequency)) <= kTolerance;
  }
  if (fits) return {};
  return fail(
      ErrorCode::unsupported,
      "%s holds %u mel filters of %u numbers that are not Whisper's (one for each of %u bands of Slaney's scale, "
      "of %u numbers), and features are made with those",
      f.file.path(), f.filter_rows, f.filter_columns, f.sizes.mel_bins, columns);
}

}  // namespace lapilli::doors
