// A directory of CTranslate2, for the readers of programs that keep one in their packages.
#pragma once

#include "formats/doors/ctranslate2/mappings.hpp"
#include "formats/doors/door.hpp"

namespace lapilli::doors::ct2 {

struct Directory {
  Origin origin;
  Fields fields;
  Beside beside;
  std::vector<MadeTensor> tensors;
  bool scaled = false;  // matrices in whole numbers
};

// Errors name the file, and all reasons against it.
Result<Directory> read_directory(const Files& files);

// config.json, with how its matrices are stored.
std::string config_text(const Directory& directory);
std::string json_text(const nlohmann::json& json);

}  // namespace lapilli::doors::ct2
