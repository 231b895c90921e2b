#include "cli/arguments/foreign_models.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/path.hpp"
#include "cli/files/foreign_files.hpp"
#include "cli/files/output_names.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

constexpr const char* kInstead =
    "; take the model that it was made from, as it was published (config.json, tokenizer, model.safetensors): lapilli "
    "models lists such, lapilli fetch OWNER/NAME gets one";

struct ModelFormat {
  std::string_view begins, ends;  // parts of a file's name
  std::string_view what;
};
constexpr ModelFormat kGguf = {"", ".gguf", "in GGUF, which is llama.cpp's"};
constexpr ModelFormat kModelFormats[] = {
    kGguf,
    {"", ".onnx", "in ONNX, which is ONNX Runtime's"},
    {"", ".ort", "in ONNX Runtime's own format"},
    {"openvino_", ".xml", "in OpenVINO's format"},
    {"", ".tflite", "in TensorFlow Lite's format"},
    {"", ".mlmodel", "in Core ML's format"},
};

bool is_named(const ModelFormat& format, std::string_view name) {
  return name.starts_with(format.begins) && name.ends_with(format.ends);
}

const ModelFormat* format_of(std::string_view name) {
  const auto found = std::find_if(std::begin(kModelFormats), std::end(kModelFormats),
                                  [&](const ModelFormat& format) { return is_named(format, name); });
  return found == std::end(kModelFormats) ? nullptr : found;
}

bool is_of_whisper(const std::string& head) { return head.starts_with("lmgg"); }

// By its content, which decides, and then by its name; "" for a file that may be read, or is unknown.
std::string foreign_model_file(const std::string& path) {
  const std::string head = head_of(path);
  const ModelFormat* format = head.starts_with("GGUF") ? &kGguf
                              : is_of_whisper(head)    ? nullptr
                                                       : format_of(last_part(path));
  return format ? "a model " + std::string(format->what) + kInstead : "";
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<FolderEntry> entries;
  std::vector<std::string> files;
  list_folder(folder, entries);
  for (const FolderEntry& entry : entries)
    if (entry.kind == FileKind::regular) files.push_back(path_in(folder, entry.name));
  return files;
}

bool holds_our_weights(const std::vector<FolderEntry>& entries) {
  return std::any_of(entries.begin(), entries.end(), [](const FolderEntry& e) {
    return e.name.ends_with(".safetensors") || e.name.ends_with(".safetensors.index.json") ||
           e.name.starts_with("pytorch_model");
  });
}

// The library reads these, whatever lies beside them.
bool is_of_ctranslate2(const std::vector<FolderEntry>& entries) {
  const auto holds = [&](std::string_view part) {
    return std::any_of(entries.begin(), entries.end(), [&](const FolderEntry& e) { return e.name.starts_with(part); });
  };
  return holds("model.bin") && (holds("shared_vocabulary.") || holds("source_vocabulary.") || holds("vocabulary."));
}

std::string foreign_directory(const std::string& path) {
  std::vector<FolderEntry> entries;
  if (!list_folder(path, entries) || holds_our_weights(entries) || is_of_ctranslate2(entries)) return "";
  const std::vector<std::string> files = files_in(path);
  if (std::any_of(files.begin(), files.end(), [](const std::string& file) { return is_of_whisper(head_of(file)); }))
    return "";
  for (const std::string& folder : {path, path_in(path, "onnx")})
    for (const std::string& file : files_in(folder))
      if (std::string foreign = foreign_model_file(file); !foreign.empty())
        return tools::other_program_in(path) == tools::OtherProgram::none ? foreign : "";
  return "";
}

// A package of Argos Translate, whose model lies in a folder.
bool is_package(const std::string& path) {
  return file_exists(path_in(path, "metadata.json")) && file_exists(path_in(path, "model/model.bin"));
}

bool holds_model(const std::string& path) {
  return file_exists(path_in(path, "config.json")) || file_exists(path_in(path, "modules.json"));
}

// The first folder in this one that holds a model; "" if there is none.
std::string model_within(const std::string& path) {
  std::vector<FolderEntry> entries;
  list_folder(path, entries);
  for (const FolderEntry& entry : entries) {
    const std::string inner = path_in(path, entry.name);
    if (!entry.name.starts_with('.') && directory_exists(inner) && holds_model(inner)) return inner;
  }
  return "";
}

// Folders around models: with other things beside them, or those of Hugging Face's cache.
std::string folder_around(const std::string& path) {
  if (holds_model(path)) return "";
  std::string inner = model_within(path);
  if (inner.empty()) inner = model_within(path_in(path, "snapshots"));
  return inner.empty() ? "" : "a folder around a model (it has no config.json); name the model: " + inner;
}

// "model" for "model/weights.bin"; "." if it has no folder.
std::string folder_name(const std::string& path) {
  const std::string folder = folder_of(path);
  return folder.empty() ? "." : folder;
}

std::string foreign_weights(const std::string& path) {
  if (const std::string foreign = foreign_model_file(path); !foreign.empty()) return foreign;
  if (tools::other_program_in(path) != tools::OtherProgram::none) return "";
  const std::string folder = folder_name(path);
  if (file_exists(path_in(folder, "config.json"))) return "a file of a model; name the directory: --model " + folder;
  return "a file, and a model is a directory (config.json, tokenizer, model.safetensors): lapilli models lists such, "
         "lapilli fetch OWNER/NAME gets one";
}

}  // namespace

std::string foreign_model(const std::string& path) {
  if (directory_exists(path)) {
    if (is_package(path)) return "";
    const std::string foreign = foreign_directory(path);
    return foreign.empty() ? folder_around(path) : foreign;
  }
  return file_exists(path) ? foreign_weights(path) : "";
}

}  // namespace lapilli::cli
