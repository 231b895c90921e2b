#include "text/unicode/character_map.hpp"

#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// Longer rules are ignored; Unicode's have a few dozen bytes.
constexpr size_t kMaxRuleBytes = 1024;

// One unit of the array. A node's children are the units at (node ^ offset ^ byte) whose label is that byte; if the
// node ends a rule, the unit at (node ^ offset) has the position of its replacement.
constexpr bool ends_rule(uint32_t unit) { return (unit >> 8 & 1) != 0; }
constexpr uint32_t label(uint32_t unit) { return unit & 0x800000FFU; }
constexpr uint32_t offset(uint32_t unit) { return unit >> 10 << ((unit & 0x200U) >> 6); }
constexpr uint32_t value(uint32_t unit) { return unit & 0x7FFFFFFFU; }

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i) word |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return word;
}

// A replacement must not begin within a character, or the text would become invalid.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

Result<CharacterMap> CharacterMap::read(std::string_view map) {
  CharacterMap read;
  if (map.empty()) return read;
  const uint32_t bytes = map.size() < 4 ? 0 : little_endian(map, 0);
  if (map.size() < 4 || bytes % 4 != 0 || bytes > map.size() - 4)
    return fail(ErrorCode::invalid_data, "precompiled_charsmap: a trie of %u bytes does not fit into %u bytes", bytes,
                map.size());
  read.units_.resize(bytes / 4);
  for (size_t i = 0; i < read.units_.size(); ++i) read.units_[i] = little_endian(map, 4 + 4 * i);
  read.replacements_ = map.substr(4 + bytes);
  if (find_invalid_utf8(read.replacements_) != std::string_view::npos)
    return fail(ErrorCode::invalid_data, "precompiled_charsmap: a replacement is not valid UTF-8");
  if (read.replacements_.empty() || read.replacements_.back() != '\0')
    return fail(ErrorCode::invalid_data, "precompiled_charsmap: its last replacement has no end");
  return read;
}

CharacterMap::Rule CharacterMap::shortest(std::string_view text) const { return find(text, true); }
CharacterMap::Rule CharacterMap::longest(std::string_view text) const { return find(text, false); }

CharacterMap::Rule CharacterMap::find(std::string_view text, bool first_counts) const {
  Rule found;
  if (units_.empty()) return found;
  uint32_t node = offset(units_[0]);
  text = text.substr(0, kMaxRuleBytes);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || label(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset(unit);
    if (!ends_rule(unit)) continue;
    if (node >= units_.size()) break;
    const size_t place = value(units_[node]);
    if (place < replacements_.size() && begins_character(replacements_[place]))
      found = {i + 1, std::string_view(replacements_.c_str() + place)};
    if (first_counts) break;
  }
  return found;
}

}  // namespace lapilli
