#include "server/work/model_facts.hpp"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "lapilli/lapilli.h"
#include "server/work/languages.hpp"
#include "tools/tools.hpp"

namespace lapilli::server {

namespace {

using Json = nlohmann::json;

std::vector<std::string> strings(const Json& list) {
  std::vector<std::string> all;
  if (list.is_array())
    for (const Json& one : list)
      if (one.is_string()) all.push_back(one.get<std::string>());
  return all;
}

Json member(const Json& object, const char* name) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && it != object.end() ? *it : Json();
}

ModelFacts facts_of(const Json& told) {
  ModelFacts facts;
  facts.family = told.value("family", "");
  facts.input = told.value("input", "text");
  facts.tasks = strings(member(told, "tasks"));
  facts.sources = strings(member(member(told, "languages"), "source"));
  facts.targets = strings(member(member(told, "languages"), "target"));
  const Json wide = member(member(told, "vectors"), "dimensions");
  if (wide.is_number_unsigned()) facts.dimensions = wide.get<uint32_t>();
  facts.sampling_rate = told.value("sampling_rate", facts.sampling_rate);
  facts.weight_bytes = told.value("device_weight_bytes", uint64_t{0});
  return facts;
}

bool has(const std::vector<std::string>& languages, const std::string& asked) {
  return asked.empty() || asked == "auto" || languages.empty() || !find_language(languages, asked).empty();
}

}  // namespace

bool ModelFacts::does(std::string_view task) const { return std::ranges::find(tasks, task) != tasks.end(); }

ModelFacts read_facts(const std::string& name, const std::string& directory, std::string& error) {
  const tools::Outcome told = tools::inspect({directory, true, false});
  const Json json = told.status == LAPILLI_OK ? Json::parse(told.text, nullptr, false) : Json();
  if (!json.is_object()) {
    error = told.text;
    return {};
  }
  ModelFacts facts = facts_of(json);
  const std::string found = json.value("directory", directory);  // of the bundled model, too
  facts.name = name.empty() ? found.substr(found.find_last_of("/\\") + 1) : name;
  facts.directory = directory;
  facts.created = static_cast<int64_t>(std::time(nullptr));
  return facts;
}

bool translates(const ModelFacts& model, const std::string& from, const std::string& to) {
  return model.does("translate") && model.input == "text" && has(model.sources, from) && has(model.targets, to);
}

}  // namespace lapilli::server
