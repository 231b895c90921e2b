// A model from a hub into the user's cache directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "hub/http.hpp"
#include "hub/names.hpp"
#include "hub/requests.hpp"

namespace lapilli::hub {

struct FetchSettings {
  Hub hub;
  std::string models;  // the directory that models lie in
  Patience patience;
  HttpLimits limits;
};

// What somebody who waits gets to know. None of them needs to be there.
struct FetchWatch {
  // Before anything of the model is fetched; "" if the hub states no licence.
  std::function<void(const std::string& commit, const std::string& licence)> licence;
  // How much there is; then how much of it is here.
  std::function<void(size_t files, uint64_t bytes)> begin;
  std::function<void(uint64_t bytes)> progress;
  std::function<void(const std::string&)> note;  // it waits, or tries again
  Stopped stopped;
};

struct Fetched {
  std::string directory;
  bool was_there = false;  // nothing was fetched
};

// The same model may be fetched by several programs at once: one works, the others wait for it. What is interrupted is
// continued by the next call and is no model before. out_of_memory: the disk is full.
Result<Fetched> fetch(const FetchSettings& settings, const ModelName& model, const FetchWatch& watch);

}  // namespace lapilli::hub
