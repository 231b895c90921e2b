#include "documents/office/office_archive.hpp"

#include <algorithm>
#include <utility>

#include "documents/archive/zip_archive.hpp"
#include "documents/html_tokens.hpp"
#include "documents/office/office_rules.hpp"
#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

namespace {

// The first piece of a file begins with the file's name between two of these, which no XML has; pieces of texts in it
// follow.
constexpr char kNameMark = '\x01';

std::string file_head(std::string_view name) { return kNameMark + std::string(name) + kNameMark; }

// The name in a piece's head; "" if it is a text within another.
std::string_view name_in(std::string_view piece) {
  if (!piece.starts_with(kNameMark)) return {};
  return piece.substr(1, piece.find(kNameMark, 1) - 1);
}

// ---- what is refused, and what is said
// -------------------------------------------------------------------------------

Status check_container(std::string_view bytes) {
  constexpr std::string_view kOldOffice = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
  constexpr std::string_view kEncrypted("E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e", 31);
  if (bytes.starts_with(kOldOffice) && bytes.find(kEncrypted) != std::string_view::npos)
    return fail(ErrorCode::unsupported, "the document is encrypted: save it without a password");
  if (bytes.starts_with(kOldOffice))
    return fail(ErrorCode::unsupported,
                "the document is in the format of Office before 2007: save it as .docx, .xlsx or .pptx");
  if (!bytes.starts_with("PK"))
    return fail(ErrorCode::invalid_data, "the document is no zip archive, which files of its kind are: save it again");
  if (!have_deflate())
    return fail(ErrorCode::unsupported,
                "this build reads no office files: install zlib (Debian: zlib1g-dev), configure and build again");
  return {};
}

// The files that a list of encrypted ones names, sorted.
Result<std::vector<std::string>> encrypted_files(std::string_view list) {
  std::vector<std::string> names;
  XmlTokens tokens(list, 0);
  for (XmlToken token;;) {
    LAPILLI_TRY(const bool more, tokens.next(token));
    if (!more) break;
    if (token.type == XmlToken::start_tag && token.attribute("URI"))
      names.push_back(decode_xml(token.value("URI", list)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status check_protection(const ZipArchive& archive, const std::string& list) {
  LAPILLI_TRY(const std::vector<std::string> names, encrypted_files(list));
  const auto lost = [&](const ArchivedFile& file) {
    return rules_of(Kind::epub, file.name) && std::binary_search(names.begin(), names.end(), std::string(file.name));
  };
  if (!std::any_of(archive.files().begin(), archive.files().end(), lost)) return {};
  return fail(ErrorCode::unsupported, "the book is protected by its seller: its texts are encrypted");
}

// OpenDocument encrypts files within the archive, e-books those that a shop protects.
Status check_encryption(const ZipArchive& archive, Kind kind) {
  const ArchivedFile* listed = archive.find(kind == Kind::epub ? "META-INF/encryption.xml" : "META-INF/manifest.xml");
  if (!listed || (kind != Kind::epub && kind != Kind::odt && kind != Kind::odp && kind != Kind::ods)) return {};
  LAPILLI_TRY(const std::string list, archive.read(*listed));
  if (kind == Kind::epub) return check_protection(archive, list);
  if (list.find("encryption-data") != std::string::npos)
    return fail(ErrorCode::unsupported, "the document is encrypted: save it without a password");
  return {};
}

bool is_signed(const ZipArchive& archive) {
  return std::any_of(archive.files().begin(), archive.files().end(), [](const ArchivedFile& f) {
    return f.name.starts_with("_xmlsignatures/") || f.name == "META-INF/documentsignatures.xml";
  });
}

// ---- tables of a workbook: their columns' names are in the cells, too, and both have to be the same
// ------------------

bool names_columns(const ArchivedFile& file, Kind kind) {
  const bool listed = file.name.starts_with("xl/tables/") || file.name.starts_with("xl/pivotCache/");
  return kind == Kind::xlsx && listed && file.name.ends_with(".xml");
}

Result<std::vector<std::string>> column_names(const ZipArchive& archive, Kind kind) {
  std::vector<std::string> names;
  for (const ArchivedFile& file : archive.files()) {
    if (!names_columns(file, kind)) continue;
    LAPILLI_TRY(const std::string xml, archive.read(file));
    XmlTokens tokens(xml, 0);
    for (XmlToken token;;) {
      LAPILLI_TRY(const bool more, tokens.next(token));
      if (!more) break;
      const bool column =
          token.type == XmlToken::start_tag && (token.name == "tableColumn" || token.name == "cacheField");
      if (column) names.push_back(decode_xml(token.value("name", xml)));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// ---- the pages of an e-book
// ------------------------------------------------------------------------------------------

// Takes alternative texts out of a page, as take_apart() does.
std::vector<NestedText> take_page_apart(std::string_view page, size_t begin) {
  std::vector<NestedText> texts(1);
  size_t at = 0;
  HtmlTokens tokens(page, begin);
  for (HtmlToken token; tokens.next(token);) {
    for (const HtmlAttribute& a : token.attributes) {
      if (token.type != HtmlToken::start_tag || a.name != "alt" || a.value.empty() || a.value.begin < at) continue;
      texts[0].bytes += Range{at, a.value.begin}.of(page);
      texts[0].bytes += nesting_mark(texts.size());
      texts.push_back({std::string(a.value.of(page)), NestedSort::attribute});
      at = a.value.end;
    }
  }
  texts[0].bytes += page.substr(at);
  return texts;
}

// The languages that <html> names.
std::vector<Edit> language_edits(std::string_view page, size_t begin, const std::string& language) {
  std::vector<Edit> edits;
  HtmlTokens tokens(page, begin);
  for (HtmlToken token; !language.empty() && tokens.next(token);) {
    if (token.type != HtmlToken::start_tag) continue;
    if (token.name != "html") break;
    for (const HtmlAttribute& a : token.attributes) {
      std::string name;
      append_xml(name, language);
      if (a.name == "lang" || a.name == "xml:lang") edits.push_back({a.value, name});
    }
    break;
  }
  return edits;
}

// ---- pieces
// ----------------------------------------------------------------------------------------------------------

class Unpacking {
 public:
  Unpacking(Kind kind, const ZipArchive& archive, const Options& options)
      : kind_(kind), archive_(archive), options_(options) {}

  Result<std::vector<Piece>> run() {
    LAPILLI_CHECK(check_sizes());
    LAPILLI_TRY(columns_, column_names(archive_, kind_));
    for (const ArchivedFile& file : archive_.files()) {
      const MemberRules* rules = rules_of(kind_, file.name);
      if (!rules || file.size == 0) continue;
      if (auto done = add_file(file, *rules); !done) return std::move(done).error().in(std::string(file.name));
    }
    if (pieces_.empty())
      return fail(ErrorCode::invalid_data, "the archive has none of the files of this kind of document");
    if (is_signed(archive_))
      pieces_[0].found.notes.push_back("the document is signed: what changes breaks its signature");
    return std::move(pieces_);
  }

 private:
  // Before anything is unpacked: each file unpacks to the size that it says, or is refused.
  [[nodiscard]] Status check_sizes() const {
    uint64_t sum = 0;
    for (const ArchivedFile& file : archive_.files())
      if (rules_of(kind_, file.name) || names_columns(file, kind_)) sum += file.size;
    if (sum <= ZipArchive::kMostUnpacked) return {};
    return fail(ErrorCode::unsupported, "the document's texts have more than %u bytes: split it",
                ZipArchive::kMostUnpacked);
  }

  Status add_file(const ArchivedFile& file, const MemberRules& rules) {
    LAPILLI_TRY(const std::string content, archive_.read(file));
    LAPILLI_CHECK(check_xml_bytes(content));
    const std::string head = file_head(file.name);
    const size_t begin = head.size() + (content.starts_with("\xef\xbb\xbf") ? 3 : 0);
    LAPILLI_TRY(std::vector<NestedText> texts, take_texts(head + content, begin, rules));
    for (size_t i = 0; i < texts.size(); ++i) LAPILLI_CHECK(add_piece(std::move(texts[i]), i == 0 ? begin : 0, rules));
    return {};
  }

  static Result<std::vector<NestedText>> take_texts(std::string bytes, size_t begin, const MemberRules& rules) {
    if (rules.sort == MemberSort::page) return take_page_apart(bytes, begin);
    if (rules.nesting) return take_apart(bytes, begin, *rules.nesting);
    return std::vector<NestedText>{{std::move(bytes), NestedSort::markup}};
  }

  Status add_piece(NestedText text, size_t begin, const MemberRules& rules) {
    Piece& piece = pieces_.emplace_back();
    piece.bytes = std::move(text.bytes);
    piece.style = text.sort == NestedSort::attribute ? &kXmlValueStyle : rules.style;
    if (text.sort != NestedSort::markup) {
      find_words(piece);
      return {};
    }
    LAPILLI_TRY(piece.found, find(piece.bytes, begin, rules));
    return {};
  }

  [[nodiscard]] Result<Found> find(std::string_view bytes, size_t begin, const MemberRules& rules) const {
    if (rules.sort == MemberSort::runs) return find_run_passages(bytes, begin, *rules.runs, columns_);
    if (rules.sort == MemberSort::flow) return find_flow_passages(bytes, begin, *rules.flow, options_);
    LAPILLI_TRY(std::vector<Passage> passages, find_xhtml_passages(bytes, begin));
    return Found{std::move(passages), language_edits(bytes, begin, options_.target_language), {}};
  }

  static void find_words(Piece& piece) {
    PartBuilder words;
    add_xml_words(words, piece.bytes, {0, piece.bytes.size()});
    Passage passage;
    if (words.finish(passage.parts)) piece.found.passages.push_back(std::move(passage));
  }

  Kind kind_;
  const ZipArchive& archive_;
  const Options& options_;
  std::vector<std::string> columns_;
  std::vector<Piece> pieces_;
};

Result<std::vector<Piece>> unpack(Kind kind, std::string_view bytes, const Options& options) {
  LAPILLI_CHECK(check_container(bytes));
  LAPILLI_TRY(const ZipArchive archive, ZipArchive::open(bytes));
  LAPILLI_CHECK(check_encryption(archive, kind));
  return Unpacking(kind, archive, options).run();
}

}  // namespace

template <Kind kind>
Result<std::vector<Piece>> unpack_office(std::string_view archive, const Options& options) {
  return unpack(kind, archive, options);
}
template Result<std::vector<Piece>> unpack_office<Kind::docx>(std::string_view, const Options&);
template Result<std::vector<Piece>> unpack_office<Kind::pptx>(std::string_view, const Options&);
template Result<std::vector<Piece>> unpack_office<Kind::xlsx>(std::string_view, const Options&);
template Result<std::vector<Piece>> unpack_office<Kind::odt>(std::string_view, const Options&);
template Result<std::vector<Piece>> unpack_office<Kind::odp>(std::string_view, const Options&);
template Result<std::vector<Piece>> unpack_office<Kind::ods>(std::string_view, const Options&);
template Result<std::vector<Piece>> unpack_office<Kind::epub>(std::string_view, const Options&);

// A file whose bytes are the same is not packed again.
Result<std::string> pack_office(std::string_view bytes, const std::vector<std::string>& pieces) {
  LAPILLI_TRY(const ZipArchive archive, ZipArchive::open(bytes));
  std::vector<ZipArchive::Replacement> changed;
  for (size_t first = 0; first < pieces.size();) {
    size_t last = first + 1;
    while (last < pieces.size() && name_in(pieces[last]).empty()) ++last;
    const std::string_view name = name_in(pieces[first]);
    const ArchivedFile* file = archive.find(name);
    if (!file) return fail(ErrorCode::internal, "a file of the archive is lost");
    LAPILLI_TRY(const std::string whole, put_together(std::span(pieces).subspan(first, last - first)));
    LAPILLI_TRY(const std::string before, archive.read(*file));
    std::string now = whole.substr(file_head(name).size());
    if (now != before) changed.push_back({file->name, std::move(now)});
    first = last;
  }
  return changed.empty() ? std::string(bytes) : archive.replace(changed);
}

bool have_archives() { return have_deflate(); }

}  // namespace lapilli::documents
