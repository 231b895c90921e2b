#include "runtime/kernel_json.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace lapilli {

using Json = nlohmann::json;

Json kernel_json(const PlannedPipeline& kernel) {
  Json entry = Json::array({static_cast<uint32_t>(kernel.shader)});
  for (const uint32_t c : kernel.constants) entry.push_back(c);
  return entry;
}

bool read_kernel(const Json& entry, PlannedPipeline& kernel) {
  if (!entry.is_array() || entry.empty()) return false;
  for (const Json& number : entry)
    if (!number.is_number_unsigned() || number.get<uint64_t>() > UINT32_MAX) return false;
  const auto numbers = entry.get<std::vector<uint32_t>>();
  if (numbers[0] >= static_cast<uint32_t>(ShaderId::count)) return false;
  kernel = {static_cast<ShaderId>(numbers[0]), {numbers.begin() + 1, numbers.end()}};
  return true;
}

}  // namespace lapilli
