#include "cli/search/search_settings.hpp"

#include <algorithm>
#include <string_view>

#include "base/path.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/json_object.hpp"
#include "cli/files/output_names.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"
#include "vectors/fingerprint.hpp"

namespace lapilli::cli {

namespace {

using vectors::Fingerprint;
using vectors::Fingerprinter;

Options options_for(const TextArguments& a, const char* task, const std::optional<std::string>& prompt) {
  Options options;
  options.task = task;
  options.batch = a.batch;
  options.deterministic = true;
  options.encoder.dimensions = a.vectors.dimensions;
  options.encoder.prompt = prompt;
  return options;
}

// Weights in formats that no model is loaded from.
bool is_of_others(std::string_view name) {
  constexpr std::string_view kOtherWeights[] = {".onnx",    ".onnx_data", ".h5", ".ot",
                                                ".msgpack", ".xml",       ".pb", ".tflite"};
  return std::any_of(std::begin(kOtherWeights), std::end(kOtherWeights),
                     [&](std::string_view e) { return name.ends_with(e); });
}

void add_content(const std::string& path, Fingerprinter& to) {
  InputFile file = InputFile::open(path);
  std::string part(size_t{1} << 20, '\0');
  while (file.ok() && !interrupted()) {
    const long got = file.read(part.data(), part.size());
    if (got <= 0) break;
    to.add(part.data(), static_cast<size_t>(got));
  }
}

// Weights that were exchanged may have the size and the time of those before, so that only their content tells.
Fingerprint fingerprint_of_folder(const std::string& folder, int depth = 1) {
  std::vector<FolderEntry> entries;
  list_folder(folder, entries);
  Fingerprinter made;
  for (const FolderEntry& entry : entries) {
    const std::string path = path_in(folder, entry.name);
    if (entry.name.starts_with('.') || is_of_others(entry.name)) continue;
    if (entry.kind == FileKind::directory && depth > 0)
      made.add(entry.name + '/' + fingerprint_of_folder(path, depth - 1).hex());
    if (entry.kind != FileKind::regular) continue;
    made.add(entry.name + '\0' + std::to_string(file_size(path)) + '\0');
    add_content(path, made);
  }
  return made.result();
}

}  // namespace

Options query_options(const TextArguments& arguments) {
  return options_for(arguments, "query", arguments.search.query_prompt);
}

Options line_options(const TextArguments& arguments) {
  return options_for(arguments, "document", arguments.search.document_prompt);
}

std::string vector_settings(const TextArguments& a, const lapilli_model_info& model) {
  const uint32_t dimensions = a.vectors.dimensions ? a.vectors.dimensions : model.dimensions;
  const auto& prompt = a.search.document_prompt;
  return "lapilli " + std::string(lapilli_version()) + "\nmodel " + fingerprint_of_folder(model.directory).hex() +
         "\ndtype " + name_of(static_cast<Dtype>(model.dtype)) + "\ndimensions " + std::to_string(dimensions) +
         "\nprompt " + (prompt ? "text " + *prompt : "document") + "\n";
}

int find_similarity(const std::string& directory, Similarity& to) {
  std::string text, name;
  const std::string path = path_in(directory, "config_sentence_transformers.json");
  if (!file_exists(path) || read_whole(path, text) != 0) return exit_ok;
  if (JsonObject(text).find("similarity_fn_name", name) != JsonObject::Found::string || name == "cosine")
    return exit_ok;
  if (name == "dot" || name == "dot_product") return to = Similarity::dot, exit_ok;
  if (name == "euclidean") return to = Similarity::euclidean, exit_ok;
  return complain(exit_input, path + ": vectors of this model are compared by \"" + name +
                                  "\" (similarity_fn_name), which is not supported: cosine, dot and euclidean are");
}

}  // namespace lapilli::cli
