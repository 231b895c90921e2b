#include "random_office.hpp"

namespace lapilli::documents {

namespace {

using Strings = std::vector<std::string>;

const Strings kOfficeWords = {"the",
                              "red",
                              "house,",
                              "of",
                              "many",
                              "words.",
                              "{name}",
                              "&amp;",
                              "42",
                              "it's",
                              "&#233;t\u00e9",
                              "%1$s",
                              "&lt;b&gt;bold&lt;/b&gt;",
                              "\u65e5\u672c\u8a9e",
                              "stop!"};

std::string office_words(Chance& chance) {
  std::string out = chance.one_in(4) ? " " : "";
  for (size_t i = 1 + chance.below(4); i > 0; --i) out += chance.of(kOfficeWords) + chance.of({" ", " ", "  ", ""});
  return out;
}

// ---- runs
// ------------------------------------------------------------------------------------------------------------

struct RunNames {
  std::string run, text_begin, text_end, run_end;
  Strings looks, others, paragraphs;
};

const RunNames kWordNames = {
    "<w:r>",
    "<w:t xml:space=\"preserve\">",
    "</w:t>",
    "</w:r>",
    {"", "", "<w:rPr><w:b/></w:rPr>", "<w:rPr><w:i/><w:sz w:val=\"8\"/></w:rPr>"},
    {"<w:tab/>", "<w:br/>", "<w:footnoteReference w:id=\"1\"/>", "<w:noBreakHyphen/>",
     "<w:drawing><wp:docPr id=\"1\" descr=\"A picture\"/><w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p>"
     "</w:txbxContent></w:drawing>"},
    {"<w:bookmarkStart w:id=\"0\"/>", "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>", "<w:del><w:r/></w:del>",
     "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar "
     "w:fldCharType=\"separate\"/></w:r><w:r><w:t>3</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>",
     "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> HYPERLINK \"a\" "
     "</w:instrText></w:r><w:r><w:fldChar "
     "w:fldCharType=\"separate\"/></w:r><w:r><w:t>a link</w:t></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>",
     "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>",
     "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>HYPERLINK "
     "\"b\"</w:instrText></w:r><w:r><w:fldChar "
     "w:fldCharType=\"separate\"/></w:r>"}};
const RunNames kSlideNames = {"<a:r>",
                              "<a:t>",
                              "</a:t>",
                              "</a:r>",
                              {"", "<a:rPr b=\"1\"/>", "<a:rPr><a:latin/></a:rPr>"},
                              {},
                              {"<a:br/>", "<a:fld type=\"slidenum\"><a:rPr/><a:t>3</a:t></a:fld>"}};
const RunNames kSheetNames = {"<r>", "<t xml:space=\"preserve\">", "</t>", "</r>", {"", "<rPr><b/></rPr>"}, {}, {}};

std::string random_run(const RunNames& names, Chance& chance) {
  std::string out = names.run + chance.of(names.looks);
  const size_t count = names.others.empty() ? 1 : 1 + chance.below(3);
  for (size_t i = 0; i < count; ++i) {
    const bool other = !names.others.empty() && chance.one_in(4);
    out += other ? chance.of(names.others) : names.text_begin + office_words(chance) + names.text_end;
  }
  return out + names.run_end;
}

std::string random_runs(const RunNames& names, bool links, Chance& chance) {
  std::string out;
  for (size_t i = chance.below(6); i > 0; --i) {
    if (links && chance.one_in(5))
      out += "<w:hyperlink r:id=\"1\">" + random_runs(names, chance.one_in(4), chance) + "</w:hyperlink>";
    else if (!names.paragraphs.empty() && chance.one_in(5))
      out += chance.of(names.paragraphs);
    else
      out += random_run(names, chance);
  }
  return out;
}

std::string random_paragraphs(const RunNames& names, const std::string& begin, const std::string& end, bool links,
                              Chance& chance) {
  std::string out;
  for (size_t i = 1 + chance.below(5); i > 0; --i) out += begin + random_runs(names, links, chance) + end;
  return out;
}

// ---- words and tags
// --------------------------------------------------------------------------------------------------

// `pair`: a name of tags around words; `others`: what stands between them.
std::string random_flow(const std::string& pair, const Strings& others, size_t depth, Chance& chance) {
  std::string out;
  for (size_t i = 1 + chance.below(4); i > 0; --i) {
    if (depth > 0 && chance.one_in(3))
      out += "<" + pair + " a=\"1\">" + random_flow(pair, others, depth - 1, chance) + "</" + pair + ">";
    else if (!others.empty() && chance.one_in(4))
      out += chance.of(others);
    else
      out += office_words(chance);
  }
  return out;
}

std::string random_blocks(const std::string& block, const std::string& pair, const Strings& others, Chance& chance) {
  std::string out;
  for (size_t i = 1 + chance.below(5); i > 0; --i)
    out += "<" + block + ">" + random_flow(pair, others, 3, chance) + "</" + block + ">\n";
  return out;
}

const Strings kOpenOthers = {
    "<text:s/>",
    "<text:tab/>",
    "<text:line-break/>",
    "<text:page-number>3</text:page-number>",
    "<draw:frame><svg:desc>A picture</svg:desc></draw:frame>",
    "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note</text:p></text:note-body>"
    "</text:note>"};

std::string random_cells(Chance& chance) {
  std::string out;
  for (size_t i = 1 + chance.below(5); i > 0; --i) {
    out += "<table:table-cell" + chance.of({"", " office:value-type=\"string\"", " office:value-type=\"float\"",
                                            " table:formula=\"of:=A1\" office:value-type=\"string\""});
    out += ">" + random_blocks("text:p", "text:span", kOpenOthers, chance) +
           chance.of(
               {"", "<office:annotation><dc:creator>Me Too</dc:creator><text:p>A remark</text:p></office:annotation>"});
    out += "</table:table-cell>";
  }
  return "<table:table table:name=\"Sheet one\"><table:table-row>" + out + "</table:table-row></table:table>";
}

std::string random_slide(Chance& chance) {
  std::string out = "<draw:page draw:name=\"page1\">";
  for (size_t i = 1 + chance.below(3); i > 0; --i)
    out += "<draw:frame><draw:text-box>" + random_blocks("text:p", "text:span", kOpenOthers, chance) +
           "</draw:text-box>" + chance.of({"", "<svg:title>A car</svg:title>"}) + "</draw:frame>";
  return out + "<presentation:notes>" + random_blocks("text:p", "text:a", kOpenOthers, chance) +
         "</presentation:notes></draw:page>";
}

// ---- files of translators
// --------------------------------------------------------------------------------------------

std::string random_cases(Chance& chance) {
  std::string out =
      office_words(chance) + "{n, plural, =0 {none} one {" + office_words(chance) + "<x id=\"1\"/>} other {";
  out += "# " + random_flow("g", {"<x id=\"2\"/>"}, 1, chance) + "}} ";
  return out + (chance.one_in(8) ? "{" : "") + office_words(chance);
}

std::string random_xliff(Chance& chance) {
  std::string out = "<xliff version=\"1.2\"><file original=\"a\"><body>\n";
  for (size_t i = 1 + chance.below(5); i > 0; --i) {
    out += "<trans-unit id=\"1\">\n <source>";
    out +=
        chance.one_in(5)
            ? random_cases(chance)
            : random_flow("g", {"<x id=\"1\"/>", "<ph id=\"2\">x</ph>", "<x id=\"3\" equiv-text=\"{n}\"/>"}, 2, chance);
    out += "</source>";
    out += chance.of({"", "<target/>", "<target state=\"new\">old</target>", "<target>done</target>"});
    out += chance.of({"", "<note>a note</note>"}) + "\n</trans-unit>\n";
  }
  return out + "</body></file></xliff>";
}

std::string random_qt(Chance& chance) {
  std::string out = "<!DOCTYPE TS>\n<TS version=\"2.1\"><context><name>Main</name>\n";
  for (size_t i = 1 + chance.below(5); i > 0; --i) {
    const bool counted = chance.one_in(3);
    out += counted ? "<message numerus=\"yes\">" : "<message>";
    out += "<source>" + chance.of({"", "%n ", "&amp;"}) + office_words(chance) + "</source>";
    out += counted ? chance.of({"<translation type=\"unfinished\"><numerusform></numerusform></translation>",
                                "<translation type=\"unfinished\"/>"})
                   : chance.of({"", "<translation type=\"unfinished\"/>", "<translation>done</translation>",
                                "<translation type=\"unfinished\"></translation>"});
    out += "</message>\n";
  }
  return out + "</context></TS>";
}

// Paragraphs with and without times, some of which share a sentence.
std::string random_ttml(Chance& chance) {
  std::string out = "<tt xmlns:ttm=\"m\"><div>";
  for (size_t i = 1 + chance.below(5), at = 1; i > 0; --i, at += 1 + chance.below(4)) {
    out += chance.of(
        {"<p>", "<p begin=\"" + std::to_string(at) + "s\" dur=\"1500ms\">",
         "<p begin=\"00:00:0" + std::to_string(at % 10) + ".5\" end=\"00:00:1" + std::to_string(at % 10) + ":12\">"});
    out += chance.of({"", "", "- "}) + random_flow("span", {"<br/>", "<br/>- ", "<!-- a -->"}, 3, chance) + "</p>\n";
    if (chance.one_in(5)) out += "</div><div>";
  }
  return out + "</div></tt>";
}

std::string with_root(const std::string& content) { return "<root>\n" + content + "</root>\n"; }

}  // namespace

std::string random_office(Kind kind, Chance& chance) {
  switch (kind) {
    case Kind::docx: return with_root(random_paragraphs(kWordNames, "<w:p><w:pPr/>", "</w:p>", true, chance));
    case Kind::pptx: return with_root(random_paragraphs(kSlideNames, "<a:p>", "<a:endParaRPr/></a:p>", false, chance));
    case Kind::xlsx: return with_root(random_paragraphs(kSheetNames, "<si>", "</si>", false, chance));
    case Kind::epub: return with_root(random_blocks("p", "b", {"<br/>", "<img alt=\"A picture\"/>"}, chance));
    case Kind::ttml: return random_ttml(chance);
    case Kind::xliff: return random_xliff(chance);
    case Kind::ts: return random_qt(chance);
    case Kind::odp: return with_root(random_slide(chance));
    case Kind::ods: return with_root(random_cells(chance));
    default: return with_root(random_blocks("text:p", "text:span", kOpenOthers, chance));
  }
}

std::string office_member(Kind kind) {
  switch (kind) {
    case Kind::docx: return "word/document.xml";
    case Kind::pptx: return "ppt/slides/slide1.xml";
    case Kind::xlsx: return "xl/sharedStrings.xml";
    case Kind::epub: return "OPS/page.xhtml";
    case Kind::odt:
    case Kind::odp:
    case Kind::ods: return "content.xml";
    default: return "";
  }
}

}  // namespace lapilli::documents
