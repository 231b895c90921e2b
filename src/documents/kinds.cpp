#include "documents/kinds.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "documents/office/office_kinds.hpp"
#include "documents/apps/app_kinds.hpp"

namespace lapilli::documents {

namespace {

using FindPassages = std::vector<Passage> (*)(std::string_view, size_t);
using TryPassages = Result<std::vector<Passage>> (*)(std::string_view, size_t);

// For kinds whose words need no options, edits or notes.
template <FindPassages find>
Result<Found> passages_alone(std::string_view bytes, size_t begin, const Options&) {
  return Found{find(bytes, begin), {}, {}};
}
template <TryPassages find>
Result<Found> passages_or_error(std::string_view bytes, size_t begin, const Options&) {
  LAPILLI_TRY(std::vector<Passage> passages, find(bytes, begin));
  return Found{std::move(passages), {}, {}};
}

const std::array kTraits = {
    KindTraits{Kind::text, passages_alone<find_text_passages>, &kTextStyle},
    KindTraits{Kind::markdown, passages_or_error<find_markdown_passages>, &kMarkdownStyle},
    KindTraits{Kind::html, passages_or_error<find_html_passages>, &kHtmlStyle},
    KindTraits{Kind::srt, passages_alone<find_srt_passages>, &kSrtStyle},
    KindTraits{Kind::vtt, passages_alone<find_vtt_passages>, &kVttStyle},
    KindTraits{Kind::xliff, find_xliff_passages, &kXmlStyle},
    KindTraits{Kind::ts, find_qt_passages, &kXmlStyle},
    KindTraits{Kind::ttml, find_ttml_passages, &kXmlStyle},
    KindTraits{Kind::json, find_json, &kJsonStyle},
};

}  // namespace

const KindTraits& traits_of(Kind kind) {
  return *std::find_if(kTraits.begin(), kTraits.end(), [&](const KindTraits& t) { return t.kind == kind; });
}

bool kind_available(Kind kind) { return kind != Kind::markdown || have_markdown(); }

}  // namespace lapilli::documents
