#include "formats/foreign_model.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/path.hpp"
#include "formats/doors/door.hpp"
#include "formats/hf_config.hpp"
#include "formats/quantization.hpp"
#include "formats/quote.hpp"

namespace lapilli {

namespace {

// ---- by names of files and by JSON files ----------------------------------------------------------------------------

bool has_weights(const Files& files) {
  for (const std::string name : {"model.safetensors", "pytorch_model.bin"})
    if ((files / name).there() || (files / (name + ".index.json")).there()) return true;
  return false;
}

// The first file of the directory with this start and this ending; empty if there is none, or if the files are the
// host's, who gives no list of them.
std::string file_like(const Files& files, std::string_view start, std::string_view ending) {
  if (!files.are_there()) return {};
  for (const std::string& name : names_in(files.directory()))
    if (name.starts_with(start) && name.ends_with(ending)) return name;
  return {};
}

bool is_gguf(const FileName& file) {
  return file_kind(file.path()) == FileKind::regular && doors::first_bytes(file, 4) == "GGUF";
}

// The file in GGUF that the directory holds, or that is given in its place; empty if there is none. Content decides,
// and then the name.
std::string gguf_file(const Files& files) {
  if (!files.on_disk() || files.directory().empty()) return {};
  if (is_gguf(files.directory())) return files.directory();
  for (const std::string& name : names_in(files.directory()))
    if (is_gguf(files / name)) return name;
  return file_like(files, "", ".gguf");
}

// The text of a file, which may be missing or damaged.
std::string text_in(const FileName& file, const char* key) {
  if (!file.there()) return {};
  const auto json = read_json_file(file);
  if (!json) return {};
  const auto text = get_string({*json, file.path()}, key, "");
  return text ? *text : std::string();
}

Failure adapter(const Files& files) {
  const std::string base = text_in(files / "adapter_config.json", "base_model_name_or_path");
  return fail(
      ErrorCode::unsupported,
      "%s holds an adapter (LoRA) of %s, which is a change to a model and no model: load that model, or one into "
      "which the adapter is merged (merge_and_unload() of peft, then save_pretrained())",
      files, base.empty() ? "a model that it does not name" : quote_name(base, 120).c_str());
}

Failure gguf(const Files& files, const std::string& name) {
  return fail(
      ErrorCode::unsupported,
      "%s holds its weights as GGUF (%s), which is not read; get the model that it was made from, in safetensors, "
      "and give --dtype, or pack it with \"lapilli pack\"",
      files, quote_name(name, 80));
}

Failure consolidated(const Files& files, const std::string& name) {
  return fail(
      ErrorCode::unsupported,
      "%s holds %s and params.json, the form of the publisher's own program, which is not read; get the directory "
      "in the form of Transformers (config.json and model.safetensors), which has \"-hf\" in its name or lies "
      "beside these files",
      files, quote_name(name, 80));
}

// Files of older quantizers lie beside a config.json that does not mention them.
Status check_quantizer(const Files& files) {
  if (!(files / "quantize_config.json").there()) return {};
  return quantized_by(files / "quantize_config.json",
                      text_in(files / "quantize_config.json", "quant_method") == "awq" ? "awq" : "gptq");
}

// ---- by tensors -----------------------------------------------------------------------------------------------------

// A form by the endings of tensors' names, all of which some tensor has. The first form that fits counts.
struct TensorForm {
  const char* method;
  std::string_view endings[2];
};
constexpr TensorForm kTensorForms[] = {{"gptq", {".qweight", ".g_idx"}},
                                       {"awq", {".qweight", ".qzeros"}},
                                       {"bitsandbytes", {".absmax", ""}},
                                       {"bitsandbytes", {".SCB", ""}},
                                       {"compressed-tensors", {".weight_packed", ".weight_scale"}},
                                       {"mlx", {".scales", ".biases"}}};

bool any_ends(const Checkpoint& weights, std::string_view ending) {
  return std::ranges::any_of(weights.tensors(), [&](const StoredTensor& t) { return t.name.ends_with(ending); });
}

bool any_is(const Checkpoint& weights, StoredType type) {
  return std::ranges::any_of(weights.tensors(), [&](const StoredTensor& t) { return t.type == type; });
}

}  // namespace

Status check_form(const Files& files) {
  const bool weights = has_weights(files);
  if (!weights && (files / "adapter_config.json").there()) return adapter(files);
  if (!weights)
    if (const auto name = gguf_file(files); !name.empty()) return gguf(files, name);
  if (!(files / "config.json").there())
    if (const auto name = file_like(files, "consolidated.", ""); !name.empty()) return consolidated(files, name);
  return weights ? check_quantizer(files) : Status();
}

Status check_tensors(const Checkpoint& weights, const Files& files) {
  const FileName where(files.c_str());
  for (const TensorForm& form : kTensorForms)
    if (any_ends(weights, form.endings[0]) && any_ends(weights, form.endings[1]))
      return quantized_by(where, form.method);
  if (any_is(weights, StoredType::f8_e4m3) || any_is(weights, StoredType::f8_e5m2)) return quantized_by(where, "fp8");
  return any_ends(weights, ".lora_A.weight") ? Status(adapter(files)) : Status();
}

}  // namespace lapilli
