#include "runtime/plan/json_blob.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/json_depth.hpp"

namespace lapilli {

using Json = nlohmann::json;

// Driver strings may contain arbitrary bytes.
Blob json_blob(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Json json_of(const Blob& blob) {
  const std::string text(reinterpret_cast<const char*>(blob.data()), blob.size());
  if (text.empty() || json_nests_too_deep(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

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
