// The parameters of a network of Marian, from whichever file they come.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli::doors::marian {

struct Parameter {
  StoredType type = StoredType::f32;  // f32, f16 or i8
  std::vector<uint64_t> shape;        // [depth, columns] of a layer, [ids, width] of a table
  FileRange range;                    // the numbers
  bool turned = false;                // they lie as [columns, depth], whatever the shape says
  float divisor = 1;                  // i8: of all numbers
};

struct Parameters {
  std::map<std::string, Parameter> all;
  std::string settings;  // "special:model.yml", which says what network it is

  [[nodiscard]] const Parameter* find(const std::string& name) const {
    const auto it = all.find(name);
    return it == all.end() ? nullptr : &it->second;
  }
};

// Marian's own binary file: the name with these first 32 bytes, and its content. Of "model.*.bin" the version is
// enough, so that read_bin says what is wrong with the others.
bool is_bin(const std::string& file, const std::string& start);
Result<Parameters> read_bin(const File& file);

}  // namespace lapilli::doors::marian
