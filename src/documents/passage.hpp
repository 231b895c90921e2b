// Where the words of a segment stand in the bytes of its document, and the markup between them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "documents/characters.hpp"
#include "documents/document.hpp"

namespace lapilli::documents {

enum class Shape {
  pair,   // opens and closes around words
  point,  // stands between words: an image, or half of what does not pair up
  kept,   // replaces words: code
};

// Markup among the words of a part. Tags are in document order, parents before their children.
struct Tag {
  static constexpr uint32_t kNoParent = UINT32_MAX;
  Shape shape = Shape::point;
  Range text;         // bytes of the part's text
  Range open, close;  // bytes of the document; point and kept have only the first
  uint32_t parent = kNoParent;
  bool glued = false;    // a point directly behind a word: it follows that word, not the next one
  std::string close_as;  // written instead of `close`, where that means something by the words in front of it
};

// White space that breaks a line, one space in the text. It moves with no word.
struct Line {
  size_t at = 0;  // in the part's text
  Range bytes;    // of the document
};

// Words that stay together in the output: all of a paragraph, the share of one subtitle.
struct Part {
  std::string text;
  Range source;  // from the first byte of its words and tags to the last
  std::vector<Tag> tags;
  std::vector<Line> lines;
};

// A segment as parts of the document. Bytes between parts are kept.
struct Passage {
  std::vector<Part> parts;
  bool in_table = false;    // Markdown: of a table cell, where | separates
  bool in_heading = false;  // Markdown: of a heading, where # at the end is none of its words
  [[nodiscard]] Range source() const { return {parts.front().source.begin, parts.back().source.end}; }
};

Segment segment_of(const Passage& passage);

// Tags nested deeper than this do not pair up, they keep their order.
inline constexpr uint32_t kDeepestTag = 64;

// Makes a part of the pieces of a document, which come in its order.
class PartBuilder {
 public:
  struct Piece {
    enum Kind { words, line, open, close, point, kept } kind;
    Range source;
    std::string text;
    uint32_t key = 0;
    size_t match = SIZE_MAX;  // the other half
  };

  // Words as the document has them, in which addresses of pages and placeholders are kept, or what stands for other
  // words (a character reference).
  void words(Range source, std::string_view decoded);
  void line(Range source);
  // Tags of one kind have one key.
  void open(Range source, uint32_t key) { pieces_.push_back({Piece::open, source, {}, key}); }
  void close(Range source, uint32_t key, std::string as = {}) {
    pieces_.push_back({Piece::close, source, std::move(as), key});
  }
  void point(Range source) { pieces_.push_back({Piece::point, source, {}}); }
  // Words that stay: the model sees `text`, the output has the bytes of `source`. Without text it is a point.
  void kept(Range source, std::string_view text);

  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  // Gives a builder for the pieces between each two of these places (ascending). Starts over.
  std::vector<PartBuilder> take_apart(std::span<const size_t> cuts);
  // Appends the part, unless there is no word to translate in it. What surrounds its words is none of it. Starts over.
  bool finish(std::vector<Part>& parts);

 private:
  void plain_words(Range source, std::string_view decoded);
  void pair_up();
  void close_at(size_t index, std::vector<size_t>& opened, std::unordered_map<uint32_t, size_t>& counts);
  [[nodiscard]] bool trim();
  [[nodiscard]] bool pairs_inside() const;
  Part build(bool flat) const;

  std::vector<Piece> pieces_;
  bool crossed_ = false;         // tags that close in another order than they opened
  size_t first_ = 0, last_ = 0;  // pieces of the part, including both
};

}  // namespace lapilli::documents
