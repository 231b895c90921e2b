// The models on this machine: those that the program fetched, and those of other programs for the hub. The library only
// reads them.
#pragma once

#include <string>
#include <vector>

#include "fetched/names.hpp"

namespace lapilli::hub {

// "": there is no such directory.
struct Places {
  std::string own;     // models_directory()
  std::string shared;  // huggingface_cache()
};
Places places_of_environment();

struct Present {
  std::string name;       // OWNER/NAME
  std::string directory;  // of the default revision
  bool shared = false;    // in the cache of other programs
  std::string family;     // model_type of its config.json; "" if it has none
  std::string licence;    // as the hub stated it; "" if unknown
};
// Sorted by name; a model in both places counts as the program's own.
std::vector<Present> all_present(const Places& places);

// The directory of a model, preferring the program's own; "" if there is none.
std::string find_present(const Places& places, const ModelName& model);
// Advice on a model that find_present() does not find, to follow "NAME is not a directory".
std::string how_to_get(const Places& places, const ModelName& model);

}  // namespace lapilli::hub
