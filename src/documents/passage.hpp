// The positions of a segment's words in its document's bytes, and the markup between them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "documents/characters.hpp"
#include "documents/document.hpp"
#include "documents/written_text.hpp"

namespace lapilli::documents {

enum class Shape {
  pair,   // opens and closes around words
  point,  // stands between words: an image, or an unpaired tag
  kept,   // replaces words: code
};

// Markup among the words of a part. Tags are in document order, parents before their children.
struct Tag {
  static constexpr uint32_t kNoParent = UINT32_MAX;
  Shape shape = Shape::point;
  Range text;         // bytes of the part's text
  Range open, close;  // bytes of the document; point and kept have only `open`
  uint32_t parent = kNoParent;
  bool glued = false;    // a point directly behind a word: it follows that word, not the next one
  std::string close_as;  // written instead of `close` if that refers to the words in front of it
  std::string open_as;   // written instead of `open`: what the document has there is not all that a tag needs
};

// White space with a line break, one space in the text. It is tied to no word.
struct Line {
  size_t at = 0;  // in the part's text
  Range bytes;    // of the document
};

// Words that stay together in the output: all of a paragraph, or the share of one subtitle.
struct Part {
  std::string text;
  Range source;  // from the first byte of its words and tags to the last
  std::vector<Tag> tags;
  std::vector<Line> lines;
};

// A segment as parts of the document. Bytes between parts stay.
struct Passage {
  std::vector<Part> parts;
  // The bytes that the translation replaces, where these are not the segment's own: the target beside a source. An
  // empty range is an insertion. Then several passages may have the same words.
  std::optional<Range> place;
  bool anew = false;          // written also if the translation is the same: the place holds more than the words
  bool joined = false;        // with the passage before: if one of them fails, neither is written
  std::string before, after;  // written around the translation
  std::string if_failed;      // replaces the place if there is no translation; "": the place stays
  std::string lead, trail;    // written in front and behind in any case
  bool in_table = false;      // Markdown: in a table cell, where | separates
  bool in_heading = false;    // Markdown: in a heading, where a trailing # is no word
  uint32_t escapes = 0;       // how the words are escaped and quoted, by flags of the kind (apps/messages.hpp)
  // Lines of one sign above or below a heading: their lengths change as the heading's does.
  std::vector<Range> adornments;
  [[nodiscard]] Range source() const { return {parts.front().source.begin, parts.back().source.end}; }
  [[nodiscard]] Range replaced() const { return place.value_or(source()); }
  // True if the translation stands beside the words, which stay.
  [[nodiscard]] bool beside() const { return place && (place->begin > source().begin || place->end < source().end); }
};

Segment segment_of(const Passage& passage);

// Tags nested deeper than this are not paired; they keep their order.
inline constexpr uint32_t kDeepestTag = 64;

// Builds a part from the items of a document, which come in document order.
class PartBuilder {
 public:
  struct Item {
    enum Kind { words, line, open, close, point, kept } kind;
    Range source;
    std::string text;
    uint32_t key = 0;
    size_t match = SIZE_MAX;  // the other half
    std::string as = {};      // written instead of the bytes
  };

  // Adds words as the document has them, in which addresses and placeholders are kept; or words that are written
  // differently there (a character reference).
  void words(Range source, std::string_view decoded);
  // Adds words of which some are escapes; addresses and placeholders are kept here, too.
  void words(const WrittenText& text, Range range);
  void line(Range source);
  // Tags of the same kind share a key. `as` is written instead of the bytes, unless it is empty.
  void open(Range source, uint32_t key, std::string as = {}) {
    items_.push_back({Item::open, source, {}, key, SIZE_MAX, std::move(as)});
  }
  void close(Range source, uint32_t key, std::string as = {}) {
    items_.push_back({Item::close, source, std::move(as), key});
  }
  // As open() with `as`: then all tags of a part have other words than the document's.
  void close_with(Range source, uint32_t key, const std::string& as) {
    items_.push_back({Item::close, source, as, key, SIZE_MAX, as});
  }
  void point(Range source, std::string as = {}) {
    items_.push_back({Item::point, source, {}, 0, SIZE_MAX, std::move(as)});
  }
  // Adds words that stay: the model sees `text`, the output has the bytes of `source`. Without text it is a point.
  void kept(Range source, std::string_view text, std::string as = {});

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  // Splits the items at these places (ascending) into one builder each. Starts over.
  std::vector<PartBuilder> take_apart(std::span<const size_t> cuts);
  // Appends the part, unless it has no word to translate. Markup around its words is left out. Starts over.
  bool finish(std::vector<Part>& parts);

 private:
  void plain_words(Range source, std::string_view decoded);
  void pair_up();
  void close_at(size_t index, std::vector<size_t>& opened, std::unordered_map<uint32_t, size_t>& counts);
  [[nodiscard]] bool trim();
  [[nodiscard]] bool pairs_inside() const;
  Part build(bool flat) const;

  std::vector<Item> items_;
  bool crossed_ = false;         // some tags close in another order than they opened
  size_t first_ = 0, last_ = 0;  // first and last item of the part
};

}  // namespace lapilli::documents
