#include "documents/kinds.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "documents/apps/app_kinds.hpp"
#include "documents/markup/markup.hpp"
#include "documents/office/office_archive.hpp"
#include "documents/office/office_kinds.hpp"

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
    KindTraits{Kind::markdown, passages_or_error<find_markdown_passages>, &kMarkdownStyle, nullptr, nullptr, nullptr,
               true},
    KindTraits{Kind::html, passages_or_error<find_html_passages>, &kHtmlStyle},
    KindTraits{Kind::srt, passages_alone<find_srt_passages>, &kSrtStyle},
    KindTraits{Kind::vtt, passages_alone<find_vtt_passages>, &kVttStyle},
    KindTraits{Kind::xliff, find_xliff_passages, &kXliffStyle},
    KindTraits{Kind::ts, find_qt_passages, &kXmlStyle},
    KindTraits{Kind::ttml, find_ttml_passages, &kXmlLinesStyle},
    KindTraits{Kind::docx, nullptr, nullptr, unpack_office<Kind::docx>, pack_office},
    KindTraits{Kind::pptx, nullptr, nullptr, unpack_office<Kind::pptx>, pack_office},
    KindTraits{Kind::xlsx, nullptr, nullptr, unpack_office<Kind::xlsx>, pack_office},
    KindTraits{Kind::odt, nullptr, nullptr, unpack_office<Kind::odt>, pack_office},
    KindTraits{Kind::odp, nullptr, nullptr, unpack_office<Kind::odp>, pack_office},
    KindTraits{Kind::ods, nullptr, nullptr, unpack_office<Kind::ods>, pack_office},
    KindTraits{Kind::epub, nullptr, nullptr, unpack_office<Kind::epub>, pack_office},
    KindTraits{Kind::json, find_json, &kJsonStyle},
    KindTraits{Kind::yaml, find_yaml, &kYamlStyle},
    KindTraits{Kind::properties, nullptr, nullptr, unpack_properties, pack_properties},
    KindTraits{Kind::strings, nullptr, nullptr, unpack_strings, pack_strings},
    KindTraits{Kind::stringsdict, find_stringsdict, &kStringsdictStyle},
    KindTraits{Kind::xcstrings, find_xcstrings, &kJsonStyle},
    KindTraits{Kind::android, find_android, &kAndroidStyle},
    KindTraits{Kind::csv, find_csv, &kCsvStyle},
    KindTraits{Kind::po, find_po, &kPoStyle, nullptr, nullptr, po_charset_error},
    KindTraits{Kind::ass, find_ass, &kAssStyle},
    KindTraits{Kind::sbv, find_sbv, &kSbvStyle},
    KindTraits{Kind::lrc, find_lrc, &kLrcStyle},
    KindTraits{Kind::tex, find_tex, &kTexStyle, nullptr, nullptr, nullptr, true},
    KindTraits{Kind::rst, find_rst, &kRstStyle, nullptr, nullptr, nullptr, true},
    KindTraits{Kind::asciidoc, find_asciidoc, &kAsciidocStyle, nullptr, nullptr, nullptr, true},
};

}  // namespace

const KindTraits& traits_of(Kind kind) {
  return *std::find_if(kTraits.begin(), kTraits.end(), [&](const KindTraits& t) { return t.kind == kind; });
}

bool kind_is_of_bytes(Kind kind) { return traits_of(kind).unpack != nullptr; }

bool kind_available(Kind kind) {
  return kind == Kind::markdown ? have_markdown() : !traits_of(kind).unpack || have_archives();
}

}  // namespace lapilli::documents
