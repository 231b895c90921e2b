#include "documents/document.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "documents/kinds.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kMostRounds = 200;  // a document that still changes after so many is returned as it was

struct KindName {
  Kind kind;
  const char* name;
};
constexpr std::array kNames = {KindName{Kind::text, "text"}, KindName{Kind::markdown, "markdown"},
                               KindName{Kind::html, "html"}, KindName{Kind::srt, "srt"}, KindName{Kind::vtt, "vtt"}};
constexpr std::array kExtensions = {
    KindName{Kind::text, "txt"},          KindName{Kind::text, "text"}, KindName{Kind::markdown, "md"},
    KindName{Kind::markdown, "markdown"}, KindName{Kind::html, "html"}, KindName{Kind::html, "htm"},
    KindName{Kind::html, "xhtml"},        KindName{Kind::srt, "srt"},   KindName{Kind::vtt, "vtt"}};

std::optional<Kind> find_kind(const auto& names, std::string_view name) {
  const auto at = std::find_if(names.begin(), names.end(), [&](const KindName& n) { return n.name == name; });
  return at == names.end() ? std::nullopt : std::optional(at->kind);
}

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

Result<std::vector<Passage>> find_passages(Kind kind, std::string_view bytes) {
  const size_t begin = markup_begin(bytes);
  switch (kind) {
    case Kind::text: return find_text_passages(bytes, begin);
    case Kind::markdown: return find_markdown_passages(bytes, begin);
    case Kind::html: return find_html_passages(bytes, begin);
    case Kind::srt: return find_srt_passages(bytes, begin);
    case Kind::vtt: return find_vtt_passages(bytes, begin);
  }
  return fail(ErrorCode::invalid_argument, "there is no kind of document %d", static_cast<int>(kind));
}

const Style& style_of(Kind kind) {
  switch (kind) {
    case Kind::markdown: return kMarkdownStyle;
    case Kind::html: return kHtmlStyle;
    case Kind::srt: return kSrtStyle;
    case Kind::vtt: return kVttStyle;
    case Kind::text: break;
  }
  return kTextStyle;
}

// How a translation is inserted; each next way has less that can go wrong.
enum class Way { linked_words, whole_words, original };

}  // namespace

struct Document::Content {
  Kind kind;
  std::string bytes;
  std::vector<Passage> passages;
  std::vector<Segment> segments;

  [[nodiscard]] std::string write(std::span<const Translation> translations, const std::vector<Way>& ways) const {
    std::string out;
    size_t at = 0;
    for (size_t i = 0; i < passages.size(); ++i) {
      const Range source = passages[i].source();
      out += Range{at, source.begin}.of(bytes);
      if (ways[i] == Way::original || translations[i].text == segments[i].text) {
        out += source.of(bytes);
      } else {
        write_passage({bytes, style_of(kind), out}, passages[i], translations[i], ways[i] == Way::whole_words);
      }
      at = source.end;
    }
    return out + bytes.substr(at);
  }

  // Reads the result back and takes the next way for passages whose markup changed, until none does.
  [[nodiscard]] std::string write_checked(std::span<const Translation> translations) const {
    std::vector<Way> ways(passages.size(), Way::linked_words);
    for (size_t round = 0; round < kMostRounds; ++round) {
      std::string out = write(translations, ways);
      const std::vector<size_t> changed = changed_markup(bytes, passages, out, markup_begin(bytes));
      if (changed.empty()) return out;
      bool again = false;
      for (const size_t i : changed) {
        again |= ways[i] != Way::original;
        ways[i] = ways[i] == Way::linked_words ? Way::whole_words : Way::original;
      }
      if (!again) break;
    }
    return bytes;
  }
};

std::optional<Kind> kind_called(std::string_view name) { return find_kind(kNames, name); }

std::optional<Kind> kind_of_name(std::string_view file_name) {
  const size_t dot = file_name.find_last_of("./\\");
  if (dot == std::string_view::npos || file_name[dot] != '.') return std::nullopt;
  return find_kind(kExtensions, ascii_lower(file_name.substr(dot + 1)));
}

const char* kind_name(Kind kind) {
  const auto at = std::find_if(kNames.begin(), kNames.end(), [&](const KindName& n) { return n.kind == kind; });
  return at == kNames.end() ? "?" : at->name;
}

bool kind_available(Kind kind) { return kind != Kind::markdown || have_markdown(); }

Document::Document(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

Result<Document> Document::parse(Kind kind, std::string bytes) {
  if (bytes.size() > kMostBytes) {
    return fail(ErrorCode::unsupported, "%u bytes are too many, a document has at most %u: split it", bytes.size(),
                kMostBytes);
  }
  LAPILLI_CHECK(check_utf8(bytes));
  auto content = std::make_shared<Content>();
  content->kind = kind;
  content->bytes = std::move(bytes);
  LAPILLI_TRY(content->passages, find_passages(kind, content->bytes));
  for (const Passage& passage : content->passages) content->segments.push_back(segment_of(passage));
  return Document(std::move(content));
}

const std::vector<Segment>& Document::segments() const { return content_->segments; }

size_t Document::line(size_t segment) const {
  return line_of(content_->bytes, content_->passages[segment].source().begin);
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
  return content_->kind == Kind::markdown ? content_->write_checked(translations)
                                          : content_->write(translations, std::vector<Way>(count, Way::linked_words));
}

}  // namespace lapilli::documents
