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
    KindTraits{.kind = Kind::text, .find = passages_alone<find_text_passages>, .style = &kTextStyle},
    KindTraits{.kind = Kind::markdown,
               .find = passages_or_error<find_markdown_passages>,
               .style = &kMarkdownStyle,
               .read_again = true},
    KindTraits{.kind = Kind::html, .find = passages_or_error<find_html_passages>, .style = &kHtmlStyle},
    KindTraits{.kind = Kind::srt, .find = passages_alone<find_srt_passages>, .style = &kSrtStyle},
    KindTraits{.kind = Kind::vtt, .find = passages_alone<find_vtt_passages>, .style = &kVttStyle},
    KindTraits{.kind = Kind::xliff, .find = find_xliff_passages, .style = &kXliffStyle},
    KindTraits{.kind = Kind::ts, .find = find_qt_passages, .style = &kXmlStyle},
    KindTraits{.kind = Kind::ttml, .find = find_ttml_passages, .style = &kXmlLinesStyle},
    KindTraits{.kind = Kind::docx, .unpack = unpack_office<Kind::docx>, .pack = pack_office},
    KindTraits{.kind = Kind::pptx, .unpack = unpack_office<Kind::pptx>, .pack = pack_office},
    KindTraits{.kind = Kind::xlsx, .unpack = unpack_office<Kind::xlsx>, .pack = pack_office},
    KindTraits{.kind = Kind::odt, .unpack = unpack_office<Kind::odt>, .pack = pack_office},
    KindTraits{.kind = Kind::odp, .unpack = unpack_office<Kind::odp>, .pack = pack_office},
    KindTraits{.kind = Kind::ods, .unpack = unpack_office<Kind::ods>, .pack = pack_office},
    KindTraits{.kind = Kind::epub, .unpack = unpack_office<Kind::epub>, .pack = pack_office},
    KindTraits{.kind = Kind::json, .find = find_json, .style = &kJsonStyle},
    KindTraits{.kind = Kind::yaml, .find = find_yaml, .style = &kYamlStyle},
    KindTraits{.kind = Kind::properties, .unpack = unpack_properties, .pack = pack_properties},
    KindTraits{.kind = Kind::strings, .unpack = unpack_strings, .pack = pack_strings},
    KindTraits{.kind = Kind::stringsdict, .find = find_stringsdict, .style = &kStringsdictStyle},
    KindTraits{.kind = Kind::xcstrings, .find = find_xcstrings, .style = &kJsonStyle},
    KindTraits{.kind = Kind::android, .find = find_android, .style = &kAndroidStyle},
    KindTraits{.kind = Kind::csv, .find = find_csv, .style = &kCsvStyle},
    KindTraits{.kind = Kind::po, .find = find_po, .style = &kPoStyle, .charset_error = po_charset_error},
    KindTraits{.kind = Kind::ass, .find = find_ass, .style = &kAssStyle},
    KindTraits{.kind = Kind::sbv, .find = find_sbv, .style = &kSbvStyle},
    KindTraits{.kind = Kind::lrc, .find = find_lrc, .style = &kLrcStyle},
    KindTraits{.kind = Kind::tex, .find = find_tex, .style = &kTexStyle, .read_again = true},
    KindTraits{.kind = Kind::rst, .find = find_rst, .style = &kRstStyle, .read_again = true},
    KindTraits{.kind = Kind::asciidoc, .find = find_asciidoc, .style = &kAsciidocStyle, .read_again = true},
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
