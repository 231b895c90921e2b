// The models that are known to the project: models/models.jsonl, one JSON object a line, which anyone can add to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lapilli::hub {

struct Listed {
  struct Tried {
    std::string by, date, version;
  };
  std::string name;  // OWNER/NAME, or that of the bundled model
  bool bundled = false;
  std::string family;
  std::vector<std::string> tasks;     // translate, summarize, generate
  std::vector<std::string> from, to;  // languages, each of these to each of those
  std::optional<uint64_t> parameters;
  std::string licence;         // "" where nobody is sure
  std::optional<Tried> tried;  // these very weights; otherwise only the family's records speak for them
  std::string fetched;         // the directory; filled in by whoever looks
};

// Errors name the line.
Result<std::vector<Listed>> read_catalogue(const std::string& path);

// Whether two codes may mean the same language.
using SameLanguage = std::function<bool(const std::string&, const std::string&)>;

struct Wanted {
  std::string from, to, task, family;  // "": any; from one language to another is translating
};
// Those for fewer languages first where languages are asked for: they are smaller for what they do.
std::vector<Listed> select_models(const std::vector<Listed>& all, const Wanted& wanted, const SameLanguage& same);

// For people, in 80 columns at most; for programs.
std::string table_of(const std::vector<Listed>& models);
std::string json_of(const std::vector<Listed>& models);

}  // namespace lapilli::hub
