#include "shards/shard.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace lapilli::shards {

std::string stem_of(const Shard& shard) {
  return "part-" + std::to_string(shard.number) + "-of-" + std::to_string(shard.count);
}

std::string text_of(const Shard& shard) { return std::to_string(shard.number) + " of " + std::to_string(shard.count); }

std::optional<uint64_t> number_in(std::string_view text) {
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) return {};
  return value;
}

std::optional<PartName> part_name(std::string_view name) {
  constexpr std::string_view kPart = "part-", kOf = "-of-";
  const size_t of = name.find(kOf), dot = std::min(name.find('.'), name.size());
  if (!name.starts_with(kPart) || of == std::string_view::npos || of > dot) return {};
  const auto number = number_in(name.substr(kPart.size(), of - kPart.size()));
  const auto count = number_in(name.substr(of + kOf.size(), dot - of - kOf.size()));
  if (!number || !count || *count > kMostShards || *number >= *count) return {};
  PartName found{{static_cast<uint32_t>(*number), static_cast<uint32_t>(*count)}, std::string(name.substr(dot))};
  // Leading zeros would give one part two names.
  return name.starts_with(stem_of(found.shard) + found.ending) ? std::optional(found) : std::nullopt;
}

ByteRange range_of(const Shard& shard, uint64_t bytes) {
  const uint64_t each = bytes / shard.count, rest = bytes % shard.count;
  const auto begin = [&](uint64_t number) { return each * number + rest * number / shard.count; };
  const bool last = shard.number + 1 == shard.count;
  return {begin(shard.number), last ? std::numeric_limits<uint64_t>::max() : begin(uint64_t{shard.number} + 1)};
}

ByteRange within(const ByteRange& range, uint64_t first, uint64_t bytes) {
  const auto inside = [&](uint64_t at) { return std::clamp(at, first, first + bytes) - first; };
  return {inside(range.begin), inside(range.end)};
}

void PieceFinder::add(std::string_view bytes) {
  while (!bytes.empty() && !is_over()) {
    const size_t newline = bytes.find('\n');
    const bool whole = newline != std::string_view::npos;
    const std::string_view line = bytes.substr(0, whole ? newline + 1 : bytes.size());
    pass(line, whole);
    bytes.remove_prefix(line.size());
  }
}

// A part of a line; `whole`: up to its end.
void PieceFinder::pass(std::string_view line, bool whole) {
  if (at_line_) in_piece_ = range_.holds(at_);
  if (at_line_ && in_piece_ && !begun_) piece_.begin = at_;
  if (at_line_ && in_piece_) ++piece_.lines;
  begun_ = begun_ || in_piece_;
  at_ += line.size();
  at_line_ = whole;
  if (in_piece_) {
    hash_.add(line);
    piece_.end = at_;
  } else if (whole && !begun_) {
    ++piece_.lines_before;
  }
}

Piece PieceFinder::finish() {
  if (!begun_) piece_.begin = piece_.end = at_;
  piece_.hash = hash_.text();
  return piece_;
}

}  // namespace lapilli::shards
