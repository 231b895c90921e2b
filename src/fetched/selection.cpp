#include "fetched/selection.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_depth.hpp"

namespace lapilli::hub {

namespace {

// All files that src/formats, src/text and src/image open.
constexpr const char* kRead[] = {"config.json",
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
                                 "sentencepiece.bpe.model",
                                 "tokenizer.model"};
constexpr const char* kWeights[] = {"model.safetensors", "pytorch_model.bin"};
constexpr const char* kOtherWeights[] = {"tf_model.h5", "flax_model.msgpack", "rust_model.ot", "model.onnx"};

const HubFile* find(const Repository& repository, std::string_view name) {
  const auto found = std::find_if(repository.files.begin(), repository.files.end(),
                                  [name](const HubFile& file) { return file.name == name; });
  return found == repository.files.end() ? nullptr : &*found;
}

Failure no_weights(const Repository& repository) {
  for (const char* other : kOtherWeights) {
    if (find(repository, other))
      return fail(ErrorCode::unsupported, "its weights are there only as %s, which is not read", other);
  }
  return fail(ErrorCode::unsupported, "it has no weights: neither model.safetensors nor pytorch_model.bin");
}

Status add_weights(const Repository& repository, Selection& selection) {
  for (const std::string name : kWeights) {
    const HubFile *whole = find(repository, name), *index = find(repository, name + ".index.json");
    if (!whole && !index) continue;
    if (!whole && index->size > kMostIndexBytes)
      return fail(ErrorCode::invalid_data, "its %s is too large for a list of files", index->name);
    selection.files.push_back(whole ? *whole : *index);
    if (!whole) selection.index = index->name;
    return {};
  }
  return no_weights(repository);
}

}  // namespace

Result<Selection> select_files(const Repository& repository) {
  if (!find(repository, "config.json"))
    return fail(ErrorCode::unsupported, "it has no config.json, so it is no model of Transformers");
  Selection selection;
  for (const char* name : kRead) {
    if (const HubFile* file = find(repository, name)) selection.files.push_back(*file);
  }
  LAPILLI_CHECK(add_weights(repository, selection));
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
  std::vector<HubFile> files;
  for (const std::string& name : names) {
    const HubFile* file = find(repository, name);
    if (!file || std::find(std::begin(kRead), std::end(kRead), name) != std::end(kRead))
      return fail(ErrorCode::invalid_data, "its %s names a file of weights that it does not have", index);
    files.push_back(*file);
  }
  return files;
}

}  // namespace lapilli::hub
