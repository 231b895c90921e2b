#include "documents/markdown_outline.hpp"

#if defined(LAPILLI_HAVE_MD4C)
#include <md4c.h>

#include <functional>
#include <utility>
#endif

namespace lapilli::documents {

#if defined(LAPILLI_HAVE_MD4C)

namespace {

// Follows md4c through a document. The text that md4c reports points into the document, except for line breaks and the
// like.
class Outliner {
 public:
  explicit Outliner(std::string_view bytes) : bytes_(bytes) {}

  static int enter_block(MD_BLOCKTYPE type, void* detail, void* self) {
    return static_cast<Outliner*>(self)->block(type, detail, true);
  }
  static int leave_block(MD_BLOCKTYPE type, void* detail, void* self) {
    return static_cast<Outliner*>(self)->block(type, detail, false);
  }
  static int enter_span(MD_SPANTYPE type, void* detail, void* self) {
    return static_cast<Outliner*>(self)->span(type, detail, MarkdownEvent::enter);
  }
  static int leave_span(MD_SPANTYPE type, void* detail, void* self) {
    return static_cast<Outliner*>(self)->span(type, detail, MarkdownEvent::leave);
  }
  static int text(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
    return static_cast<Outliner*>(self)->words(type, {text, size});
  }

  std::vector<MarkdownLeaf> leaves;

 private:
  int block(MD_BLOCKTYPE type, void* detail, bool enters) {
    open_ = false;
    if (!enters) {
      if (paths_.size() > 1) paths_.pop_back();
      return 0;
    }
    const unsigned level = type == MD_BLOCK_H ? static_cast<MD_BLOCK_H_DETAIL*>(detail)->level : 0;
    paths_.push_back(within(paths_.back(), static_cast<uint64_t>(type) + 100 * level + 1));
    if (type != MD_BLOCK_DOC && type != MD_BLOCK_QUOTE) leaf(type);
    return 0;
  }

  // Each block counts as a leaf until it turns out to contain others, even if it is empty.
  void leaf(MD_BLOCKTYPE type) {
    MarkdownLeaf& leaf = leaves.emplace_back();
    leaf.path = paths_.back();
    leaf.in_table = type == MD_BLOCK_TH || type == MD_BLOCK_TD;
    leaf.in_heading = type == MD_BLOCK_H;
    leaf.verbatim = type == MD_BLOCK_CODE || type == MD_BLOCK_HTML;
    open_ = true;
  }

  // Text of a block that follows blocks nested in it has a leaf of its own.
  std::vector<MarkdownEvent>& events() {
    if (!open_) {
      leaves.emplace_back().path = paths_.back();
      open_ = true;
    }
    return leaves.back().events;
  }

  int span(MD_SPANTYPE type, void* detail, MarkdownEvent::Kind kind) {
    MarkdownEvent event{kind};
    switch (type) {
      case MD_SPAN_STRONG: event.span = Span::strong; break;
      case MD_SPAN_DEL: event.span = Span::deleted; break;
      case MD_SPAN_CODE: event.span = Span::code; break;
      case MD_SPAN_A: {
        event.span = Span::link;
        const auto* link = static_cast<MD_SPAN_A_DETAIL*>(detail);
        event.target = attribute(link->href) + "\n" + attribute(link->title);
        break;
      }
      case MD_SPAN_IMG: {
        event.span = Span::image;
        const auto* image = static_cast<MD_SPAN_IMG_DETAIL*>(detail);
        event.target = attribute(image->src) + "\n" + attribute(image->title);
        break;
      }
      default: break;
    }
    events().push_back(std::move(event));
    return 0;
  }

  static std::string attribute(const MD_ATTRIBUTE& a) { return a.text ? std::string(a.text, a.size) : std::string(); }

  [[nodiscard]] Range range_of(std::string_view words) const {
    const std::less_equal<const char*> before;
    const char* end = words.data() + words.size();
    if (!before(bytes_.data(), words.data()) || !before(end, bytes_.data() + bytes_.size())) return {};
    const auto begin = static_cast<size_t>(words.data() - bytes_.data());
    return {begin, begin + words.size()};
  }

  int words(MD_TEXTTYPE type, std::string_view words) {
    MarkdownEvent event{MarkdownEvent::words, Span::emphasis, range_of(words), {}};
    switch (type) {
      case MD_TEXT_NULLCHAR: event.kind = MarkdownEvent::null; break;
      case MD_TEXT_BR: event.kind = MarkdownEvent::hard_break; break;
      case MD_TEXT_SOFTBR: event.kind = MarkdownEvent::soft_break; break;
      case MD_TEXT_ENTITY: event.kind = MarkdownEvent::entity; break;
      case MD_TEXT_HTML: event.kind = MarkdownEvent::html; break;
      case MD_TEXT_CODE: event.target = words; break;
      default: break;
    }
    events().push_back(std::move(event));
    return 0;
  }

  std::string_view bytes_;
  std::vector<uint64_t> paths_{1};
  bool open_ = false;  // the last leaf takes further events
};

}  // namespace

bool have_markdown_parser() { return true; }

Result<std::vector<MarkdownLeaf>> outline_markdown(std::string_view bytes, size_t begin) {
  Outliner outliner(bytes);
  const MD_PARSER parser = {0,
                            MD_DIALECT_GITHUB,
                            Outliner::enter_block,
                            Outliner::leave_block,
                            Outliner::enter_span,
                            Outliner::leave_span,
                            Outliner::text,
                            nullptr,
                            nullptr};
  if (md_parse(bytes.data() + begin, static_cast<MD_SIZE>(bytes.size() - begin), &parser, &outliner) != 0) {
    return fail(ErrorCode::out_of_memory, "the Markdown parser ran out of memory");
  }
  return std::move(outliner.leaves);
}

#else

bool have_markdown_parser() { return false; }

Result<std::vector<MarkdownLeaf>> outline_markdown(std::string_view, size_t) {
  return fail(ErrorCode::unsupported,
              "this build does not read Markdown: install md4c (Debian: libmd4c-dev), configure and build again");
}

#endif

}  // namespace lapilli::documents
