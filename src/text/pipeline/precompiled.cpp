// The normalizer Precompiled: SentencePiece's character map, applied per grapheme cluster.
#include <utility>

#include "text/pipeline/normalizers.hpp"
#include "text/unicode/character_map.hpp"

namespace lapilli {
namespace {

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(CharacterMap map) : map_(std::move(map)) {}

  Status apply(AlignedText& text) const override {
    const std::string& s = text.text();
    std::vector<ChangedCharacter> to;
    size_t begin = 0;
    for (const size_t end : grapheme_ends(s)) {
      // A short cluster is replaced as a whole by its shortest known beginning's replacement, as in the original.
      if (end - begin >= 6 || !replace(std::string_view(s).substr(begin, end - begin), to)) {
        for (size_t at = begin; at < end;) {
          const size_t from = at;
          const char32_t c = next_character(s, at);
          if (!replace(std::string_view(s).substr(from, at - from), to)) to.push_back({c, 0});
        }
      }
      begin = end;
    }
    text.change(to);
    return {};
  }

 private:
  // The last of the new characters are inserted where they are more than the old ones; where they are fewer, the last
  // one so far takes the places of the others, too.
  bool replace(std::string_view old, std::vector<ChangedCharacter>& to) const {
    const auto rule = map_.shortest(old);
    if (rule.length == 0) return false;
    const size_t before = to.size(), places = count(old);
    for (size_t at = 0; at < rule.replacement.size();) {
      const bool has_place = to.size() - before < places;
      to.push_back({next_character(rule.replacement, at), has_place ? 0 : 1});
    }
    if (to.size() - before < places && !to.empty())
      to.back().change -= static_cast<int32_t>(places - (to.size() - before));
    return true;
  }

  static size_t count(std::string_view text) {
    size_t characters = 0;
    for (size_t at = 0; at < text.size(); ++characters) next_character(text, at);
    return characters;
  }

  CharacterMap map_;
};

}  // namespace

Result<NormalizerPtr> make_precompiled(const std::string& charsmap) {
  LAPILLI_CHECK(require_unicode("the normalizer Precompiled"));
  if (charsmap.empty()) return make_normalizer_sequence({});
  LAPILLI_TRY(CharacterMap map, CharacterMap::read(charsmap));
  return NormalizerPtr(std::make_unique<Precompiled>(std::move(map)));
}

}  // namespace lapilli
