#include "generate/published.hpp"

#include <nlohmann/json.hpp>

#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/patches.hpp"
#include "model/shape.hpp"

namespace lapilli {

Result<Published> read_published(const Files& files, const PictureSize& pictures) {
  if (!files.are_there())
    return fail(ErrorCode::not_found,
                "%s is not a directory; give the directory of a published model (with config.json)", files.c_str());
  const FileName path = files / "config.json";
  LAPILLI_TRY(const auto json, read_json_file(path));
  LAPILLI_TRY(const auto type, get_string({json, path.path()}, "model_type"));
  const model::Family* family = model::find_family(type);
  if (!family)
    return fail(ErrorCode::unsupported, "%s: model_type \"%s\" is not supported; this version knows: %s", path.c_str(),
                type.c_str(), model::family_list().c_str());
  LAPILLI_TRY(auto config, family->config(json, path.path()));
  if (pictures.height) LAPILLI_CHECK(model::set_picture_size(config, pictures.height, pictures.width));
  LAPILLI_TRY(auto checkpoint, Checkpoint::open(files));
  auto network = model::bind_weights(config, family->names(config), checkpoint);
  if (!network) return std::move(network).error().in(files.c_str());
  return Published{std::move(network).value(), std::move(checkpoint)};
}

Result<model::Network> read_network(const std::string& directory_or_shape) {
  if (directory_or_shape.starts_with("shape:")) {
    LAPILLI_TRY(const auto config, model::parse_shape(directory_or_shape.substr(6)));
    return model::random_network(config, 1);
  }
  LAPILLI_TRY(auto published, read_published(directory_or_shape));
  for (auto& spec : published.network.weights) spec.parts.clear();
  return std::move(published.network);
}

}  // namespace lapilli
