// The normalizer Precompiled: SentencePiece's character map, a double-array trie and a block of replacements. Every
// offset in it is hostile.
#include <cstring>
#include <utility>

#include "text/pipeline/normalizers.hpp"
#include "text/utf8.hpp"

namespace lapilli {
namespace {

constexpr size_t kNotFound = static_cast<size_t>(-1);

class Precompiled final : public Normalizer {
 public:
  Precompiled(std::vector<uint32_t> units, std::string replacements)
      : units_(std::move(units)), replacements_(std::move(replacements)) {}

  Status apply(AlignedText& text) const override {
    const std::string& s = text.text();
    AlignedText out = text.rewrite();
    size_t begin = 0;
    for (const size_t end : grapheme_ends(s)) {
      // A short cluster is replaced as a whole by what its shortest known beginning maps to: so does the original.
      if (end - begin >= 6 || !replace(text, begin, end, out)) {
        for (size_t at = begin; at < end;) {
          const size_t from = at;
          next_character(s, at);
          if (!replace(text, from, at, out)) out.copy(text, from, at);
        }
      }
      begin = end;
    }
    // Characters that go at the start are taken for part of the first that stays.
    out.cover_from(text.origin(0, 0).begin);
    text = std::move(out);
    return {};
  }

 private:
  bool replace(const AlignedText& text, size_t begin, size_t end, AlignedText& out) const {
    const size_t at = find(std::string_view(text.text()).substr(begin, end - begin));
    if (at == kNotFound) return false;
    out.append(replacements_.c_str() + at, text.origin(begin, end));
    return true;
  }

  // Where the replacement of the shortest known beginning of `key` starts, or kNotFound.
  [[nodiscard]] size_t find(std::string_view key) const {
    const auto offset = [](uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); };
    if (units_.empty()) return kNotFound;
    uint32_t node = offset(units_[0]);
    for (const char c : key) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0) break;
      node ^= byte;
      if (node >= units_.size()) return kNotFound;
      const uint32_t unit = units_[node];
      if ((unit & ((1U << 31) | 0xFF)) != byte) return kNotFound;
      node ^= offset(unit);
      if ((unit >> 8) & 1U) {
        if (node >= units_.size()) return kNotFound;
        const size_t value = units_[node] & 0x7FFFFFFFU;
        // A place within a character would make the text invalid.
        return value < replacements_.size() && (static_cast<unsigned char>(replacements_[value]) & 0xC0) != 0x80
                   ? value
                   : kNotFound;
      }
    }
    return kNotFound;
  }

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace

Result<NormalizerPtr> make_precompiled(std::string charsmap) {
  LAPILLI_CHECK(require_unicode("the normalizer Precompiled"));
  if (charsmap.empty()) return make_normalizer_sequence({});
  uint32_t bytes = 0;
  const auto read = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value |= static_cast<uint32_t>(static_cast<unsigned char>(charsmap[at + i])) << (8 * i);
    return value;
  };
  if (charsmap.size() >= 4) bytes = read(0);
  if (charsmap.size() < 4 || bytes % 4 != 0 || bytes > charsmap.size() - 4)
    return fail(ErrorCode::invalid_data, "precompiled_charsmap: a trie of %u bytes does not fit into %zu bytes", bytes,
                charsmap.size());
  std::vector<uint32_t> units(bytes / 4);
  for (size_t i = 0; i < units.size(); ++i) units[i] = read(4 + 4 * i);
  std::string replacements = charsmap.substr(4 + bytes);
  LAPILLI_CHECK(check_utf8(replacements, "precompiled_charsmap"));
  if (replacements.empty() || replacements.back() != '\0')
    return fail(ErrorCode::invalid_data, "precompiled_charsmap: its last replacement has no end");
  return NormalizerPtr(std::make_unique<Precompiled>(std::move(units), std::move(replacements)));
}

}  // namespace lapilli
