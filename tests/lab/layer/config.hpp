// The settings of LAPILLI_LAB: what the layer pretends. See tests/lab/README.md for the keys.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace lapilli::lab {

class Config {
 public:
  // Reads LAPILLI_LAB: items separated by ';' or ',', each a setting KEY=VALUE or the name of a file with a setting a
  // line ('#' begins a comment). A file that cannot be read ends the process with 2: the test would test nothing.
  static const Config& get();

  [[nodiscard]] bool has(const std::string& key) const { return values_.count(key) > 0; }
  [[nodiscard]] bool is(const std::string& key, const char* value) const;
  [[nodiscard]] uint64_t number(const std::string& key) const;  // 0x is understood; 0 if the key is missing
  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] bool feature_off(const char* name) const { return off_.count(name) > 0; }
  [[nodiscard]] bool all_features_off() const { return off_.count("*") > 0; }
  [[nodiscard]] bool extension_hidden(const char* name) const;
  [[nodiscard]] bool log() const { return number("log") != 0; }
  // True, with the result to give back, if this call (counted from 1 over the process) is to fail.
  [[nodiscard]] bool fails_now(const char* call, VkResult& result) const;

 private:
  struct Failure {
    int call_number = 0;  // 0: every call
    VkResult result = VK_SUCCESS;
  };
  Config();
  void add_item(const std::string& item);
  void add_failure(const std::string& text);

  std::map<std::string, std::string> values_;
  std::set<std::string> off_, hidden_, shown_;
  std::map<std::string, Failure> failures_;
};

}  // namespace lapilli::lab
