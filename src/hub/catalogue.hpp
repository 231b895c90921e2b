// The models that are known to the project: models/models.jsonl, one JSON object a line, which anyone can add to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hub/present.hpp"

namespace lapilli::hub {

struct Listed {
  struct Tried {
    std::string by, date, version;
  };
  std::string name;  // OWNER/NAME, or that of the bundled model
  bool bundled = false;
  bool listed = true;  // false: it is here, and the list does not know it
  std::string family;
  std::vector<std::string> tasks;     // of task_names()
  std::vector<std::string> from, to;  // languages, each of these to each of those; none of pictures and classes
  std::optional<uint64_t> parameters;
  std::string licence;         // "" where nobody is sure
  std::optional<Tried> tried;  // these very weights; otherwise only the family's records speak for them
  std::string fetched;         // the directory; filled in by add_present
  bool shared = false;         // which lies in the cache of other programs
};

// The program's commands that a model may be for.
std::vector<std::string> task_names();

// Errors name the line.
Result<std::vector<Listed>> read_catalogue(const std::string& path);

// Whether two codes may mean the same language.
using SameLanguage = std::function<bool(const std::string&, const std::string&)>;

struct Wanted {
  std::string from, to, task, family;  // "": any; from one language to another is translating
};
// Those for fewer languages first where languages are asked for: they are smaller for what they do.
std::vector<Listed> select_models(const std::vector<Listed>& all, const Wanted& wanted, const SameLanguage& same);

// Says of each model whether it is here, and adds those that `all` does not know: where no languages and no task are
// wanted, which nobody knows of them, and only of families that the program reads, or its own.
void add_present(const std::vector<Present>& present, const Wanted& wanted, const std::vector<Listed>& all,
                 const std::function<bool(const std::string&)>& is_family, std::vector<Listed>& chosen);

// For people, in 80 columns at most but for folders, which have a line of their own; for programs.
std::string table_of(const std::vector<Listed>& models);
std::string json_of(const std::vector<Listed>& models);

}  // namespace lapilli::hub
