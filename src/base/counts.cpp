#include "base/counts.hpp"

#include "base/format.hpp"

namespace lapilli {

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string counted(uint64_t number, std::string_view thing) {
  return grouped(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

std::string parameters_text(uint64_t parameters) {
  if (parameters < 1'000'000) return counted(parameters, "parameter");
  return format("%.1f million parameters", static_cast<double>(parameters) / 1e6);
}

}  // namespace lapilli
