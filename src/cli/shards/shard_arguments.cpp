#include "cli/shards/shard_arguments.hpp"

#include "base/path.hpp"
#include "cli/commands.hpp"
#include "shards/array_task.hpp"

namespace lapilli::cli {

void add_shard_arguments(CLI::App& command, ShardArguments& a) {
  command
      .add_option("--shard", a.choice,
                  "Only shard K of the N shards of the inputs, counted from 0, to a file in the folder of -o, or with "
                  "--suffix the files of the shard, each to its own; auto: as Slurm tells a task of an array, auto/N: "
                  "some of N. Finished ones stay, others go on; lapilli join makes one file of all")
      ->type_name("K/N")
      ->check(not_empty());
  command
      .add_option("--max-rejected", a.max_rejected,
                  "With --shard: up to N rows may fail, which are told in part-K-of-N.rejected.jsonl; without it, one "
                  "gives exit code 1. Beyond N the shard stops")
      ->type_name("N")
      ->transform(whole_number(0, uint64_t{1} << 53));
}

std::string contradiction_of_shard(const ShardArguments& a, const ShardPlaces& places) {
  if (!a.wanted()) return a.max_rejected ? "--max-rejected needs --shard" : "";
  if (std::string wrong = shards::wrong_choice(a.choice); !wrong.empty()) return wrong;
  if (places.output.empty() || places.output == "-") return "--shard needs the folder of the shards: -o OUT/";
  if (file_exists(places.output)) return "--shard: " + places.output + " is a file; -o names the folder of the shards";
  if (places.resume || places.skip_existing)
    return "--shard goes on where it ended by itself, and leaves what is finished; --resume and --skip-existing are "
           "for "
           "runs without it";
  return "";
}

}  // namespace lapilli::cli
