// The tiny models of tests/data: their directories, their config.json, and what the families read in it.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "formats/hf_config.hpp"
#include "model/families/family.hpp"

namespace lapilli::model {

inline std::string directory(const std::string& name) { return LAPILLI_TEST_DATA "/models/" + name + "/model"; }

// An empty object, after a failure, if it is not there.
inline nlohmann::json published(const std::string& name) {
  auto json = read_json_file(directory(name) + "/config.json");
  EXPECT_TRUE(json.ok()) << json.error().message;
  return json.ok() ? *json : nlohmann::json::object();
}

inline Result<Config> parse(const nlohmann::json& json, const std::string& family) {
  const Family* found = find_family(family);
  if (!found) return fail(ErrorCode::unsupported, "no such family");
  return found->config(json, "config.json");
}

// By its model_type.
inline Result<Config> parse(const nlohmann::json& json) { return parse(json, json.value("model_type", "")); }

}  // namespace lapilli::model
