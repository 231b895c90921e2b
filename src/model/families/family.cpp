#include "model/families/family.hpp"

#include <cstring>

namespace lapilli::model {

#define FAMILY(name) extern const Family family_##name;
#include "model/families/list.inc"
#undef FAMILY

namespace {
const Family* const families[] = {
#define FAMILY(name) &family_##name,
#include "model/families/list.inc"
#undef FAMILY
};

// Families of 2018 to 2020, whose files may lack the model type and the class: how names of classes and tensors begin,
// and a tensor of the head that scores ids.
struct OldNames {
  std::string_view classes, tensors, type, scores;
};
constexpr OldNames kOldNames[] = {
    {"Bert", "bert.", "bert", "cls.predictions.transform.dense.weight"},
    {"Roberta", "roberta.", "roberta", "lm_head.dense.weight"},
    {"XLMRoberta", "", "xlm-roberta", "lm_head.dense.weight"},
    {"Camembert", "", "camembert", "lm_head.dense.weight"},
    {"DistilBert", "distilbert.", "distilbert", "vocab_transform.weight"},
    {"Albert", "albert.", "albert", "predictions.dense.weight"},
    {"Electra", "electra.", "electra", "generator_predictions.dense.weight"},
    {"DebertaV2", "", "deberta-v2", "cls.predictions.transform.dense.weight"},
    {"XLNet", "", "xlnet", ""},
    {"GPT2", "", "gpt2", ""},
    {"OpenAIGPT", "", "openai-gpt", ""},
};

template <class Matches>
std::string type_that(const Matches& matches) {
  for (const OldNames& names : kOldNames)
    if (matches(names)) return std::string(names.type);
  return {};
}

}  // namespace

std::string type_of_class(std::string_view name) {
  return type_that([&](const OldNames& n) { return name.starts_with(n.classes); });
}

std::string type_of_tensor(std::string_view name) {
  return type_that([&](const OldNames& n) { return !n.tensors.empty() && name.starts_with(n.tensors); });
}

std::string class_of_tensor(std::string_view type, std::string_view name) {
  for (const OldNames& n : kOldNames)
    if (n.type == type && n.scores == name) return std::string(n.classes) + "ForMaskedLM";
  return {};
}

const Family* find_family(const std::string& model_type) {
  for (const Family* f : families)
    if (model_type == f->model_type) return f;
  return nullptr;
}

std::string family_list() {
  std::string text;
  for (const Family* f : families) text += (text.empty() ? "" : ", ") + std::string(f->model_type);
  return text;
}

}  // namespace lapilli::model
