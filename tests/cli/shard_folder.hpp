// A folder in which a test has shards, their inputs and what is joined.
#pragma once

#include <algorithm>

#include "cli/program.hpp"

namespace lapilli::test {

using Arguments = std::vector<std::string>;

inline Outcome run_with(Arguments arguments, const std::vector<std::string>& environment = {},
                        const std::string& in = "") {
  Spawn spawn = lapilli(std::move(arguments));
  spawn.environment.insert(spawn.environment.end(), environment.begin(), environment.end());
  return run(spawn, in);
}

inline Outcome without_driver(Arguments arguments, std::vector<std::string> environment = {}) {
  environment.insert(environment.end(), kNoDriver.begin(), kNoDriver.end());
  return run_with(std::move(arguments), environment);
}

// `count` lines of few words, some empty, with the last line end missing.
inline std::string some_lines(size_t count) {
  const std::vector<std::string> texts = {"Good morning.", "", "Thank you.", "I am tired.", "He sleeps."};
  std::string lines;
  for (size_t i = 0; i < count; ++i) lines += (i > 0 ? "\n" : "") + texts[i % texts.size()];
  return lines;
}

struct ShardFolder {
  TemporaryFolder folder;
  std::string out = (folder.path() / "out").string() + "/";

  Outcome shard(const std::string& which, Arguments more, const std::vector<std::string>& environment = {}) const {
    Arguments all = {"translate", "--quiet", "--shard", which, "-o", out};
    all.insert(all.end(), more.begin(), more.end());
    return run_with(all, environment);
  }
  Outcome join(const std::string& to, Arguments more = {}) const {
    more.insert(more.begin(), {"join", "--quiet", out, "-o", (folder.path() / to).string()});
    return run_with(more);
  }
  std::string content(const std::string& name) const { return read_file((folder.path() / name).string()); }
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(out)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

}  // namespace lapilli::test
