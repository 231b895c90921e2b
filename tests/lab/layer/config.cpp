#include "config.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>

namespace lapilli::lab {

namespace {
std::string trimmed(const std::string& s) {
  const char* blanks = " \t\r";
  const size_t first = s.find_first_not_of(blanks);
  if (first == std::string::npos) return {};
  return s.substr(first, s.find_last_not_of(blanks) - first + 1);
}
}  // namespace

const Config& Config::get() {
  static const Config config;
  return config;
}

Config::Config() {
  const char* settings = std::getenv("LAPILLI_LAB");
  if (!settings) return;
  std::string list = settings;
  std::replace(list.begin(), list.end(), ',', ';');
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ';');) add_item(item);
}

void Config::add_item(const std::string& raw) {
  const std::string item = trimmed(raw);
  if (item.empty() || item[0] == '#') return;
  const size_t equals = item.find('=');
  if (equals == std::string::npos) {
    std::ifstream file(item);
    if (!file) {
      std::fprintf(stderr, "lab: cannot read %s, named in LAPILLI_LAB\n", item.c_str());
      std::exit(2);
    }
    for (std::string line; std::getline(file, line);) add_item(line.substr(0, line.find('#')));
    return;
  }
  const std::string key = item.substr(0, equals), value = item.substr(equals + 1);
  if (key == "off") {
    off_.insert(value);
  } else if (key == "noext") {
    hidden_.insert(value);
  } else if (key == "ext") {
    shown_.insert(value);
  } else if (key == "fail") {
    add_failure(value);
  } else {
    values_[key] = value;
  }
}

void Config::add_failure(const std::string& text) {
  std::stringstream stream(text);
  std::string call, number, result;
  std::getline(stream, call, ':');
  std::getline(stream, number, ':');
  std::getline(stream, result, ':');
  Failure failure;
  failure.call_number = std::atoi(number.c_str());
  const bool on_queue = call.find("Submit") != std::string::npos || call.find("Wait") != std::string::npos;
  failure.result = on_queue ? VK_ERROR_DEVICE_LOST : VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (!result.empty()) failure.result = static_cast<VkResult>(std::atoi(result.c_str()));
  failures_[call] = failure;
}

bool Config::is(const std::string& key, const char* value) const {
  const auto it = values_.find(key);
  return it != values_.end() && it->second == value;
}

uint64_t Config::number(const std::string& key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? 0 : std::strtoull(it->second.c_str(), nullptr, 0);
}

std::string Config::text(const std::string& key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? std::string() : it->second;
}

bool Config::extension_hidden(const char* name) const {
  return hidden_.count(name) > 0 || (hidden_.count("*") > 0 && shown_.count(name) == 0);
}

bool Config::fails_now(const char* call, VkResult& result) const {
  const auto it = failures_.find(call);
  if (it == failures_.end()) return false;
  static std::mutex mutex;
  static std::map<std::string, int> calls;
  std::lock_guard lock(mutex);
  const int number = ++calls[call];
  if (it->second.call_number != 0 && number != it->second.call_number) return false;
  result = it->second.result;
  if (log()) std::fprintf(stderr, "lab: %s, call %d, fails with %d\n", call, number, result);
  return true;
}

}  // namespace lapilli::lab
