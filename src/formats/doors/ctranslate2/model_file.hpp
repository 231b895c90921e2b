// CTranslate2's model.bin, binary versions 1 to 6: a header, variables by name, and second names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/checkpoint.hpp"

namespace lapilli::doors::ct2 {

struct Variable {
  StoredType type = StoredType::f32;  // f32, i8, i16, i32, f16 or bf16
  std::vector<uint64_t> shape;        // empty: one number
  FileRange range;                    // of as many bytes as type and shape have
};

struct ModelFile {
  uint32_t version = 0, revision = 1;
  std::string spec;  // "TransformerSpec"; empty in version 1, which has no other
  std::map<std::string, Variable> variables;
  std::map<std::string, std::string> aliases;  // second name to first

  // Also by a second name; null if there is none.
  [[nodiscard]] const Variable* find(const std::string& name) const;
  // True if both names are of one variable.
  [[nodiscard]] bool same(const std::string& a, const std::string& b) const;
  // A setting; nothing if there is none or if it is no single number.
  [[nodiscard]] std::optional<double> number(const std::string& name) const;
};

// One number as it is stored.
double value_of(StoredType type, const std::byte* at);

// True for the first bytes of a file that may be one.
bool looks_like_model(const std::string& start);
// Every size is held against the file's before it is believed. Errors name the file.
Result<ModelFile> read_model_file(const FileName& name);

}  // namespace lapilli::doors::ct2
