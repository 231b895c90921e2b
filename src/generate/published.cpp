#include "generate/published.hpp"

#include <nlohmann/json.hpp>

#include "formats/doors/door.hpp"
#include "formats/foreign_model.hpp"
#include "formats/hf_config.hpp"
#include "formats/quantization.hpp"
#include "formats/quote.hpp"
#include "formats/sentence_modules.hpp"
#include "generate/encoders/judging.hpp"
#include "generate/encoders/sentence_head.hpp"
#include "model/families/family.hpp"
#include "model/families/parse.hpp"
#include "model/patches.hpp"
#include "model/shape.hpp"
#include "model/weight_formats.hpp"

namespace lapilli {

Result<StoredWeights> open_weights(const Files& files, const JsonView& config) {
  LAPILLI_TRY(const auto quantization, read_quantization(config));
  LAPILLI_TRY(auto checkpoint, Checkpoint::open(files));
  if (!quantization) {
    LAPILLI_CHECK(check_tensors(checkpoint, files));
    return StoredWeights{std::move(checkpoint), std::nullopt};
  }
  const auto format = parse_format(quantization->dtype);
  if (!format || !*format || **format == WeightFormat::fp32)
    return fail(ErrorCode::invalid_data,
                "%s: quantization_config: \"dtype\" is %s, which is no format of packed weights", config.where,
                quote_name(quantization->dtype));
  for (const auto& [name, of] : quantization->tied)
    if (!checkpoint.add_name(name, of))
      return fail(ErrorCode::invalid_data, "%s: quantization_config: %s cannot be tied to tensor %s", config.where,
                  quote_name(name), quote_name(of));
  return StoredWeights{std::move(checkpoint), *format};
}

namespace {

// The family by the model type. Code of the publisher's own (auto_map) does not matter where the type is known.
Result<const model::Family*> known_family(const JsonView& v) {
  LAPILLI_TRY(const auto type, get_string(v, "model_type"));
  if (const model::Family* family = model::find_family(type)) return family;
  const auto own = model::check_own_code(v);
  return fail(ErrorCode::unsupported, "%s: model_type %s is not supported%s; this version knows: %s", v.where,
              quote_name(type, 60),
              own ? "" : ", and its network is code of its publisher (auto_map), which is not run",
              model::family_list());
}

// Adds the model type and the class as far as the weights tell them.
void complete(nlohmann::json& json, std::string type, const Checkpoint& weights) {
  for (const StoredTensor& tensor : weights.tensors())
    if (type.empty()) type = model::type_of_tensor(tensor.name);
  if (!type.empty()) json["model_type"] = type;
  if (json.contains("architectures")) return;
  for (const StoredTensor& tensor : weights.tensors())
    if (const std::string name = model::class_of_tensor(type, tensor.name); !name.empty())
      json["architectures"] = nlohmann::json::array({name});
}

}  // namespace

Result<nlohmann::json> read_config(const Files& files) {
  const FileName path = files / "config.json";
  LAPILLI_TRY(auto json, read_json_file(path));
  const JsonView v{json, path.path()};
  if (has(v, "model_type") && has(v, "architectures")) return json;
  auto type = get_string(v, "model_type", model::type_of_class(model::architecture(v)));
  const auto weights = Checkpoint::open(files);
  if (type && weights) complete(json, std::move(type).value(), *weights);
  return json;
}

Result<model::Network> bind_network(const model::Config& config, const model::Names& names,
                                    const StoredWeights& weights) {
  LAPILLI_TRY(auto network, model::bind_weights(config, names, weights.checkpoint, weights.packed));
  // Matrices stored as numbers beside packed words stay as they are.
  if (weights.packed && !packed::has_scales(*weights.packed))
    LAPILLI_CHECK(model::set_format(network, *weights.packed));
  return network;
}

Result<Files> files_of_network(const Files& files) {
  LAPILLI_TRY(const auto modules, read_sentence_modules(files));
  return files.below(modules ? modules->transformer : "");
}

Result<Published> read_published(const Files& given, const PictureSize& pictures) {
  LAPILLI_TRY(const auto entered, doors::enter(given));
  const Files& files = entered.files;
  if (!files.are_there())
    return fail(ErrorCode::not_found,
                "%s is not a directory; give the directory of a published model (with config.json)", files);
  LAPILLI_TRY(const auto modules, read_sentence_modules(files));
  const Files network_files = files.below(modules ? modules->transformer : "");
  LAPILLI_CHECK(check_form(network_files));
  const FileName path = network_files / "config.json";
  LAPILLI_TRY(const auto json, read_config(network_files));
  LAPILLI_CHECK(read_quantization({json, path.path()}));
  LAPILLI_TRY(const auto* family, known_family({json, path.path()}));
  LAPILLI_TRY(auto config, family->config(json, path.path()));
  if (pictures.height) LAPILLI_CHECK(model::set_picture_size(config, pictures.height, pictures.width));
  auto names = family->names(config);
  const Judge* judge = modules ? nullptr : find_judge(config.family, files.directory());
  if (judge) add_judging_head(config, names);
  if (auto added = add_sentence_head(modules, config, names); !added) return std::move(added).error().in(files.c_str());
  LAPILLI_TRY(auto weights, open_weights(network_files, {json, path.path()}));
  if (modules && !config.kind().decodes) LAPILLI_CHECK(join_sentence_weights(files, *modules, weights.checkpoint));
  if (judge) LAPILLI_CHECK(join_judging_weights(network_files, config, names, weights.checkpoint));
  auto network = bind_network(config, names, weights);
  if (!network) return std::move(network).error().in(files.c_str());
  return Published{std::move(network).value(), std::move(weights.checkpoint), weights.packed, network_files};
}

Result<model::Network> read_network(const std::string& directory_or_shape, WeightFormat format, KvFormat kv_format) {
  if (directory_or_shape.starts_with("shape:")) {
    LAPILLI_TRY(const auto config, model::parse_shape(directory_or_shape.substr(6)));
    auto network = model::random_network(config, 1, format);
    model::set_kv_format(network, kv_format);
    return network;
  }
  LAPILLI_TRY(auto published, read_published(directory_or_shape));
  LAPILLI_CHECK(model::set_format(published.network, format));
  model::set_kv_format(published.network, kv_format);
  for (auto& spec : published.network.weights) spec.parts.clear();
  return std::move(published.network);
}

}  // namespace lapilli
