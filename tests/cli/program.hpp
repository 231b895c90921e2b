// The lapilli program under test, and small model directories to try it on.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::test {

namespace fs = std::filesystem;

inline std::string program() { return LAPILLI_BINARY_DIR "/lapilli"; }
inline std::string bundled_model() { return LAPILLI_SOURCE_DIR "/models/en-fr"; }

// No device is found, whatever the machine has.
inline const std::vector<std::string> kNoDriver = {"VK_ICD_FILENAMES=/dev/null", "VK_DRIVER_FILES=/dev/null"};

// Runs of one test program share what is kept between runs, as those of a user do: kernels are tried once, not in each.
inline const std::string& test_cache() {
  static const TempDirectory folder;
  static const std::string path = folder.path();
  return path;
}

inline Spawn lapilli(std::vector<std::string> arguments, const std::string& caches = test_cache()) {
  Spawn spawn;
  spawn.arguments = std::move(arguments);
  spawn.arguments.insert(spawn.arguments.begin(), program());
  // The user's environment must not matter here.
  spawn.environment = {
      "LAPILLI_MODEL",           "LAPILLI_CONFIG",        "XDG_CONFIG_HOME=/nowhere",   "LAPILLI_NO_CACHE",
      "LAPILLI_CACHE=" + caches, "HF_HUB_CACHE=/nowhere", "ARGOS_PACKAGES_DIR=/nowhere"};
  return spawn;
}

inline Outcome translate(std::vector<std::string> arguments, const std::string& input = "") {
  const std::string command[] = {"translate", "--quiet"};
  arguments.insert(arguments.begin(), std::begin(command), std::end(command));
  return run(lapilli(std::move(arguments)), input);
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class TemporaryFolder {
 public:
  fs::path path() const { return directory_.path(); }
  std::string file(const std::string& name, const std::string& content) const {
    return directory_.write(name, content);
  }
  // The bundled model, whose files may then be changed.
  std::string model_copy() const {
    fs::copy(bundled_model(), path() / "model", fs::copy_options::recursive);
    return (path() / "model").string();
  }

 private:
  TempDirectory directory_;
};

inline nlohmann::json read_json(const std::string& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream, nullptr, false);
}

// Results of the reference implementation for the bundled model.
struct Expected {
  std::string text, french;     // beam 4
  std::string ids, french_ids;  // as --ids writes them
  std::string greedy, greedy_ids;
  double score = 0;  // beam 4
};
inline std::string join_ids(const nlohmann::json& ids, size_t skip) {
  std::string text;
  for (size_t i = skip; i < ids.size(); ++i) text += (text.empty() ? "" : " ") + std::to_string(ids[i].get<int>());
  return text;
}
inline const std::vector<Expected>& expected() {
  static const std::vector<Expected> cases = [] {
    std::vector<Expected> list;
    const auto json = read_json(bundled_model() + "/expected.json");
    for (const auto& c : json["cases"]) {
      list.push_back({c["text"], c["beam4"]["text"], join_ids(c["input_ids"], 0), join_ids(c["beam4"]["ids"], 1),
                      c["greedy"]["text"], join_ids(c["greedy"]["ids"], 1), c["beam4"]["score"]});
    }
    return list;
  }();
  return cases;
}

}  // namespace lapilli::test
