#include "runtime/check/findings.hpp"

#include <nlohmann/json.hpp>

#include "runtime/plan/json_blob.hpp"

namespace lapilli {

namespace {

using Json = nlohmann::json;

const Json& array_at(const Json& object, const char* key) {
  static const Json none = Json::array();
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_array() ? *found : none;
}

// [op, variant, problem, floor]
bool read_disagreement(const Json& entry, Disagreement& d) {
  if (!entry.is_array() || entry.size() != 4 || !entry[3].is_boolean()) return false;
  for (size_t i = 0; i < 3; ++i)
    if (!entry[i].is_string()) return false;
  d = {entry[0].get<std::string>(), entry[1].get<std::string>(), entry[2].get<std::string>(), entry[3].get<bool>()};
  return true;
}

}  // namespace

Blob blob_of(const Findings& findings) {
  Json json = {{"tested", Json::array()}, {"unproven", findings.unproven}, {"disagreements", Json::array()}};
  for (const PlannedPipeline& p : findings.tested) json["tested"].push_back(kernel_json(p));
  for (const Disagreement& d : findings.disagreements)
    json["disagreements"].push_back(Json::array({d.op, d.variant, d.problem, d.floor}));
  if (findings.no_groups) json["no_groups"] = *findings.no_groups;
  return json_blob(json);
}

Findings findings_of(const Blob& blob) {
  const Json json = json_of(blob);
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
  return findings;
}

}  // namespace lapilli
