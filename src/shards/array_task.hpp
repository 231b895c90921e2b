// The shard that a task of an array does: by what was typed, by what the scheduler says, and by what the folder holds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "shards/shard.hpp"

namespace lapilli::shards {

// How the shards of a folder are counted, as its first task found it.
struct Counting {
  uint32_t count = 0;  // 0: unknown
  uint32_t first = 0;  // the scheduler's number of shard 0
};

struct ChosenShard {
  Shard shard;
  uint32_t first = 0;
};

// `given`: "K/N", "auto" or "auto/N". `variable`: an environment variable, "" if it is not set. Gives an error message,
// or "".
std::string choose_shard(const std::string& given, const std::function<std::string(const char*)>& variable,
                         const Counting& folder, ChosenShard& chosen);

// "": `given` can be a choice.
std::string wrong_choice(const std::string& given);

}  // namespace lapilli::shards
