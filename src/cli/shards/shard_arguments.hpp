// --shard and what belongs to it.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace lapilli::cli {

struct ShardArguments {
  std::string choice;                    // K/N, auto, auto/N; "": all inputs
  std::optional<uint64_t> max_rejected;  // rejected rows that are no failure
  [[nodiscard]] bool wanted() const { return !choice.empty(); }
};

void add_shard_arguments(CLI::App& command, ShardArguments& arguments);

// A contradiction with the places of the output; "": there is none.
struct ShardPlaces {
  const std::string &output, &suffix;
  bool resume, skip_existing;
};
std::string contradiction_of_shard(const ShardArguments& arguments, const ShardPlaces& places);

}  // namespace lapilli::cli
