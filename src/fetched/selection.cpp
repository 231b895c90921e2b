#include "fetched/selection.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_depth.hpp"
#include "fetched/names.hpp"

namespace lapilli::hub {

namespace {

// All files that src/formats, src/text and src/image open.
constexpr const char* kRead[] = {"config.json",
                                 "modules.json",
                                 "config_sentence_transformers.json",
                                 "sentence_bert_config.json",
                                 "sentence_roberta_config.json",
                                 "sentence_distilbert_config.json",
                                 "sentence_camembert_config.json",
                                 "sentence_albert_config.json",
                                 "sentence_xlm-roberta_config.json",
                                 "sentence_xlnet_config.json",
                                 "generation_config.json",
                                 "preprocessor_config.json",
                                 "processor_config.json",
                                 "tokenizer_config.json",
                                 "special_tokens_map.json",
                                 "added_tokens.json",
                                 "tokenizer.json",
                                 "vocab.json",
                                 "target_vocab.json",
                                 "vocab-src.json",
                                 "vocab-tgt.json",
                                 "vocab.txt",
                                 "merges.txt",
                                 "prophetnet.tokenizer",
                                 "source.spm",
                                 "target.spm",
                                 "spiece.model",
                                 "spm.model",
                                 "sentencepiece.bpe.model",
                                 "tokenizer.model"};
constexpr const char* kWeights[] = {"model.safetensors", "pytorch_model.bin"};
// A directory of CTranslate2, or of faster-whisper.
constexpr const char* kConverted = "model.bin";
constexpr const char* kVocabularies[] = {"vocabulary.json",        "vocabulary.txt",         "shared_vocabulary.json",
                                         "shared_vocabulary.txt",  "source_vocabulary.json", "source_vocabulary.txt",
                                         "target_vocabulary.json", "target_vocabulary.txt"};
constexpr const char* kOtherWeights[] = {"tf_model.h5", "flax_model.msgpack", "rust_model.ot", "model.onnx"};

const HubFile* find(const Repository& repository, std::string_view name) {
  const auto found = std::find_if(repository.files.begin(), repository.files.end(),
                                  [name](const HubFile& file) { return file.name == name; });
  return found == repository.files.end() ? nullptr : &*found;
}

// "1_Pooling", as sentence-transformers names the folder of a step.
bool is_step_folder(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto begin = std::find_if_not(name.begin(), name.end(), is_digit);
  return begin != name.begin() && name.end() - begin > 1 && *begin == '_' &&
         std::all_of(begin + 1, name.end(), is_letter);
}

// The places of files: "" is the top, the others end in a slash.
std::set<std::string> places_of(const Repository& repository) {
  std::set<std::string> places = {""};
  if (!find(repository, kModules)) return places;
  for (const HubFile& file : repository.files) {
    const size_t slash = file.name.find('/');
    if (slash != std::string::npos && is_step_folder(file.name.substr(0, slash)))
      places.insert(file.name.substr(0, slash + 1));
  }
  return places;
}

// Forms of models that are not read, by a file's start and ending, and what would do.
struct ForeignForm {
  std::string_view start, ending;
  const char* message;
};
constexpr ForeignForm kForeignForms[] = {
    {"adapter_config.json", "",
     "it is an adapter (LoRA), which is a change to a model and no model; fetch the model that its adapter_config.json "
     "names"},
    {"", ".gguf", "its weights are there only as GGUF, which is not read; fetch the model that it was made from"},
    {"consolidated.", "",
     "its weights are there only in the form of the publisher's own program (consolidated.*), which is not read; fetch "
     "the repository in the form of Transformers"},
};

const char* foreign_form(const Repository& repository) {
  for (const ForeignForm& form : kForeignForms)
    for (const HubFile& file : repository.files)
      if (file.name.starts_with(form.start) && file.name.ends_with(form.ending)) return form.message;
  return nullptr;
}

// Files of whisper.cpp, of which each is a model.
std::vector<std::string> files_of_whisper(const Repository& repository) {
  std::vector<std::string> names;
  for (const HubFile& file : repository.files)
    if (file.name.starts_with("ggml-") && file.name.ends_with(".bin")) names.push_back(file.name);
  return names;
}

Failure name_the_file(const std::vector<std::string>& names) {
  return fail(ErrorCode::invalid_argument, "%u of its files are models by themselves (%s%s); name one: OWNER/NAME:%s",
              names.size(), names[0], names.size() > 1 ? ", " + names[1] + ", ..." : "", names[0]);
}

Failure no_weights(const Repository& repository) {
  for (const char* other : kOtherWeights) {
    if (find(repository, other))
      return fail(ErrorCode::unsupported, "its weights are there only as %s, which is not read", other);
  }
  if (const char* message = foreign_form(repository)) return fail(ErrorCode::unsupported, "%s", message);
  return fail(ErrorCode::unsupported, "it has no weights: neither model.safetensors nor pytorch_model.bin");
}

// Adds the weights of a place, if it has any.
Status add_weights(const Repository& repository, const std::string& place, Selection& selection) {
  for (const char* name : kWeights) {
    const HubFile* whole = find(repository, place + name);
    const HubFile* index = find(repository, place + name + ".index.json");
    if (!whole && !index) continue;
    if (!whole && index->size > kMostIndexBytes)
      return fail(ErrorCode::invalid_data, "its %s is too large for a list of files", index->name);
    selection.files.push_back(whole ? *whole : *index);
    if (!whole) selection.indices.push_back(*index);
    return {};
  }
  return {};
}

bool has_weights(const Repository& repository, const std::string& place) {
  return std::any_of(std::begin(kWeights), std::end(kWeights), [&](const char* name) {
    return find(repository, place + name) || find(repository, place + name + ".index.json");
  });
}

// The network lies at the top or in a folder; old versions wrote a config.json at the top that only names them.
Status check_network(const Repository& repository, const std::set<std::string>& places) {
  bool configured = false;
  for (const std::string& place : {std::string(), std::string(kNetworkFolder) + "/"}) {
    if (!places.contains(place) || !find(repository, place + "config.json")) continue;
    if (has_weights(repository, place)) return {};
    configured = true;
  }
  if (configured) return no_weights(repository);
  if (const char* message = foreign_form(repository)) return fail(ErrorCode::unsupported, "%s", message);
  return fail(ErrorCode::unsupported, "it has no config.json, so it is no model of Transformers");
}

Selection select_converted(const Repository& repository) {
  Selection selection;
  const auto add = [&](const char* name) {
    if (const HubFile* file = find(repository, name)) selection.files.push_back(*file);
  };
  std::ranges::for_each(kRead, add);
  std::ranges::for_each(kVocabularies, add);
  add(kConverted);
  return selection;
}

}  // namespace

Result<Selection> select_file(const Repository& repository, const std::string& name) {
  const HubFile* file = find(repository, name);
  if (!file) return fail(ErrorCode::not_found, "it has no file %s", name);
  return Selection{{*file}, {}};
}

Result<Selection> select_files(const Repository& repository) {
  if (!has_weights(repository, "") && find(repository, kConverted)) return select_converted(repository);
  const auto alone = files_of_whisper(repository);
  if (!alone.empty() && !has_weights(repository, "")) return name_the_file(alone);
  const auto places = places_of(repository);
  LAPILLI_CHECK(check_network(repository, places));
  Selection selection;
  for (const std::string& place : places)
    for (const char* name : kRead)
      if (const HubFile* file = find(repository, place + name)) selection.files.push_back(*file);
  for (const std::string& place : places) LAPILLI_CHECK(add_weights(repository, place, selection));
  return selection;
}

Result<std::vector<HubFile>> files_of_index(const Repository& repository, const std::string& index,
                                            std::string_view content) {
  const auto json = json_nests_too_deep(content) ? nlohmann::json() : nlohmann::json::parse(content, nullptr, false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object())
    return fail(ErrorCode::invalid_data, "its %s has no weight_map", index);
  std::set<std::string> names;
  for (const auto& file : *map) names.insert(file.is_string() ? file.get<std::string>() : "");
  const size_t slash = index.find('/');
  const std::string place = slash == std::string::npos ? "" : index.substr(0, slash + 1);
  std::vector<HubFile> files;
  for (const std::string& name : names) {
    const HubFile* file = is_plain_name(name) ? find(repository, place + name) : nullptr;
    if (!file || std::find(std::begin(kRead), std::end(kRead), name) != std::end(kRead))
      return fail(ErrorCode::invalid_data, "its %s names a file of weights that it does not have", index);
    files.push_back(*file);
  }
  return files;
}

namespace {

std::string text_of(const nlohmann::json& step, const char* key) {
  const auto found = step.is_object() ? step.find(key) : step.end();
  return step.is_object() && found != step.end() && found->is_string() ? found->get<std::string>() : "";
}

// A normalization has no settings.
Status check_step(const Repository& repository, const std::string& folder, const std::string& type) {
  if (type.ends_with(".Normalize")) return {};
  if (!find(repository, folder + "/config.json"))
    return fail(ErrorCode::not_found, "its %s names %s/config.json, which it does not have", kModules, folder);
  if (!type.ends_with(".Dense") || has_weights(repository, folder + "/")) return {};
  return fail(ErrorCode::not_found, "its %s names %s, which has no weights", kModules, folder);
}

}  // namespace

Status check_modules(const Repository& repository, std::string_view modules) {
  const auto json = json_nests_too_deep(modules) ? nlohmann::json() : nlohmann::json::parse(modules, nullptr, false);
  if (!json.is_array()) return {};
  for (const auto& step : json) {
    const std::string folder = text_of(step, "path");
    if (is_plain_name(folder)) LAPILLI_CHECK(check_step(repository, folder, text_of(step, "type")));
  }
  return {};
}

}  // namespace lapilli::hub
