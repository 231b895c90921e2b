#include "base/counts.hpp"

#include "base/format.hpp"

namespace lapilli {

std::string grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string counted(uint64_t number, std::string_view thing) {
  return grouped(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

std::string parameters_text(uint64_t parameters) {
  if (parameters < 1'000'000) return counted(parameters, "parameter");
  return format("%.1f million parameters", static_cast<double>(parameters) / 1e6);
}

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kKiB = 1 << 10, kMiB = 1 << 20;
  if (bytes < kMiB) return format("%u KiB", static_cast<unsigned>((bytes + kKiB - 1) / kKiB));
  return format("%.1f MiB", static_cast<double>(bytes) / kMiB);
}

}  // namespace lapilli
