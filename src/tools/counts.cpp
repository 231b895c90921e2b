#include "tools/counts.hpp"

#include "base/format.hpp"
#include "tools/tools.hpp"

namespace lapilli::tools {

std::string with_commas(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string counted(uint64_t value, const std::string& thing) {
  return with_commas(value) + " " + thing + (value == 1 ? "" : "s");
}

std::string parameters_text(uint64_t parameters) {
  if (parameters < 1'000'000) return counted(parameters, "parameter");
  return format("%.1f million parameters", static_cast<double>(parameters) / 1e6);
}

}  // namespace lapilli::tools
