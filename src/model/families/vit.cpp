// ViT and DeiT without a decoder: an encoder of pictures, with a pooler or a classification head.
#include <nlohmann/json.hpp>

#include "formats/quote.hpp"
#include "model/families/vit_group.hpp"

namespace lapilli::model {

extern const Family family_vit, family_deit;

namespace {

Status read_head(const JsonView& v, const std::string& type, HeadConfig& head) {
  const std::string name = architecture(v);
  const std::string model = type == "deit" ? "DeiT" : "ViT";
  head.every_row = false;
  head.distilled = name == "DeiTForImageClassificationWithTeacher" && type == "deit";
  if (head.distilled || name == model + "ForImageClassification") {
    head.kind = HeadKind::classes;
    LAPILLI_TRY(head.columns, count_labels(v));
    return {};
  }
  if (!name.empty() && name != model + "Model")
    return fail(ErrorCode::unsupported, "%s: %s is not supported; %sModel and %sForImageClassification are", v.where,
                quote_name(name, 60), model, model);
  head.kind = HeadKind::vectors;
  LAPILLI_TRY(head.pooled, get_size(v, "pooler_output_size", kMaxModelWidth, 0));
  StackConfig pooler;
  LAPILLI_CHECK(read_activation(v, "pooler_act", "tanh", pooler));
  head.activation = pooler.activation;
  return {};
}

Result<Config> read_vit(const nlohmann::json& json, const std::string& where) {
  const JsonView v{json, where};
  Config c;
  LAPILLI_CHECK(read_picture_encoder(v, c));
  c.family = c.encoder.type;
  c.tokenizer = "none";
  HeadConfig& head = c.heads.front();
  LAPILLI_CHECK(read_head(v, c.family, head));
  if (head.kind == HeadKind::vectors && head.pooled == 0) head.pooled = c.encoder.d_model;
  return c;
}

Names vit_names(const Config& c) {
  Names n;
  n.base_prefix = c.family + ".";
  n.encoder = picture_encoder_names(c, n.base_prefix);
  const bool distilled = c.heads.front().distilled;
  n.heads = {{n.base_prefix + "pooler.dense", distilled ? "cls_classifier" : "classifier", "distillation_classifier"}};
  return n;
}

}  // namespace

const Family family_vit = {"vit", "ViT, classification of pictures", read_vit, vit_names};
const Family family_deit = {"deit", "DeiT, classification of pictures", read_vit, vit_names};

}  // namespace lapilli::model
