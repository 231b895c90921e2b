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
    AlignedText out = text.rewrite();
    size_t begin = 0;
    for (const size_t end : grapheme_ends(s)) {
      // A short cluster is replaced as a whole by its shortest known beginning's replacement, as in the original.
      if (end - begin >= 6 || !replace(text, begin, end, out)) {
        for (size_t at = begin; at < end;) {
          const size_t from = at;
          next_character(s, at);
          if (!replace(text, from, at, out)) out.copy(text, from, at);
        }
      }
      begin = end;
    }
    // Characters removed at the start count as part of the first one kept.
    out.cover_from(text.origin(0, 0).begin);
    text = std::move(out);
    return {};
  }

 private:
  bool replace(const AlignedText& text, size_t begin, size_t end, AlignedText& out) const {
    const auto rule = map_.shortest(std::string_view(text.text()).substr(begin, end - begin));
    if (rule.length == 0) return false;
    out.append(rule.replacement, text.origin(begin, end));
    return true;
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
