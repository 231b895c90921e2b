// Takes from the inputs of a run what belongs to one shard.
#pragma once

#include <string>
#include <vector>

#include "cli/files/text_sources.hpp"
#include "shards/shard.hpp"

namespace lapilli::cli {

// An input as a shard sees it.
struct SizedInput {
  std::string name, below;  // see Source
  bool by_lines = true;     // otherwise it is one row
  uint64_t bytes = 0;       // of its text
};

struct ShardInputs {
  std::string hash;  // of the names, sizes and samples of all inputs
  uint64_t bytes = 0;
};

// Finds the sizes. Gives the exit code; errors go to stderr.
int measure_inputs(std::vector<SizedInput>& inputs, ShardInputs& all);

// The rows of an input that begin in a range of its bytes. Gives the exit code.
int find_piece(const SizedInput& input, const shards::ByteRange& range, shards::Piece& piece);

// Leaves the sources of the shard, each with its piece.
int take_shard(const shards::Shard& shard, const TextCommand& about, const TextArguments& arguments,
               std::vector<Source>& sources, ShardInputs& all);

}  // namespace lapilli::cli
