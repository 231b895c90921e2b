// One of N shards of a run: its names, and its range of the inputs. The range follows from the inputs' sizes and the
// ends of their lines alone, so that every machine finds the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shards/hash.hpp"

namespace lapilli::shards {

inline constexpr uint32_t kMostShards = 1'000'000;

struct Shard {
  uint32_t number = 0, count = 1;  // from 0
};

// "part-3-of-10": the beginning of the names of all files of a shard.
std::string stem_of(const Shard& shard);
// "3 of 10"
std::string text_of(const Shard& shard);
// The shard and the ending of "part-3-of-10.txt".
struct PartName {
  Shard shard;
  std::string ending;
};
std::optional<PartName> part_name(std::string_view name);
// Whole, decimal, without a sign.
std::optional<uint64_t> number_in(std::string_view text);

// Bytes of all inputs, one behind the other.
struct ByteRange {
  uint64_t begin = 0, end = 0;
  [[nodiscard]] bool holds(uint64_t at) const { return begin <= at && at < end; }
};
// A line that begins there belongs to the shard, wherever it ends. The last shard's range has no end, for inputs that
// are empty.
ByteRange range_of(const Shard& shard, uint64_t bytes);
// The part of a range that lies in an input of `bytes` bytes that begins at `first`.
ByteRange within(const ByteRange& range, uint64_t first, uint64_t bytes);

// The lines of an input that belong to a shard.
struct Piece {
  uint64_t begin = 0, end = 0;  // bytes of the input, where lines begin
  uint64_t lines_before = 0, lines = 0;
  std::string hash;  // of its bytes
};

// Finds the lines that begin in a range of an input, which is given from its first byte on.
class PieceFinder {
 public:
  explicit PieceFinder(const ByteRange& range) : range_(range) {}
  void add(std::string_view bytes);
  // True: what follows does not matter.
  [[nodiscard]] bool is_over() const { return at_line_ && at_ >= range_.end; }
  // At the end of the input, or once it is over.
  Piece finish();

 private:
  void pass(std::string_view line, bool whole);

  ByteRange range_;
  Piece piece_;
  Hash hash_;
  uint64_t at_ = 0;
  bool at_line_ = true, begun_ = false, in_piece_ = false;
};

}  // namespace lapilli::shards
