#include "documents/document.hpp"

#include <algorithm>
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
  explicit PieceWriter(const Piece& piece) : piece_(piece) {}

  std::string write(std::span<const Segment> segments, std::span<const Translation> translations,
                    std::span<const Way> ways) {
    const std::vector<Passage>& passages = piece_.found.passages;
    for (size_t i = 0; i < passages.size(); ++i) {
      copy_to(passages[i].replaced().begin);
      out_ += passages[i].lead;
      write_one(passages[i], segments[i], translations[i], ways[i]);
      if (passages[i].trail.empty()) continue;
      copy_to(passages[i].replaced().end);
      out_ += passages[i].trail;
    }
    copy_to(piece_.bytes.size());
    return std::move(out_);
  }

 private:
  void write_one(const Passage& passage, const Segment& segment, const Translation& translation, Way way) {
    const bool unchanged = !passage.beside() && !passage.anew && translation.text == segment.text;
    if (translation.failed && !passage.if_failed.empty()) {
      out_ += passage.if_failed;
      at_ = passage.replaced().end;
    } else if (way != Way::original && !translation.failed && !unchanged) {
      write_translation(passage, translation, way == Way::whole_words);
    }
  }

  void write_translation(const Passage& passage, const Translation& translation, bool whole_words) {
    const size_t begin = out_.size();
    out_ += passage.before;
    write_passage({piece_.bytes, *piece_.style, out_}, passage, translation, whole_words);
    out_ += passage.after;
    if (piece_.style->tidy) piece_.style->tidy(out_, begin, passage);
    at_ = passage.replaced().end;
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

  const Piece& piece_;
  std::string out_;
  size_t at_ = 0, edit_ = 0;
};

}  // namespace

struct Document::Content {
  Kind kind;
  std::string archive;  // the document's own bytes, where these are not its only piece's
  std::vector<Piece> pieces;
  std::vector<Segment> segments;

  [[nodiscard]] std::string write(const Piece& piece, size_t first, std::span<const Translation> translations,
                                  std::span<const Way> ways) const {
    const size_t count = piece.found.passages.size();
    return PieceWriter(piece).write(std::span(segments).subspan(first, count), translations.subspan(first, count),
                                    ways.subspan(first, count));
  }

  [[nodiscard]] std::vector<std::string> write_pieces(std::span<const Translation> translations) const {
    const std::vector<Way> ways(segments.size(), Way::linked_words);
    std::vector<std::string> written;
    size_t first = 0;
    for (const Piece& piece : pieces) {
      written.push_back(write(piece, first, translations, ways));
      first += piece.found.passages.size();
    }
    return written;
  }

  // Reads the result back and takes the next way for passages whose markup changed, until none does.
  [[nodiscard]] std::string write_checked(std::span<const Translation> translations) const {
    const Piece& piece = pieces.front();
    std::vector<Way> ways(segments.size(), Way::linked_words);
    for (size_t round = 0; round < kMostRounds; ++round) {
      std::string out = write(piece, 0, translations, ways);
      const auto changed = changed_markup(piece.bytes, piece.found.passages, out, markup_begin(piece.bytes));
      if (changed.empty()) return out;
      bool again = false;
      for (const size_t i : changed) {
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
  if (content_->kind == Kind::markdown) return content_->write_checked(translations);
  if (content_->has_joined()) return pack_pieces(content_->without_halves(translations));
  return pack_pieces(translations);
}

Result<std::string> Document::pack_pieces(std::span<const Translation> translations) const {
  std::vector<std::string> pieces = content_->write_pieces(translations);
  if (const auto pack = traits_of(content_->kind).pack) return pack(content_->archive, pieces);
  return std::move(pieces.front());
}

}  // namespace lapilli::documents
