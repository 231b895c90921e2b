#include "formats/generation_config.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/hf_config.hpp"
#include "formats/quote.hpp"

namespace lapilli {
namespace {

using Json = nlohmann::json;
using Config = GenerationConfig;

// The single list of fields: calls f(key, pointer to member) for each.
template <class F>
void for_each_field(F f) {
#define OPTION(TYPE, NAME) f(#NAME, &Config::NAME);
#include "formats/search_options.inc"
}

// Keys that do not affect a search.
constexpr std::string_view without_effect[] = {
    "transformers_version", "_from_model_config", "_commit_hash", "use_cache", "output_attentions",
    "output_hidden_states", "output_scores", "output_logits", "return_dict_in_generate", "use_model_defaults",
    "cache_implementation", "disable_compile", "return_legacy_cache", "generation_kwargs", "cache_config", "low_memory",
    "compile_config", "prefill_chunk_size", "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule",
    "assistant_confidence_threshold", "assistant_lookbehind", "target_lookbehind", "max_matching_ngram_size",
    "_name_or_path",
    // Settings of transcription, which reads them itself (speech_settings.hpp).
    "alignment_heads", "forced_decoder_ids", "is_multilingual", "lang_to_id", "language", "prev_sot_token_id", "task",
    "task_to_id"};

// Settings of transformers that GenerationConfig lacks, with the value at which they change nothing (null: always null
// then). In config.json, where architecture and search settings mix, only these are looked for.
struct Foreign {
  std::string_view key;
  double neutral;
};
constexpr double only_null = std::numeric_limits<double>::infinity();
constexpr Foreign foreign[] = {{"num_beam_groups", 1},
                               {"diversity_penalty", 0},
                               {"penalty_alpha", 0},
                               {"guidance_scale", 1},
                               {"token_healing", 0},
                               {"constraints", only_null},
                               {"force_words_ids", only_null},
                               {"max_time", only_null},
                               {"stop_strings", only_null},
                               {"watermarking_config", only_null},
                               {"dola_layers", only_null},
                               {"prompt_lookup_num_tokens", only_null},
                               {"prefix_allowed_tokens_fn", only_null},
                               {"assistant_model", only_null},
                               {"custom_generate", only_null},
                               {"assistant_early_exit", only_null}};

bool is_neutral(const Foreign& f, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return value.get<bool>() == (f.neutral != 0) && f.neutral != only_null;
  return value.is_number() && value.get<double>() == f.neutral;
}

// ---- one value each: false if it has the wrong type; `wanted` then says what it must be -----------------------------

bool read(const Json& j, uint32_t& out, const char*& wanted) {
  wanted = "a whole number from 0 to 4294967295";
  if (!j.is_number_integer() || (!j.is_number_unsigned() && j.get<int64_t>() < 0)) return false;
  if (j.get<uint64_t>() > std::numeric_limits<uint32_t>::max()) return false;
  out = j.get<uint32_t>();
  return true;
}

bool read(const Json& j, uint64_t& out, const char*& wanted) {
  wanted = "a whole number from 0 to 18446744073709551615";
  if (!j.is_number_unsigned()) return false;
  out = j.get<uint64_t>();
  return true;
}

bool read(const Json& j, int32_t& out, const char*& wanted) {
  uint32_t u = 0;
  const bool ok = read(j, u, wanted) && u <= static_cast<uint32_t>(std::numeric_limits<int32_t>::max());
  wanted = "a token id (0 to 2147483647)";
  out = static_cast<int32_t>(u);
  return ok;
}

bool read(const Json& j, bool& out, const char*& wanted) {
  wanted = "true or false";
  if (!j.is_boolean()) return false;
  out = j.get<bool>();
  return true;
}

bool read(const Json& j, double& out, const char*& wanted) {
  wanted = "a finite number";
  if (!j.is_number()) return false;
  out = j.get<double>();
  return std::isfinite(out);
}

bool read(const Json& j, EarlyStopping& out, const char*& wanted) {
  wanted = "true, false, \"never\" or \"shrinking\"";
  if (j.is_boolean()) return out = j.get<bool>() ? EarlyStopping::yes : EarlyStopping::no, true;
  if (!j.is_string()) return false;
  const auto& name = j.get_ref<const std::string&>();
  out = name == "never" ? EarlyStopping::never : EarlyStopping::shrinking;
  return name == "never" || name == "shrinking";
}

// A single id counts as a list of one.
bool read(const Json& j, std::vector<int32_t>& out, const char*& wanted) {
  const char* inner = nullptr;
  bool ok = true;
  if (j.is_array()) {
    out.resize(j.size());
    for (size_t i = 0; ok && i < j.size(); ++i) ok = read(j[i], out[i], inner);
  } else {
    out.resize(1);
    ok = read(j, out[0], inner);
  }
  wanted = "a list of token ids (0 to 2147483647)";
  return ok;
}

bool read(const Json& j, std::vector<std::vector<int32_t>>& out, const char*& wanted) {
  bool ok = j.is_array();
  if (ok) out.resize(j.size());
  for (size_t i = 0; ok && i < j.size(); ++i) ok = j[i].is_array() && !j[i].empty() && read(j[i], out[i], wanted);
  wanted = "a list of lists of token ids, none of them empty";
  return ok;
}

bool read(const Json& j, SequenceBias& out, const char*& wanted) {
  return j.is_array() && j.size() == 2 && j[0].is_array() && !j[0].empty() && read(j[0], out.ids, wanted) &&
         read(j[1], out.bias, wanted);
}

bool read(const Json& j, std::vector<SequenceBias>& out, const char*& wanted) {
  bool ok = j.is_array();
  if (ok) out.resize(j.size());
  for (size_t i = 0; ok && i < j.size(); ++i) ok = read(j[i], out[i], wanted);
  wanted = "a list of [[ids], bias] pairs";
  return ok;
}

bool read(const Json& j, ExponentialDecay& out, const char*& wanted) {
  const bool ok = j.is_array() && j.size() == 2 && read(j[0], out.start, wanted) && read(j[1], out.factor, wanted);
  wanted = "a pair [start, factor]";
  return ok;
}

// Owner of the settings: a caller's are validated, a model's are read as the reference reads them.
enum class Whose { callers, models };

bool is_negative(const Json& j) { return j.is_number_integer() && !j.is_number_unsigned() && j.get<int64_t>() < 0; }
bool has_negative(const Json& j) { return std::any_of(j.begin(), j.end(), is_negative); }

// Published files use -1 for "none" and, in lists, for "the usual ones"; it is no token's id.
template <class T>
Json without_negative_ids(const Json& j, const std::optional<T>&) {
  return j;
}
Json without_negative_ids(const Json& j, const std::optional<int32_t>&) { return is_negative(j) ? Json() : j; }
Json without_negative_ids(const Json& j, const std::optional<std::vector<int32_t>>&) {
  if (is_negative(j)) return {};
  Json kept = j;
  if (kept.is_array()) kept.erase(std::remove_if(kept.begin(), kept.end(), is_negative), kept.end());
  return kept;
}
Json without_negative_ids(const Json& j, const std::optional<std::vector<std::vector<int32_t>>>&) {
  Json kept = j;
  if (kept.is_array()) kept.erase(std::remove_if(kept.begin(), kept.end(), has_negative), kept.end());
  return kept;
}

Status parse_known(const Json& json, const std::string& where, Whose whose, Config& config) {
  Status status;
  for_each_field([&](const char* key, auto member) {
    if (!status) return;
    const auto it = json.find(key);
    if (it == json.end()) return;
    const Json value = whose == Whose::models ? without_negative_ids(*it, config.*member) : *it;
    if (value.is_null()) return;
    const char* wanted = "";
    if (!read(value, (config.*member).emplace(), wanted))
      status = fail(ErrorCode::invalid_data, "%s: \"%s\" must be %s", where, key, wanted);
  });
  return status;
}

void list_foreign(const Json& json, Config& config) {
  for (const auto& f : foreign) {
    const auto it = json.find(f.key);
    if (it != json.end()) (is_neutral(f, *it) ? config.without_modes : config.modes).emplace_back(f.key);
  }
}

void list_unknown(const Json& json, Config& config) {
  for (const auto& item : json.items()) {
    const std::string& key = item.key();
    bool known = item.value().is_null() || std::ranges::count(without_effect, key) > 0 ||
                 std::ranges::count(foreign, key, &Foreign::key) > 0;
    for_each_field([&](const char* name, auto) { known = known || key == name; });
    if (!known) config.unknown.push_back(key);
  }
}

void tidy(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

void tidy(Config& config) {
  tidy(config.unknown);
  tidy(config.modes);
  tidy(config.without_modes);
}

// Versions 2 to 4 of transformers took defaults missing in config.json from the model's class, and their files left out
// whatever equals them. Weights of that time begin with that token; version 5 begins with bos_token_id.
struct ClassStart {
  std::string_view model_type;
  int32_t start;
};
constexpr ClassStart class_starts[] = {{"fsmt", 2},    {"bart", 2},       {"mbart", 2},           {"led", 2},
                                       {"m2m_100", 2}, {"blenderbot", 1}, {"blenderbot-small", 1}};

void take_class_start(const Json& json, Config& config) {
  const auto text = [&](const char* key, const char* missing) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string(missing);
  };
  const std::string version = text("transformers_version", "2."), type = text("model_type", "");
  if (version.size() < 2 || version[0] < '2' || version[0] > '4' || version[1] != '.') return;
  if (json.contains("decoder_start_token_id")) return;
  const auto found = std::ranges::find(class_starts, std::string_view(type), &ClassStart::model_type);
  if (found != std::end(class_starts)) config.decoder_start_token_id = found->start;
}

// Reads config.json of a directory from before generation_config.json existed.
Result<Config> from_model_config(const Json& json, const std::string& where) {
  Config config;
  LAPILLI_CHECK(parse_known(json, where, Whose::models, config));
  list_foreign(json, config);
  for (const char* part : {"decoder", "generator", "text_config"}) {
    const auto it = json.find(part);
    if (it == json.end() || !it->is_object()) continue;
    Config inner;
    LAPILLI_CHECK(parse_known(*it, where + ", " + part, Whose::models, inner));
    config = merge(config, inner);
    break;
  }
  // Written by versions 2.9 to 4.5 of transformers for BART.
  const auto forced = json.find("force_bos_token_to_be_generated");
  if (forced != json.end() && *forced == true && !config.forced_bos_token_id)
    config.forced_bos_token_id = config.bos_token_id;
  take_class_start(json, config);
  tidy(config);
  config.source = where;
  return config;
}

}  // namespace

namespace {

Result<Config> parse(const Json& json, const std::string& where, Whose whose) {
  if (!json.is_object()) return fail(ErrorCode::invalid_data, "%s is no JSON object", where);
  Config config;
  LAPILLI_CHECK(parse_known(json, where, whose, config));
  list_foreign(json, config);
  list_unknown(json, config);
  tidy(config);
  config.source = where;
  return config;
}

}  // namespace

Result<GenerationConfig> parse_generation_config(const Json& json, const std::string& where) {
  return parse(json, where, Whose::callers);
}

Result<GenerationConfig> read_generation_config(const Files& files) {
  const FileName own = files / "generation_config.json", model = files / "config.json";
  if (own.there()) {
    LAPILLI_TRY(const auto json, read_json_file(own));
    return parse(json, own.path(), Whose::models);
  }
  LAPILLI_TRY(const auto json, read_json_file(model));
  return from_model_config(json, model.path());
}

std::vector<std::string> drop_unknown_ids(GenerationConfig& config, uint32_t vocabulary) {
  std::vector<std::string> shortened;
  const auto unknown = [&](int32_t id) { return static_cast<uint32_t>(id) >= vocabulary; };
  const auto any_unknown = [&](const std::vector<int32_t>& ids) { return std::ranges::any_of(ids, unknown); };
  const auto drop = [&](auto& list, const char* name, const auto& which) {
    if (list && std::erase_if(*list, which) > 0) shortened.emplace_back(name);
  };
  drop(config.suppress_tokens, "suppress_tokens", unknown);
  drop(config.begin_suppress_tokens, "begin_suppress_tokens", unknown);
  drop(config.bad_words_ids, "bad_words_ids", any_unknown);
  drop(config.sequence_bias, "sequence_bias", [&](const SequenceBias& b) { return any_unknown(b.ids); });
  return shortened;
}

GenerationConfig merge(const GenerationConfig& over, const GenerationConfig& base) {
  Config out = base;
  for_each_field([&](const char*, auto member) {
    if (over.*member) out.*member = over.*member;
  });
  out.unknown.insert(out.unknown.end(), over.unknown.begin(), over.unknown.end());
  std::erase_if(out.modes, [&](const std::string& key) { return std::ranges::count(over.without_modes, key) > 0; });
  out.modes.insert(out.modes.end(), over.modes.begin(), over.modes.end());
  out.without_modes = over.without_modes;
  tidy(out);
  return out;
}

}  // namespace lapilli
