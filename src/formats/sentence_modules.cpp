#include "formats/sentence_modules.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/hf_config.hpp"
#include "formats/quote.hpp"

namespace lapilli {

namespace {

constexpr size_t kMostModules = 32;
constexpr uint32_t kMostColumns = 1u << 20;

struct Module {
  std::string name;    // "Pooling"
  std::string folder;  // "1_Pooling"
};

// The last part of "sentence_transformers.models.Pooling". Other packages bring code of their own.
Result<std::string> module_name(const JsonView& v) {
  LAPILLI_TRY(const std::string type, get_string(v, "type"));
  if (!type.starts_with("sentence_transformers."))
    return fail(ErrorCode::unsupported,
                "%s: the step %s is code that the model's publisher wrote; only steps of sentence_transformers run",
                v.where, quote_name(type));
  return type.substr(type.rfind('.') + 1);
}

bool leaves_directory(const std::string& folder) {
  return folder.starts_with('/') || folder.find("..") != std::string::npos || folder.find('\\') != std::string::npos ||
         folder.find(':') != std::string::npos;
}

Result<Module> read_module(const JsonView& v) {
  Module m;
  LAPILLI_TRY(m.name, module_name(v));
  LAPILLI_TRY(m.folder, get_string(v, "path", ""));
  while (m.folder.ends_with('/')) m.folder.pop_back();
  if (leaves_directory(m.folder))
    return fail(ErrorCode::invalid_data, "%s: the folder %s is not inside the directory", v.where,
                quote_name(m.folder));
  return m;
}

Result<std::vector<Module>> read_modules(const FileName& file) {
  LAPILLI_TRY(const auto text, read_text_file(file, size_t{1} << 20));
  // A list at the top, which the parser of objects does not take.
  LAPILLI_TRY(const auto json, parse_json("{\"modules\":" + text + "}", file.path()));
  const auto& list = json["modules"];
  if (!list.is_array() || list.empty() || list.size() > kMostModules)
    return fail(ErrorCode::invalid_data, "%s is no list of 1 to %u steps", file, kMostModules);
  std::vector<Module> modules;
  for (const auto& entry : list) {
    if (!entry.is_object()) return fail(ErrorCode::invalid_data, "%s: a step is not an object", file);
    LAPILLI_TRY(auto m, read_module({entry, file.path()}));
    modules.push_back(std::move(m));
  }
  return modules;
}

// ---- pooling -------------------------------------------------------------------------------------------------------

struct PoolingName {
  const char* key;   // older files: true or false
  const char* name;  // newer files: a name, or a list of names
};
constexpr std::array<PoolingName, 6> kPoolings{{{"pooling_mode_cls_token", "cls"},
                                                {"pooling_mode_max_tokens", "max"},
                                                {"pooling_mode_mean_tokens", "mean"},
                                                {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
                                                {"pooling_mode_weightedmean_tokens", "weightedmean"},
                                                {"pooling_mode_lasttoken", "lasttoken"}}};

Result<std::vector<std::string>> names_of(const nlohmann::json& given, const std::string& where) {
  std::vector<std::string> names;
  const auto list = given.is_array() ? given : nlohmann::json::array({given});
  for (const auto& name : list) {
    if (!name.is_string()) return fail(ErrorCode::invalid_data, "%s: pooling_mode holds no name", where);
    names.push_back(name.get<std::string>());
  }
  return names;
}

Result<std::vector<SentencePooling>> named_poolings(const JsonView& v) {
  LAPILLI_TRY(const auto names, names_of(v.json["pooling_mode"], v.where));
  for (const auto& name : names)
    if (std::none_of(kPoolings.begin(), kPoolings.end(), [&](const PoolingName& p) { return name == p.name; }))
      return fail(ErrorCode::unsupported, "%s: the pooling %s is not supported", v.where, quote_name(name));
  std::vector<SentencePooling> poolings;
  for (size_t i = 0; i < kPoolings.size(); ++i)
    if (std::find(names.begin(), names.end(), kPoolings[i].name) != names.end())
      poolings.push_back(static_cast<SentencePooling>(i));
  return poolings;
}

Result<std::vector<SentencePooling>> switched_poolings(const JsonView& v) {
  std::vector<SentencePooling> poolings;
  for (size_t i = 0; i < kPoolings.size(); ++i) {
    LAPILLI_TRY(const bool on, get_bool(v, kPoolings[i].key, false));
    if (on) poolings.push_back(static_cast<SentencePooling>(i));
  }
  return poolings;
}

Status read_pooling(const JsonView& v, SentenceModules& to) {
  if (has(v, "output_key"))
    return fail(ErrorCode::unsupported, "%s: output_key: pooling of another output is not supported", v.where);
  LAPILLI_TRY(to.poolings, has(v, "pooling_mode") ? named_poolings(v) : switched_poolings(v));
  if (to.poolings.empty()) to.poolings = {SentencePooling::mean};
  LAPILLI_TRY(to.pools_prompt, get_bool(v, "include_prompt", true));
  return {};
}

// ---- the other steps -----------------------------------------------------------------------------------------------

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

Status read_dense(const JsonView& v, const std::string& folder, SentenceModules& to) {
  SentenceStep step;
  step.folder = folder;
  LAPILLI_TRY(step.in_width, get_u32(v, "in_features"));
  LAPILLI_TRY(step.columns, get_u32(v, "out_features"));
  if (step.columns == 0 || step.columns > kMostColumns || step.in_width == 0 || step.in_width > kMostColumns)
    return fail(ErrorCode::invalid_data, "%s: a linear layer from %u to %u columns", v.where, step.in_width,
                step.columns);
  LAPILLI_TRY(step.bias, get_bool(v, "bias", true));
  LAPILLI_TRY(const auto path, get_string(v, "activation_function", "torch.nn.modules.activation.Tanh"));
  if (!path.starts_with("torch."))
    return fail(ErrorCode::unsupported, "%s: the activation %s is not one of torch", v.where, quote_name(path));
  step.activation = last_part(path);
  to.steps.push_back(std::move(step));
  return {};
}

Status unknown_step(const FileName& file, const Module& m) {
  return fail(ErrorCode::unsupported,
              "%s: the step %s is not supported; Transformer, Pooling, Dense and Normalize are, in this order", file,
              quote_name(m.name));
}

Status read_step(const Files& files, const FileName& list, const Module& m, SentenceModules& to) {
  if (m.name == "Normalize") {
    to.steps.emplace_back().normalizes = true;
    return {};
  }
  const bool pools = m.name == "Pooling" && to.poolings.empty(), dense = m.name == "Dense" && !to.poolings.empty();
  if (!pools && !dense) return unknown_step(list, m);
  const FileName file = files.below(m.folder) / "config.json";
  LAPILLI_TRY(const auto json, read_json_file(file));
  const JsonView v{json, file.path()};
  return pools ? read_pooling(v, to) : read_dense(v, m.folder, to);
}

// A directory may say that it scores pairs. Its only step is the network.
Result<bool> is_cross_encoder(const Files& files) {
  const FileName file = files / "config_sentence_transformers.json";
  if (!file.there()) return false;
  LAPILLI_TRY(const auto json, read_json_file(file));
  LAPILLI_TRY(const auto type, get_string({json, file.path()}, "model_type", ""));
  return type == "CrossEncoder";
}

}  // namespace

Result<std::optional<SentenceModules>> read_sentence_modules(const Files& files) {
  const FileName list = files / "modules.json";
  if (!list.there()) return std::optional<SentenceModules>();
  LAPILLI_TRY(const bool cross, is_cross_encoder(files));
  if (cross) return std::optional<SentenceModules>();
  LAPILLI_TRY(const auto modules, read_modules(list));
  SentenceModules to;
  if (modules.front().name != "Transformer") return unknown_step(list, modules.front()).error();
  to.transformer = modules.front().folder;
  for (size_t i = 1; i < modules.size(); ++i) {
    LAPILLI_CHECK(read_step(files, list, modules[i], to));
    if (!modules[i].folder.empty()) to.folders.push_back(modules[i].folder);
  }
  if (to.poolings.empty())
    return fail(ErrorCode::unsupported, "%s has no step Pooling, so that a text has no vector", list);
  return std::optional<SentenceModules>(std::move(to));
}

// ---- settings ------------------------------------------------------------------------------------------------------

namespace {

// Names by the class of the network, which old versions wrote.
constexpr const char* kTransformerConfigs[] = {"sentence_bert_config.json",       "sentence_roberta_config.json",
                                               "sentence_distilbert_config.json", "sentence_camembert_config.json",
                                               "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
                                               "sentence_xlnet_config.json"};

// A whole number that files also write as 1e30, which stands for none.
uint32_t limit_of(const nlohmann::json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number()) return 0;
  const double value = it->get<double>();
  return value >= 1 && value <= 1e9 ? static_cast<uint32_t>(value) : 0;
}

Status read_transformer_config(const Files& network, SentenceSettings& to) {
  for (const char* name : kTransformerConfigs) {
    const FileName file = network / name;
    if (!file.there()) continue;
    LAPILLI_TRY(const auto json, read_json_file(file));
    to.max_length = limit_of(json, "max_seq_length");
    LAPILLI_TRY(to.lower_case, get_bool({json, file.path()}, "do_lower_case", false));
    return {};
  }
  return {};
}

// The limit of the tokenizer, by its newer or its older name.
Status read_tokenizer_limit(const Files& network, SentenceSettings& to) {
  const FileName file = network / "tokenizer_config.json";
  if (to.max_length != 0 || !file.there()) return {};
  LAPILLI_TRY(const auto json, read_json_file(file));
  to.max_length = limit_of(json, json.contains("model_max_length") ? "model_max_length" : "max_len");
  return {};
}

Status read_prompts(const JsonView& v, SentenceSettings& to) {
  const auto it = v.json.find("prompts");
  if (it != v.json.end() && it->is_object())
    for (const auto& [name, text] : it->items()) {
      if (!text.is_string()) return fail(ErrorCode::invalid_data, "%s: a prompt is not a text", v.where);
      to.prompts[name] = text.get<std::string>();
    }
  LAPILLI_TRY(to.default_prompt, get_string(v, "default_prompt_name", ""));
  if (to.default_prompt.empty() || to.prompts.contains(to.default_prompt)) return {};
  return fail(ErrorCode::invalid_data, "%s: default_prompt_name is %s, which is none of its prompts", v.where,
              quote_name(to.default_prompt));
}

// Paths that do not begin with "torch." are code of the publisher, and the reference skips them.
void take_activation(const std::string& path, SentenceSettings& to) {
  if (to.score_activation.empty() && path.starts_with("torch.")) to.score_activation = last_part(path);
}

Status read_sentence_config(const Files& files, SentenceSettings& to) {
  const FileName file = files / "config_sentence_transformers.json";
  if (!file.there()) return {};
  LAPILLI_TRY(const auto json, read_json_file(file));
  const JsonView v{json, file.path()};
  LAPILLI_CHECK(read_prompts(v, to));
  LAPILLI_TRY(const auto type, get_string(v, "model_type", ""));
  to.cross_encoder = type == "CrossEncoder";
  if (!(files / "modules.json").there()) return {};
  LAPILLI_TRY(const auto activation, get_string(v, "activation_fn", ""));
  take_activation(activation, to);
  return {};
}

Status read_model_config(const Files& network, SentenceSettings& to) {
  const FileName file = network / "config.json";
  if (!file.there()) return {};
  LAPILLI_TRY(const auto json, read_json_file(file));
  const JsonView v{json, file.path()};
  const auto it = json.find("sentence_transformers");
  if (it != json.end() && it->is_object()) {
    LAPILLI_TRY(const auto newer, get_string({*it, v.where}, "activation_fn", ""));
    take_activation(newer, to);
  }
  LAPILLI_TRY(const auto older, get_string(v, "sbert_ce_default_activation_function", ""));
  take_activation(older, to);
  return {};
}

}  // namespace

Result<SentenceSettings> read_sentence_settings(const Files& files, const Files& network) {
  SentenceSettings settings;
  LAPILLI_CHECK(read_transformer_config(network, settings));
  LAPILLI_CHECK(read_tokenizer_limit(network, settings));
  LAPILLI_CHECK(read_sentence_config(files, settings));
  LAPILLI_CHECK(read_model_config(network, settings));
  return settings;
}

}  // namespace lapilli
