#include "documents/document.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "documents/kept/kept_words.hpp"
#include "documents/kinds.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kMostRounds = 200;  // a document that still changes after so many is returned as it was

size_t line_of(std::string_view bytes, size_t at) {
  return 1 + static_cast<size_t>(std::count(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

Status check_utf8(std::string_view bytes) {
  const auto at = find_invalid_utf8(bytes);
  if (!at) return {};
  return fail(ErrorCode::invalid_data,
              "byte %u (line %u) is not UTF-8: convert the file, e.g. with iconv -f ISO-8859-1 -t UTF-8", *at + 1,
              line_of(bytes, *at));
}

// Skips a byte order mark.
size_t markup_begin(std::string_view bytes) { return bytes.starts_with("\xef\xbb\xbf") ? 3 : 0; }

Result<std::vector<Piece>> one_piece(const KindTraits& traits, std::string bytes, const Options& options) {
  if (const Status valid = check_utf8(bytes); !valid) {
    const std::string declared = traits.charset_error ? traits.charset_error(bytes) : "";
    return declared.empty() ? Result<std::vector<Piece>>(valid.error()) : fail(ErrorCode::unsupported, "%s", declared);
  }
  std::vector<Piece> pieces(1);
  pieces[0].bytes = std::move(bytes);
  pieces[0].style = traits.style;
  LAPILLI_TRY(pieces[0].found, traits.find(pieces[0].bytes, markup_begin(pieces[0].bytes), options));
  return pieces;
}

// How a translation is inserted; each next way has less that can go wrong.
enum class Way { linked_words, whole_words, original };

// Writes one piece anew. Bytes up to `at_` are written.
class PieceWriter {
 public:
  PieceWriter(const Piece& piece, std::span<const Segment> segments, std::span<const Translation> translations,
              std::span<const Way> ways)
      : piece_(piece), segments_(segments), translations_(translations), ways_(ways), written_(segments.size()) {}

  std::string write() {
    while (next_ < passages().size()) passage(next_++);
    copy_to(piece_.bytes.size());
    return std::move(out_);
  }

  // Where the passages are in the result.
  [[nodiscard]] const std::vector<Range>& written() const { return written_; }

 private:
  // Writes the rest of a range, with the passages in it.
  void finish(Range range) {
    const std::vector<Passage>& all = passages();
    while (next_ < all.size() && all[next_].replaced().begin < range.end) passage(next_++);
    copy_to(range.end);
  }

  void passage(size_t i) {
    const Range replaced = passages()[i].replaced();
    copy_to(replaced.begin);
    out_ += passages()[i].lead;
    written_[i].begin = out_.size();
    const Translation& translation = translations_[i];
    const Passage& passage = passages()[i];
    const bool unchanged = !passage.beside() && !passage.anew && translation.text == segments_[i].text;
    if (translation.failed && !passage.if_failed.empty())
      write_failed(passage);
    else if (ways_[i] != Way::original && !translation.failed && !unchanged)
      write_translation(i);
    else if (!passage.place)
      finish(replaced);
    if (written_[i].end == 0) written_[i].end = out_.size();
    if (passage.trail.empty()) return;
    copy_to(replaced.end);
    out_ += passage.trail;
  }

  void write_translation(size_t i) {
    const Passage& passage = passages()[i];
    std::function<void(Range)> between;
    if (!passage.place) between = [this](Range range) { at_ = range.begin, finish(range); };
    out_ += passage.before;
    write_passage({piece_.bytes, *piece_.style, out_, between}, passage, translations_[i],
                  ways_[i] == Way::whole_words);
    out_ += passage.after;
    if (piece_.style->tidy) piece_.style->tidy(out_, written_[i].begin, passage);
    at_ = passage.replaced().end;
    written_[i].end = out_.size();
    if (!passage.adornments.empty()) adorn(i);
  }

  void write_failed(const Passage& passage) {
    out_ += passage.if_failed;
    at_ = passage.replaced().end;
  }

  // The lines above and below a heading get as much longer or shorter as it did.
  void adorn(size_t i) {
    const Passage& passage = passages()[i];
    const Range replaced = passage.replaced();
    const auto width = [&](std::string_view text) { return piece_.style->width(text); };
    const size_t before = width(replaced.of(piece_.bytes));
    const size_t now = width(written_[i].of(out_).substr(passage.before.size()));
    for (const Range& line : passage.adornments) {
      const size_t length = std::max<size_t>(line.size() + now, before + 1) - before;
      if (line.begin < replaced.begin) {
        const size_t from = written_[i].begin - (replaced.begin - line.begin);
        out_.replace(from, line.size(), length, piece_.bytes[line.begin]);
        written_[i] = {written_[i].begin + length - line.size(), written_[i].end + length - line.size()};
      } else {
        copy_to(line.begin);
        out_.append(length, piece_.bytes[line.begin]);
        at_ = line.end;
      }
    }
  }

  void copy_to(size_t end) {
    const auto& edits = piece_.found.edits;
    const auto is_before = [&](const Edit& edit) {
      return edit.at.begin < end || (edit.at.begin == end && edit.at.empty());
    };
    for (; edit_ < edits.size() && is_before(edits[edit_]); ++edit_) {
      out_ += Range{at_, edits[edit_].at.begin}.of(piece_.bytes);
      out_ += edits[edit_].text;
      at_ = edits[edit_].at.end;
    }
    out_ += Range{at_, end}.of(piece_.bytes);
    at_ = std::max(at_, end);
  }

  [[nodiscard]] const std::vector<Passage>& passages() const { return piece_.found.passages; }

  const Piece& piece_;
  std::span<const Segment> segments_;
  std::span<const Translation> translations_;
  std::span<const Way> ways_;
  std::vector<Range> written_;
  std::string out_;
  size_t at_ = 0, edit_ = 0, next_ = 0;
};

// The markup within each passage and in front of it, as sums that do not depend on the order.
std::vector<size_t> markup_sums(std::span<const Markup> markup, std::span<const Range> passages) {
  std::vector<size_t> sums(2 * passages.size() + 1, 0);
  std::vector<size_t> open;  // passages around this place, the innermost last
  size_t next = 0;
  for (const Markup& m : markup) {
    for (; next < passages.size() && passages[next].begin <= m.at; ++next) open.push_back(next);
    while (!open.empty() && passages[open.back()].end <= m.at) open.pop_back();
    const size_t mixed = (m.number ^ (m.number >> 29)) * size_t{0xbf58476d1ce4e5b9};
    sums[open.empty() ? 2 * next : 2 * open.back() + 1] += mixed ^ (mixed >> 32);
  }
  return sums;
}

// Passages whose markup is not what it was, or beside which it is not.
std::vector<size_t> differing_passages(std::span<const size_t> before, std::span<const size_t> now) {
  std::vector<bool> differs(before.size() / 2 + 1, false);
  const size_t count = before.size() / 2;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i] == now[i]) continue;
    differs[i / 2] = true;
    if (i % 2 == 0 && i > 0) differs[i / 2 - 1] = true;
  }
  std::vector<size_t> all;
  for (size_t i = 0; i < count; ++i) {
    if (differs[i]) all.push_back(i);
  }
  return all;
}

std::vector<Range> places_of(const std::vector<Passage>& passages) {
  std::vector<Range> places;
  for (const Passage& p : passages) places.push_back(p.replaced());
  return places;
}

}  // namespace

struct Document::Content {
  Kind kind;
  Options options;
  std::string archive;  // the document's own bytes, where these are not its only piece's
  std::vector<Piece> pieces;
  std::vector<Segment> segments;

  [[nodiscard]] PieceWriter writer(const Piece& piece, size_t first, std::span<const Translation> translations,
                                   std::span<const Way> ways) const {
    const size_t count = piece.found.passages.size();
    return PieceWriter(piece, std::span(segments).subspan(first, count), translations.subspan(first, count),
                       ways.subspan(first, count));
  }

  [[nodiscard]] std::vector<std::string> write_pieces(std::span<const Translation> translations) const {
    const std::vector<Way> ways(segments.size(), Way::linked_words);
    std::vector<std::string> written;
    size_t first = 0;
    for (const Piece& piece : pieces) {
      written.push_back(writer(piece, first, translations, ways).write());
      first += piece.found.passages.size();
    }
    return written;
  }

  // The passages whose markup is another one in `out`.
  [[nodiscard]] Result<std::vector<size_t>> changed(std::string_view out, std::span<const Range> written) const {
    const Piece& piece = pieces.front();
    if (kind == Kind::markdown)
      return changed_markup(piece.bytes, piece.found.passages, out, markup_begin(piece.bytes));
    LAPILLI_TRY(const Found again, traits_of(kind).find(out, markup_begin(out), options));
    return differing_passages(markup_sums(piece.found.markup, places_of(piece.found.passages)),
                              markup_sums(again.markup, written));
  }

  // Reads the result back and takes the next way for passages whose markup changed, until none does.
  [[nodiscard]] std::string write_checked(std::span<const Translation> translations) const {
    const Piece& piece = pieces.front();
    std::vector<Way> ways(segments.size(), Way::linked_words);
    for (size_t round = 0; round < kMostRounds; ++round) {
      PieceWriter writing = writer(piece, 0, translations, ways);
      std::string out = writing.write();
      const auto differ = changed(out, writing.written());
      if (!differ) break;
      if (differ->empty()) return out;
      bool again = false;
      for (const size_t i : *differ) {
        again |= ways[i] != Way::original;
        ways[i] = ways[i] == Way::linked_words ? Way::whole_words : Way::original;
      }
      if (!again) break;
    }
    return piece.bytes;
  }

  [[nodiscard]] std::vector<bool> joined() const {
    std::vector<bool> all;
    for (const Piece& piece : pieces)
      for (const Passage& passage : piece.found.passages) all.push_back(passage.joined);
    return all;
  }
  [[nodiscard]] bool has_joined() const {
    const auto in = [](const Piece& p) { return std::ranges::any_of(p.found.passages, &Passage::joined); };
    return std::ranges::any_of(pieces, in);
  }

  // Passages that belong together fail together.
  [[nodiscard]] std::vector<Translation> without_halves(std::span<const Translation> translations) const {
    std::vector<Translation> whole(translations.begin(), translations.end());
    const std::vector<bool> with = joined();
    for (size_t begin = 0, end = 0; begin < whole.size(); begin = end) {
      for (end = begin + 1; end < whole.size() && with[end];) ++end;
      const auto group = std::span(whole).subspan(begin, end - begin);
      const bool failed = std::ranges::any_of(group, &Translation::failed);
      for (Translation& t : group) t.failed |= failed;
    }
    return whole;
  }

  // The piece of a segment, and the segment's number in it.
  [[nodiscard]] std::pair<const Piece*, size_t> piece_of(size_t segment) const {
    size_t piece = 0;
    for (; segment >= pieces[piece].found.passages.size(); ++piece) segment -= pieces[piece].found.passages.size();
    return {&pieces[piece], segment};
  }
};

Document::Document(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

Result<Document> Document::parse(Kind kind, std::string bytes, const Options& options) {
  if (bytes.size() > kMostBytes) {
    return fail(ErrorCode::unsupported, "%u bytes are too many, a document has at most %u: split it", bytes.size(),
                kMostBytes);
  }
  const KindTraits& traits = traits_of(kind);
  auto content = std::make_shared<Content>();
  content->kind = kind;
  content->options = options;
  if (traits.unpack) {
    content->archive = std::move(bytes);
    LAPILLI_TRY(content->pieces, traits.unpack(content->archive, options));
  } else {
    LAPILLI_TRY(content->pieces, one_piece(traits, std::move(bytes), options));
  }
  const KeptNames names(options.keep);
  for (Piece& piece : content->pieces) {
    for (Passage& passage : piece.found.passages) {
      if (!names.empty()) names.keep_in(passage);
      content->segments.push_back(segment_of(passage));
    }
  }
  return Document(std::move(content));
}

const std::vector<Segment>& Document::segments() const { return content_->segments; }

size_t Document::line(size_t segment) const {
  const auto [piece, passage] = content_->piece_of(segment);
  return line_of(piece->bytes, piece->found.passages[passage].source().begin);
}

std::vector<std::string> Document::notes() const {
  std::vector<std::string> all;
  for (const Piece& piece : content_->pieces) all.insert(all.end(), piece.found.notes.begin(), piece.found.notes.end());
  return all;
}

Result<std::string> Document::render(std::span<const Translation> translations) const {
  const size_t count = segments().size();
  if (translations.size() != count) {
    return fail(ErrorCode::invalid_argument, "the document has %u segments, not %u", count, translations.size());
  }
  for (size_t i = 0; i < count; ++i) {
    if (find_invalid_utf8(translations[i].text)) {
      return fail(ErrorCode::invalid_argument, "the translation of segment %u is not UTF-8", i);
    }
  }
  if (traits_of(content_->kind).read_again) return content_->write_checked(translations);
  if (content_->has_joined()) return pack_pieces(content_->without_halves(translations));
  return pack_pieces(translations);
}

Result<std::string> Document::pack_pieces(std::span<const Translation> translations) const {
  std::vector<std::string> pieces = content_->write_pieces(translations);
  if (const auto pack = traits_of(content_->kind).pack) return pack(content_->archive, pieces);
  return std::move(pieces.front());
}

}  // namespace lapilli::documents
