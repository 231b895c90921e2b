#include "documents/document_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "documents/document.hpp"

namespace lapilli::documents {

struct DocumentText::Content {
  std::optional<Document> document;
};

DocumentText::DocumentText() : content_(std::make_unique<Content>()) {}
DocumentText::~DocumentText() = default;

std::string DocumentText::parse(std::string_view kind, std::string bytes, const Options& options) {
  const auto known = kind_called(kind);
  if (!known) return std::string(kind) + " is no kind of document";
  auto document = Document::parse(*known, std::move(bytes), options);
  if (!document) return document.error().message;
  content_->document.emplace(std::move(*document));
  return "";
}

size_t DocumentText::size() const { return content_->document->segments().size(); }
const std::string& DocumentText::text(size_t segment) const { return content_->document->segments()[segment].text; }
size_t DocumentText::line(size_t segment) const { return content_->document->line(segment); }
bool DocumentText::needs_links(size_t segment) const { return content_->document->segments()[segment].needs_links; }

std::vector<std::string> DocumentText::notes() const { return content_->document->notes(); }

bool DocumentText::keeps(size_t segment, std::string_view words) const {
  const Segment& s = content_->document->segments()[segment];
  return std::any_of(s.marks.begin(), s.marks.end(), [&](const Mark& m) {
    return m.kept && std::string_view(s.text).substr(m.begin, m.end - m.begin).find(words) != std::string_view::npos;
  });
}

std::string DocumentText::render(const std::vector<TranslatedSegment>& translations, std::string& bytes) const {
  std::vector<Translation> given(size());
  for (size_t i = 0; i < given.size(); ++i) {
    const bool known = i < translations.size() && !translations[i].failed;
    given[i].text = known ? translations[i].text : text(i);
    given[i].failed = !known;
    if (!known) continue;
    for (const TranslatedSegment::Link& l : translations[i].links)
      given[i].links.push_back({static_cast<size_t>(l.source_begin), static_cast<size_t>(l.source_end),
                                static_cast<size_t>(l.target_begin), static_cast<size_t>(l.target_end), l.weight});
  }
  auto rendered = content_->document->render(given);
  if (!rendered) return rendered.error().message;
  bytes = std::move(*rendered);
  return "";
}

}  // namespace lapilli::documents
