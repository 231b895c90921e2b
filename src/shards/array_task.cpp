#include "shards/array_task.hpp"

#include <algorithm>

namespace lapilli::shards {

namespace {

struct ArrayTask {
  uint64_t id = 0, count = 0, least = 0, most = 0;
  // No number between is left out.
  [[nodiscard]] bool is_whole() const { return least <= 1 && most >= least && most - least + 1 == count; }
};

struct Typed {
  bool automatic = false;
  uint64_t number = 0, count = 0;  // count 0: not said
};

std::string explain(const std::string& given) {
  return "--shard \"" + given + "\": K/N with K from 0 to N-1 (3/10), auto, or auto/N; N is at most " +
         std::to_string(kMostShards);
}

std::optional<Typed> read_choice(const std::string& given) {
  constexpr std::string_view kAuto = "auto";
  const size_t slash = std::min(given.find('/'), given.size());
  const std::string head = given.substr(0, slash);
  Typed typed;
  typed.automatic = head == kAuto;
  if (slash < given.size()) typed.count = number_in(std::string_view(given).substr(slash + 1)).value_or(0);
  const auto number = number_in(head);
  typed.number = number.value_or(0);
  const bool counted = typed.count > 0 && typed.count <= kMostShards;
  if (typed.automatic) return counted || slash == given.size() ? std::optional(typed) : std::nullopt;
  return counted && number && *number < typed.count ? std::optional(typed) : std::nullopt;
}

std::string read_task(const std::function<std::string(const char*)>& variable, ArrayTask& task) {
  struct Part {
    const char* name;
    uint64_t* value;
  };
  for (const Part& part : {Part{"SLURM_ARRAY_TASK_ID", &task.id}, Part{"SLURM_ARRAY_TASK_COUNT", &task.count},
                           Part{"SLURM_ARRAY_TASK_MIN", &task.least}, Part{"SLURM_ARRAY_TASK_MAX", &task.most}}) {
    const std::string text = variable(part.name);
    const auto number = number_in(text);
    if (!number)
      return std::string("--shard auto: ") + part.name + (text.empty() ? " is not set" : " is \"" + text + "\"") +
             "; it reads what Slurm tells the tasks of an array (sbatch --array=0-9). Elsewhere say --shard K/N";
    *part.value = *number;
  }
  return "";
}

// The array's smallest number, unless only some of its tasks run again.
uint32_t first_of(const ArrayTask& task, uint64_t count, const Counting& folder) {
  if (folder.count > 0) return folder.first;
  return task.least >= 1 && task.most == count ? 1 : 0;
}

std::string partial(const ArrayTask& task) {
  return "--shard auto: this array has " + std::to_string(task.count) + " tasks from " + std::to_string(task.least) +
         " to " + std::to_string(task.most) +
         ", which may be some of a larger one; say of how many shards: --shard auto/N";
}

constexpr const char* kAsFolderSays =
    ", as shards.json in the folder of -o says; number the array so, or say --shard K/N for this one";

std::string choose_by_task(const Typed& typed, const ArrayTask& task, const Counting& folder, ChosenShard& chosen) {
  const uint64_t count = typed.count > 0 ? typed.count : folder.count > 0 ? folder.count : task.count;
  if (typed.count == 0 && folder.count == 0 && !task.is_whole()) return partial(task);
  if (count == 0 || count > kMostShards) return explain("auto/" + std::to_string(count));
  chosen.first = first_of(task, count, folder);
  if (task.id < chosen.first || task.id - chosen.first >= count)
    return "--shard auto: task " + std::to_string(task.id) + " has no shard; the " + std::to_string(count) +
           " shards are those of the tasks " + std::to_string(chosen.first) + " to " +
           std::to_string(chosen.first + count - 1) + (folder.count > 0 ? kAsFolderSays : "");
  chosen.shard = {static_cast<uint32_t>(task.id - chosen.first), static_cast<uint32_t>(count)};
  return "";
}

}  // namespace

std::string wrong_choice(const std::string& given) { return read_choice(given) ? "" : explain(given); }

std::string choose_shard(const std::string& given, const std::function<std::string(const char*)>& variable,
                         const Counting& folder, ChosenShard& chosen) {
  const auto typed = read_choice(given);
  if (!typed) return explain(given);
  if (typed->count > 0 && folder.count > 0 && typed->count != folder.count)
    return "--shard " + given + ": the folder holds shards of " + std::to_string(folder.count) +
           "; say so, or name another folder";
  if (!typed->automatic) {
    chosen = {{static_cast<uint32_t>(typed->number), static_cast<uint32_t>(typed->count)}, folder.first};
    return "";
  }
  ArrayTask task;
  if (std::string wrong = read_task(variable, task); !wrong.empty()) return wrong;
  return choose_by_task(*typed, task, folder, chosen);
}

}  // namespace lapilli::shards
