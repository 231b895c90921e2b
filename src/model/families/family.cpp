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

// Families whose files of 2018 to 2020 may lack a model type.
struct OldNames {
  std::string_view classes, tensors, type;
};
constexpr OldNames kOldNames[] = {
    {"Bert", "bert.", "bert"},         {"Roberta", "roberta.", "roberta"},          {"XLMRoberta", "", "xlm-roberta"},
    {"Camembert", "", "camembert"},    {"DistilBert", "distilbert.", "distilbert"}, {"Albert", "albert.", "albert"},
    {"Electra", "electra.", "electra"}};

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
