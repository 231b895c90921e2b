// Fetches a model from a hub into the user's cache directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "fetched/hub_file.hpp"
#include "fetched/names.hpp"
#include "fetched/selection.hpp"
#include "hub/http.hpp"
#include "hub/requests.hpp"

namespace lapilli::hub {

struct FetchSettings {
  Hub hub;
  std::string models;  // the directory of models
  Patience patience;
  HttpLimits limits;
};

// Callbacks for a waiting user. All are optional.
struct FetchWatch {
  // Called before anything is fetched; "" if the hub states no licence.
  std::function<void(const std::string& commit, const std::string& licence)> licence;
  // Called with the total, then with the bytes that are here.
  std::function<void(size_t files, uint64_t bytes)> begin;
  std::function<void(uint64_t bytes)> progress;
  std::function<void(const std::string&)> note;  // it waits, or retries
  Stopped stopped;
};

struct Fetched {
  std::string directory;
  bool was_there = false;  // nothing was fetched
};

// A model as a server offers it.
struct Offer {
  Repository repository;
  std::string asked_for;                                // the revision as it was requested, or its version
  std::function<std::string(const HubFile& file)> url;  // of a file
};
using Ask = std::function<Result<Offer>(Requests& requests)>;
using Select = std::function<Result<Selection>(const Repository& repository)>;

// Several programs may fetch the same model at once: one works, the others wait. The next call continues an interrupted
// fetch, which is no model before its end. out_of_memory: the disk is full.
Result<Fetched> fetch(const FetchSettings& settings, const ModelName& model, const FetchWatch& watch);
// The same for a model that is offered elsewhere; it is kept as `model`.
Result<Fetched> fetch_offered(const FetchSettings& settings, const ModelName& model, const FetchWatch& watch,
                              const Ask& ask, const Select& select);

}  // namespace lapilli::hub
