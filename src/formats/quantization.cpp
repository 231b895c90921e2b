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
  if (has(view, "load_in_8bit") || has(view, "load_in_4bit")) return std::string("bitsandbytes");
  return std::string();
}

Failure foreign_method(const JsonView& config, const std::string& method) {
  return fail(ErrorCode::unsupported,
              "%s: these weights were quantized by %s, whose formats are not read; get the model as it was published "
              "before that, in fp32, fp16 or bf16, and give --dtype, or pack it with \"lapilli pack\"",
              config.where, method.empty() ? "an unnamed tool" : quote_name(method).c_str());
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

Result<std::optional<Quantization>> read_quantization(const JsonView& config) {
  if (!has(config, kKey)) return std::optional<Quantization>();
  const JsonView view{config.json.at(kKey), config.where + ": " + kKey};
  if (!view.json.is_object()) return fail(ErrorCode::invalid_data, "%s is not an object", view.where);
  LAPILLI_TRY(const auto method, method_of(view));
  if (method != kMethod) return foreign_method(config, method);
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
