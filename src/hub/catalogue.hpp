// The models known to the project: models/models.jsonl, one JSON object a line, to which anyone can add.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fetched/present.hpp"

namespace lapilli::hub {

struct Listed {
  struct Tried {
    std::string by, date, version;
  };
  std::string name;  // OWNER/NAME, or that of the bundled model
  bool bundled = false;
  bool listed = true;  // false: it is on this machine, but not in the list
  std::string family;
  std::vector<std::string> tasks;     // of task_names()
  std::vector<std::string> from, to;  // languages, each of these to each of those; empty where there are none
  std::optional<uint64_t> parameters;
  std::string licence;         // "" if not certain
  std::optional<Tried> tried;  // with these very weights; otherwise only the family's records speak for them
  std::string fetched;         // the directory; filled in by add_present
  bool shared = false;         // `fetched` is in the cache of other programs
  std::string installed;       // the program that installed it, which is not in the list
  std::string offered;         // the program whose registry has it
};

// The program's commands that use a model.
std::vector<std::string> task_names();

// Errors name the line.
Result<std::vector<Listed>> read_catalogue(const std::string& path);

// True if two codes may mean the same language.
using SameLanguage = std::function<bool(const std::string&, const std::string&)>;

struct Wanted {
  std::string from, to, task, family;  // "": any; two languages imply translation
};
// If languages are requested, models for fewer languages come first: they are smaller for what they do.
std::vector<Listed> select_models(const std::vector<Listed>& all, const Wanted& wanted, const SameLanguage& same);

// Notes for each model whether it is on this machine, and adds those missing from `all`: only if neither languages nor
// a task are requested, which are unknown for them, and only models of supported families, or the program's own.
void add_present(const std::vector<Present>& present, const Wanted& wanted, const std::vector<Listed>& all,
                 const std::function<bool(const std::string&)>& is_family, std::vector<Listed>& chosen);

// Adds those that another program has installed, for these languages; no family is known of them.
struct Installed {
  std::string program, path, from, to, version;
  std::string name;  // of one that was fetched from a registry
};
void add_installed(const std::vector<Installed>& installed, const Wanted& wanted, const SameLanguage& same,
                   std::vector<Listed>& chosen);

// For people, by what they do, in at most 80 columns apart from folders, which have a line of their own; and for
// programs.
std::string table_of(std::vector<Listed> models);
std::string json_of(const std::vector<Listed>& models);

}  // namespace lapilli::hub
