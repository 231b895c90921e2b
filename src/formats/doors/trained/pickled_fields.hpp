// Settings in a pickle: a dict, an object's fields (argparse's Namespace), or omegaconf's containers around them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/pickle.hpp"

namespace lapilli::doors::trained {

// Owns nothing: the pickle outlives it.
class PickledFields {
 public:
  PickledFields() = default;  // without any field
  PickledFields(const Pickle& pickle, const PickleValue& value);

  // Null: there is none, or it is None. Values of omegaconf come without their nodes.
  [[nodiscard]] const PickleValue* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] PickledFields below(std::string_view key) const;  // without any field where there is no dict
  [[nodiscard]] bool empty() const { return !pickle_; }

  // Values of other kinds count as missing.
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  [[nodiscard]] bool flag(std::string_view key, bool missing) const;  // 0 and 1, too, and texts ("True")
  [[nodiscard]] std::string text(std::string_view key, std::string_view missing = {}) const;

  [[nodiscard]] const Pickle& pickle() const { return *pickle_; }
  [[nodiscard]] const PickleValue& value() const { return value_; }

 private:
  const Pickle* pickle_ = nullptr;
  PickleValue value_;
};

// A value without the containers that omegaconf puts around it.
PickleValue unwrapped(const Pickle& pickle, PickleValue value);

}  // namespace lapilli::doors::trained
