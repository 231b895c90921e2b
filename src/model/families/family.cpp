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
}  // namespace

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
