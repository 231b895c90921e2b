#include "runtime/findings.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"

namespace lapilli {

namespace {

using Json = nlohmann::json;

const Json& array_at(const Json& object, const char* key) {
  static const Json none = Json::array();
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_array() ? *found : none;
}

// [shader, constants...]
bool read_kernel(const Json& entry, PlannedPipeline& kernel) {
  if (!entry.is_array() || entry.empty()) return false;
  for (const Json& number : entry)
    if (!number.is_number_unsigned() || number.get<uint64_t>() > UINT32_MAX) return false;
  const auto numbers = entry.get<std::vector<uint32_t>>();
  if (numbers[0] >= static_cast<uint32_t>(ShaderId::count)) return false;
  kernel = {static_cast<ShaderId>(numbers[0]), {numbers.begin() + 1, numbers.end()}};
  return true;
}

// [op, variant, problem, floor]
bool read_disagreement(const Json& entry, Disagreement& d) {
  if (!entry.is_array() || entry.size() != 4 || !entry[3].is_boolean()) return false;
  for (size_t i = 0; i < 3; ++i)
    if (!entry[i].is_string()) return false;
  d = {entry[0].get<std::string>(), entry[1].get<std::string>(), entry[2].get<std::string>(), entry[3].get<bool>()};
  return true;
}

// [index in `tested`...]
Json indices_of(const std::vector<PlannedPipeline>& needed, const std::vector<PlannedPipeline>& tested) {
  Json indices = Json::array();
  for (const PlannedPipeline& p : needed)
    if (const auto at = std::ranges::find(tested, p); at != tested.end()) indices.push_back(at - tested.begin());
  return indices;
}

bool read_needed(const Json& indices, const std::vector<PlannedPipeline>& tested,
                 std::vector<PlannedPipeline>& needed) {
  if (!indices.is_array() || indices.size() > tested.size()) return false;
  for (const Json& index : indices) {
    if (!index.is_number_unsigned() || index.get<uint64_t>() >= tested.size()) return false;
    needed.push_back(tested[index.get<size_t>()]);
  }
  return true;
}

bool read_network(const std::string& text, uint64_t& network) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, network, 16);
  return error == std::errc() && at == end;
}

}  // namespace

Blob blob_of(const Findings& findings) {
  Json json = {{"tested", Json::array()}, {"unproven", findings.unproven}, {"disagreements", Json::array()}};
  for (const PlannedPipeline& p : findings.tested) {
    Json& entry = json["tested"].emplace_back(Json::array({static_cast<uint32_t>(p.shader)}));
    for (const uint32_t c : p.constants) entry.push_back(c);
  }
  for (const Disagreement& d : findings.disagreements)
    json["disagreements"].push_back(Json::array({d.op, d.variant, d.problem, d.floor}));
  if (findings.no_groups) json["no_groups"] = *findings.no_groups;
  for (const auto& [network, needed] : findings.needed)
    json["needed"][format("%llx", static_cast<unsigned long long>(network))] = indices_of(needed, findings.tested);
  // What drivers say may be anything.
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Findings findings_of(const Blob& blob) {
  const std::string text(reinterpret_cast<const char*>(blob.data()), blob.size());
  if (text.empty() || json_nests_too_deep(text)) return {};
  const Json json = Json::parse(text, nullptr, false);
  Findings findings;
  for (const Json& entry : array_at(json, "tested"))
    if (!read_kernel(entry, findings.tested.emplace_back())) return {};
  for (const Json& entry : array_at(json, "unproven"))
    if (entry.is_string()) findings.unproven.push_back(entry.get<std::string>());
  for (const Json& entry : array_at(json, "disagreements"))
    if (!read_disagreement(entry, findings.disagreements.emplace_back())) return {};
  if (json.is_object() && json.contains("no_groups")) {
    if (!json["no_groups"].is_string()) return {};
    findings.no_groups = json["no_groups"].get<std::string>();
  }
  if (json.is_object() && json.contains("needed"))
    for (const auto& [name, indices] : json["needed"].items()) {
      uint64_t network = 0;
      if (!read_network(name, network) || !read_needed(indices, findings.tested, findings.needed[network])) return {};
    }
  return findings;
}

}  // namespace lapilli
