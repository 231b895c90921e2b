// Marian's settings: the part of YAML that it writes, a map of values and lists of values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::doors::marian {

class Settings {
 public:
  // Fails for what is no such map, and for anchors. `where` names the text in messages.
  static Result<Settings> parse(std::string_view text, const std::string& where);

  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }
  // A value as text; the first one of a list; `missing` where there is none.
  [[nodiscard]] std::string text(const std::string& key, const std::string& missing = {}) const;
  [[nodiscard]] std::vector<std::string> list(const std::string& key) const;
  [[nodiscard]] bool flag(const std::string& key) const { return text(key) == "true"; }
  // A whole number from 0 to `most`; `most` + 1 for anything else, which the caller refuses.
  [[nodiscard]] uint64_t number(const std::string& key, uint64_t missing, uint64_t most) const;

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

}  // namespace lapilli::doors::marian
