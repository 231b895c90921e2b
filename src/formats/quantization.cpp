#include "formats/quantization.hpp"

#include <nlohmann/json.hpp>

#include "formats/quote.hpp"

namespace lapilli {

namespace {

constexpr const char* kKey = "quantization_config";
constexpr const char* kMethod = "lapilli";
constexpr uint32_t kVersion = 1;  // of the written format; incremented when its meaning changes

// The tool's name; older files of bitsandbytes have none.
Result<std::string> method_of(const JsonView& view) {
  if (has(view, "quant_method")) return get_string(view, "quant_method");
  LAPILLI_TRY(const bool bytes, get_bool(view, "load_in_8bit", false));
  LAPILLI_TRY(const bool nibbles, get_bool(view, "load_in_4bit", false));
  return std::string(bytes || nibbles ? "bitsandbytes" : "");
}

// Tools by the names that files have for them.
struct KnownMethod {
  std::string_view method, name;
};
constexpr KnownMethod kKnownMethods[] = {{"gptq", "GPTQ"},
                                         {"awq", "AWQ"},
                                         {"fp8", "FP8"},
                                         {"fbgemm_fp8", "FBGEMM (FP8)"},
                                         {"mxfp4", "MXFP4"},
                                         {"bitsandbytes", "bitsandbytes"},
                                         {"compressed-tensors", "compressed-tensors"},
                                         {"mlx", "MLX"}};

std::string name_of(const std::string& method) {
  for (const KnownMethod& known : kKnownMethods)
    if (known.method == method) return std::string(known.name);
  return method.empty() ? "an unnamed tool" : quote_name(method);
}

Failure foreign_method(const std::string& where, const std::string& method) {
  return fail(ErrorCode::unsupported,
              "%s: these weights were quantized by %s, whose formats are not read; get the model as it was published "
              "before that, in fp32, fp16 or bf16, and give --dtype, or pack it with \"lapilli pack\"",
              where, name_of(method));
}

// MLX writes its settings twice, the second time without a name, and as the only one under this key.
bool is_mlx(const JsonView& config) {
  return has(config, "quantization") && config.json.at("quantization").is_object();
}

Result<std::vector<std::pair<std::string, std::string>>> read_tied(const JsonView& view) {
  std::vector<std::pair<std::string, std::string>> tied;
  if (!has(view, "tied")) return tied;
  const auto& names = view.json.at("tied");
  if (!names.is_object()) return fail(ErrorCode::invalid_data, "%s: \"tied\" must be an object of names", view.where);
  for (const auto& [name, of] : names.items()) {
    if (!of.is_string())
      return fail(ErrorCode::invalid_data, "%s: what %s is tied to is not a name", view.where, quote_name(name));
    tied.emplace_back(name, of.get<std::string>());
  }
  return tied;
}

}  // namespace

Status quantized_by(const FileName& where, const std::string& method) { return foreign_method(where.path(), method); }

Result<std::optional<Quantization>> read_quantization(const JsonView& config) {
  if (is_mlx(config)) return foreign_method(config.where, "mlx");
  if (!has(config, kKey)) return std::optional<Quantization>();
  const JsonView view{config.json.at(kKey), config.where + ": " + kKey};
  if (!view.json.is_object()) return fail(ErrorCode::invalid_data, "%s is not an object", view.where);
  LAPILLI_TRY(const auto method, method_of(view));
  if (method != kMethod) return foreign_method(config.where, method);
  LAPILLI_TRY(const uint32_t version, get_u32(view, "version"));
  if (version != kVersion)
    return fail(ErrorCode::unsupported,
                "%s: version %u is not known to this version of Lapilli; pack the model again, or get a newer Lapilli",
                view.where, version);
  Quantization q;
  LAPILLI_TRY(q.dtype, get_string(view, "dtype"));
  LAPILLI_TRY(q.tied, read_tied(view));
  return std::optional(std::move(q));
}

nlohmann::ordered_json quantization_json(const Quantization& quantization) {
  nlohmann::ordered_json json = {{"quant_method", kMethod}, {"version", kVersion}, {"dtype", quantization.dtype}};
  for (const auto& [name, of] : quantization.tied) json["tied"][name] = of;
  return json;
}

}  // namespace lapilli
