#include "documents/office/office_rules.hpp"

#include <algorithm>
#include <array>

#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

namespace {

using Name = std::string_view;

// ---- Office Open XML
// -------------------------------------------------------------------------------------------------

constexpr std::array<Name, 2> kOfficeParagraphs = {"w:p", "a:p"};
constexpr std::array<Name, 1> kTextBoxes = {"w:txbxContent"}, kNoPlain = {""};
constexpr std::array<Name, 2> kDescriptions = {"descr", "title"};
constexpr NestingRules kOfficeNesting = {kOfficeParagraphs, kTextBoxes, kNoPlain, kDescriptions, "docPr", "cNvPr"};

constexpr std::array<Name, 1> kWordParagraphs = {"w:p"};
constexpr std::array<Name, 8> kWordWrappers = {"w:hyperlink",  "w:ins", "w:moveTo",    "w:smartTag",
                                               "w:sdtContent", "w:sdt", "w:customXml", "w:dir"};
constexpr std::array<Name, 5> kWordDividers = {"w:tab", "w:ptab", "w:br", "w:cr", "w:pPr"};
constexpr std::array<Name, 1> kWordFields = {"w:fldSimple"};
constexpr std::array<Name, 2> kWordDropped = {"w:proofErr", "w:lastRenderedPageBreak"};
constexpr std::span<const Name> kNone = {};
constexpr RunRules kWordRules = {
    kWordParagraphs, "w:r",        "w:rPr", "w:t", "<w:t xml:space=\"preserve\">", kWordWrappers, kWordDividers,
    kWordFields,     kWordDropped, kNone,   kNone};

constexpr std::array<Name, 1> kSlideParagraphs = {"a:p"}, kSlideDividers = {"a:br"}, kSlideFields = {"a:fld"};
constexpr std::array<Name, 3> kSlideBreaks = {"\t", "\v", "\n"};
constexpr RunRules kSlideRules = {kSlideParagraphs, "a:r",        "a:rPr", "a:t",        "<a:t>", kNone,
                                  kSlideDividers,   kSlideFields, kNone,   kSlideBreaks, kNone};

constexpr std::array<Name, 3> kSheetParagraphs = {"si", "is", "text"};
constexpr std::array<Name, 2> kSheetCells = {"si", "is"};
constexpr std::array<Name, 5> kSheetBreaks = {"\n", "&#10;", "&#xA;", "&#xa;", "_x000D_"};
constexpr RunRules kSheetRules = {
    kSheetParagraphs, "r",        "rPr", "t", "<t xml:space=\"preserve\">", kNone, kNone, kNone, kNone,
    kSheetBreaks,     kSheetCells};

// The title of docProps/core.xml, and of OpenDocument's meta.xml.
constexpr std::array<Name, 1> kTitle = {"dc:title"};
constexpr FlowRules kTitleRules = {kTitle, kNone, kNone, kNone, kNone, "", "", ""};

// ---- OpenDocument
// ----------------------------------------------------------------------------------------------------

constexpr std::array<Name, 4> kOpenBlocks = {"text:p", "text:h", "svg:title", "svg:desc"};
constexpr std::array<Name, 3> kOpenPairs = {"text:span", "text:a", "text:meta"};
constexpr std::array<Name, 2> kOpenDividers = {"text:tab", "text:line-break"};
constexpr std::array<Name, 5> kOpenAside = {"text:note", "text:tracked-changes", "table:tracked-changes",
                                            "office:forms", "office:scripts"};
constexpr std::array<Name, 2> kOpenPoints = {"draw:", "office:annotation"};
constexpr FlowRules kOpenRules = {kOpenBlocks,        kOpenPairs, kOpenDividers, kOpenAside, kOpenPoints,
                                  "table:table-cell", "",         "text:s"};
constexpr std::array<Name, 2> kOpenParagraphs = {"text:p", "text:h"};
constexpr std::array<Name, 16> kOpenInside = {
    "text:note-body", "office:annotation", "draw:frame",    "draw:custom-shape",
    "draw:g",         "draw:rect",         "draw:ellipse",  "draw:circle",
    "draw:line",      "draw:connector",    "draw:polygon",  "draw:polyline",
    "draw:path",      "draw:caption",      "draw:text-box", "draw:a"};
constexpr NestingRules kOpenNesting = {kOpenParagraphs, kOpenInside, kNoPlain, kNone, "", ""};

// ---- EPUB
// ------------------------------------------------------------------------------------------------------------

constexpr std::array<Name, 2> kContents = {"text", "ncx:text"};
constexpr FlowRules kContentsRules = {kContents, kNone, kNone, kNone, kNone, "", "", ""};
constexpr std::array<Name, 1> kRemarks = {"p:text"};
constexpr FlowRules kRemarkRules = {kRemarks, kNone, kNone, kNone, kNone, "", "", ""};
constexpr FlowRules kPackageRules = {kTitle, kNone, kNone, kNone, kNone, "", "dc:language", ""};

// ---- files
// -----------------------------------------------------------------------------------------------------------

constexpr MemberRules runs(Name name, const RunRules& rules, const Style& style) {
  return {name, MemberSort::runs, &rules, nullptr, &kOfficeNesting, &style};
}
constexpr MemberRules flow(Name name, const FlowRules& rules, const NestingRules* nesting = nullptr) {
  return {name, MemberSort::flow, nullptr, &rules, nesting, &kXmlStyle};
}
constexpr MemberRules slide(Name name) { return runs(name, kSlideRules, kSlideStyle); }
constexpr MemberRules sheet(Name name) { return runs(name, kSheetRules, kSheetStyle); }
constexpr MemberRules word(Name name) { return runs(name, kWordRules, kWordStyle); }

constexpr std::array kWordFiles = {word("word/document*.xml"),
                                   word("word/header*.xml"),
                                   word("word/footer*.xml"),
                                   word("word/footnotes*.xml"),
                                   word("word/endnotes*.xml"),
                                   word("word/comments.xml"),
                                   slide("word/charts/chart*.xml"),
                                   slide("word/diagrams/data*.xml"),
                                   slide("word/diagrams/drawing*.xml"),
                                   flow("docProps/core.xml", kTitleRules)};
constexpr std::array kSlideFiles = {slide("ppt/slides/slide*.xml"),
                                    slide("ppt/notesSlides/notesSlide*.xml"),
                                    slide("ppt/charts/chart*.xml"),
                                    slide("ppt/diagrams/data*.xml"),
                                    slide("ppt/diagrams/drawing*.xml"),
                                    slide("ppt/comments/modernComment*.xml"),
                                    flow("ppt/comments/comment*.xml", kRemarkRules),
                                    flow("docProps/core.xml", kTitleRules)};
constexpr std::array kSheetFiles = {sheet("xl/sharedStrings.xml"),
                                    sheet("xl/worksheets/sheet*.xml"),
                                    sheet("xl/comments*.xml"),
                                    sheet("xl/comments/comment*.xml"),
                                    slide("xl/drawings/drawing*.xml"),
                                    slide("xl/charts/chart*.xml"),
                                    flow("xl/threadedComments/threadedComment*.xml", kContentsRules),
                                    flow("docProps/core.xml", kTitleRules)};
constexpr std::array kOpenFiles = {flow("content.xml", kOpenRules, &kOpenNesting),
                                   flow("styles.xml", kOpenRules, &kOpenNesting), flow("meta.xml", kTitleRules)};
constexpr std::array kBookFiles = {MemberRules{"*.xhtml", MemberSort::page, nullptr, nullptr, nullptr, &kHtmlStyle},
                                   MemberRules{"*.html", MemberSort::page, nullptr, nullptr, nullptr, &kHtmlStyle},
                                   MemberRules{"*.htm", MemberSort::page, nullptr, nullptr, nullptr, &kHtmlStyle},
                                   flow("*.ncx", kContentsRules), flow("*.opf", kPackageRules)};

bool matches(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return false;
  const std::string_view middle = name.substr(head.size(), name.size() - head.size() - tail.size());
  return star == 0 || middle.find('/') == std::string_view::npos;
}

}  // namespace

std::span<const MemberRules> member_rules(Kind kind) {
  switch (kind) {
    case Kind::docx: return kWordFiles;
    case Kind::pptx: return kSlideFiles;
    case Kind::xlsx: return kSheetFiles;
    case Kind::odt:
    case Kind::odp:
    case Kind::ods: return kOpenFiles;
    case Kind::epub: return kBookFiles;
    default: return {};
  }
}

const MemberRules* rules_of(Kind kind, std::string_view member) {
  for (const MemberRules& rules : member_rules(kind))
    if (matches(member, rules.name)) return &rules;
  return nullptr;
}

}  // namespace lapilli::documents
