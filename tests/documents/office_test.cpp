// Office files, e-books and files of translators: a thousand by chance of each kind, and those that break a reader.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "archives.hpp"
#include "documents/archive/deflate.hpp"
#include "documents/archive/zip_archive.hpp"
#include "documents/office/xml_tokens.hpp"
#include "random_office.hpp"

namespace lapilli::documents {
namespace {

constexpr unsigned kOfficeDocuments = 1000;

bool is_bilingual(Kind kind) { return kind == Kind::xliff || kind == Kind::ts; }

std::string packed(Kind kind, const std::string& xml) {
  const std::string member = office_member(kind);
  if (member.empty()) return xml;
  return archive_of({{"mimetype", "application/x"}, {member, xml}, {"media/a.png", std::string("\x89PNG\0\xff", 6)}});
}

std::string unpacked(Kind kind, const std::string& bytes) {
  const std::string member = office_member(kind);
  return member.empty() ? bytes : file_in(bytes, member);
}

// How many of these there are depends on the words, as do the lines of subtitles.
bool depends_on_words(const std::string& tag, bool subtitles) {
  static const std::set<std::string> runs = {"w:r",   "w:t", "a:r", "a:t", "r",    "t",      "w:rPr",
                                             "a:rPr", "rPr", "w:b", "w:i", "w:sz", "a:latin"};
  if (tag == "<b/>" || (subtitles && tag == "<br/>")) return true;
  const size_t begin = tag.starts_with("</") ? 2 : 1;
  const std::string name = tag.substr(begin, tag.find_first_of(" />", begin) - begin);
  return runs.contains(name) || name == "target" || name == "translation" || name == "numerusform";
}

// All tags but those, with descriptions left out.
std::vector<std::string> structure_of(const std::string& xml) {
  static const std::regex described("(descr|alt)=\"[^\"]*\"");
  const bool subtitles = xml.starts_with("<tt ");
  std::vector<std::string> tags;
  for (size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::string tag = xml.substr(at, xml.find('>', at) + 1 - at);
    const bool words = tag.find("descr=") != std::string::npos || tag.find("alt=") != std::string::npos;
    if (!depends_on_words(tag, subtitles)) tags.push_back(words ? std::regex_replace(tag, described, "$1") : tag);
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

std::string error_in(const std::string& xml) {
  XmlTokens tokens(xml, 0);
  for (XmlToken token;;) {
    const auto more = tokens.next(token);
    if (!more) return more.error().message;
    if (!*more) return "";
  }
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class OfficeDocuments : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!kind_available(GetParam())) GTEST_SKIP() << "this build has no " << kind_name(GetParam());
  }
};

TEST_P(OfficeDocuments, TheSameWordsGiveTheSameBytes) {
  for (unsigned seed = 0; seed < kOfficeDocuments; ++seed) {
    Chance chance(seed);
    const std::string bytes = packed(GetParam(), random_office(GetParam(), chance));
    const auto document = Document::parse(GetParam(), bytes);
    ASSERT_TRUE(document.ok()) << document.error().message << bytes;
    std::vector<Translation> translations;
    for (const Segment& s : document->segments()) translations.push_back({s.text, {}, is_bilingual(GetParam())});
    const auto out = document->render(translations);
    ASSERT_TRUE(out.ok());
    if (GetParam() == Kind::ts) continue;  // forms that a counted message lacks are made
    ASSERT_EQ(*out, bytes) << "seed " << seed;
  }
}

// Whatever the translation is: the XML is well formed, each tag is there, and so is each new word and placeholder.
TEST_P(OfficeDocuments, OtherWordsLeaveTheSameStructure) {
  size_t segments = 0;
  for (unsigned seed = 0; seed < kOfficeDocuments; ++seed) {
    Chance chance(seed);
    const std::string xml = random_office(GetParam(), chance);
    const auto document = Document::parse(GetParam(), packed(GetParam(), xml));
    ASSERT_TRUE(document.ok()) << document.error().message << xml;
    std::vector<Translation> translations;
    std::vector<std::string> words;  // of texts without kept words, which may replace any word that is linked to them
    for (const Segment& s : document->segments()) {
      translations.push_back(random_translation(s, false, chance));
      translations.back().text += " Zz" + std::to_string(++segments) + ".";
      if (!s.needs_links) words.push_back("Zz" + std::to_string(segments) + ".");
    }
    const auto out = document->render(translations);
    ASSERT_TRUE(out.ok()) << out.error().message;
    const std::string after = unpacked(GetParam(), *out);
    ASSERT_EQ(error_in(after), "") << "seed " << seed << "\n" << xml << "\n" << after;
    for (const std::string& word : words)
      ASSERT_EQ(count_of(after, word), 1u) << word << " seed " << seed << "\n" << xml << "\n" << after;
    if (is_bilingual(GetParam())) continue;
    ASSERT_EQ(structure_of(after), structure_of(xml)) << "seed " << seed << "\n" << xml << "\n" << after;
    ASSERT_LE(count_of(after, "<br/>"), count_of(xml, "<br/>")) << "seed " << seed << "\n" << xml << "\n" << after;
    for (const char* placeholder : {"{name}", "%1$s"})
      ASSERT_GE(count_of(after, placeholder), count_of(xml, placeholder)) << "seed " << seed << xml << "\n" << after;
  }
  EXPECT_GT(segments, kOfficeDocuments);
}

TEST_P(OfficeDocuments, DamagedOnesAreRefusedOrComeOutWhole) {
  size_t read = 0;
  for (unsigned seed = 0; seed < kOfficeDocuments; ++seed) {
    Chance chance(seed);
    const bool inside = chance.one_in(2);
    const std::string xml = random_office(GetParam(), chance);
    const std::string bytes =
        inside ? packed(GetParam(), damaged(xml, chance)) : damaged(packed(GetParam(), xml), chance);
    const auto document = Document::parse(GetParam(), bytes);
    if (!document.ok()) {
      EXPECT_FALSE(document.error().message.empty());
      continue;
    }
    ++read;
    std::vector<Translation> translations;
    for (const Segment& s : document->segments()) translations.push_back({s.text + " Zz", {}});
    EXPECT_TRUE(document->render(translations).ok());
  }
  EXPECT_GT(read, 10u);
}

INSTANTIATE_TEST_SUITE_P(EachKind, OfficeDocuments,
                         testing::Values(Kind::xliff, Kind::ts, Kind::ttml, Kind::docx, Kind::pptx, Kind::xlsx,
                                         Kind::odt, Kind::odp, Kind::ods, Kind::epub),
                         [](const auto& test) { return std::string(kind_name(test.param)); });

// ---- hostile
// ---------------------------------------------------------------------------------------------------------

std::string many_of(std::string_view what, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += what;
  return out;
}

std::string refusal(Kind kind, const std::string& bytes) {
  const auto document = Document::parse(kind, bytes);
  return document.ok() ? "" : document.error().message;
}

void expect_refusal(Kind kind, const std::string& bytes, const std::string& part) {
  const std::string message = refusal(kind, bytes);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(HostileXml, IsRefusedByItsLine) {
  expect_refusal(Kind::xliff, "<!DOCTYPE x [\n<!ENTITY a \"b\">\n]>\n<xliff/>", "line 2: entities");
  expect_refusal(Kind::xliff, "<xliff>\n<file></xliff>", "line 2: </xliff> ends <file>");
  expect_refusal(Kind::xliff, "<xliff>\n<file>", "<file> never ends");
  expect_refusal(Kind::xliff, "<xliff a=b/>", "broken attribute 'a'");
  expect_refusal(Kind::xliff, "<xliff a=\"b/>", "a quote never ends");
  expect_refusal(Kind::xliff, "\n<!-- ", "line 2: '<!--' never ends");
  expect_refusal(Kind::xliff, "<?xml version='1.0' encoding='UTF-16'?><xliff/>", "iconv -f UTF-16");
  expect_refusal(Kind::xliff, many_of("<a>", 100000), "nest too deeply");
  expect_refusal(Kind::xliff, "<html/>", "no XLIFF");
  expect_refusal(Kind::ts, "const a = 1;", "none of Qt's");
  expect_refusal(Kind::ttml, "", "no TTML");
}

TEST(HostileXml, ManyOfAThingTakeLinearTime) {
  constexpr size_t kCount = 100000;
  for (const std::string part : {"<g>x</g>", "<x/>a", "&amp;", "&lt;b&gt;", "{", "&", "<mrk>a"}) {
    const std::string end = part == "<mrk>a" ? many_of("</mrk>", 900) : "";
    const std::string content = many_of(part, end.empty() ? kCount : 900) + "word" + end;
    const auto document = Document::parse(
        Kind::xliff, "<xliff version=\"1.2\"><trans-unit><source>" + content + "</source></trans-unit></xliff>");
    ASSERT_TRUE(document.ok()) << document.error().message;
    std::vector<Translation> other;
    for (size_t i = 0; i < document->segments().size(); ++i) other.push_back({"mot", {}});
    EXPECT_TRUE(document->render(other).ok());
  }
}

TEST(HostileArchives, SayWhatIsWrong) {
  if (!kind_available(Kind::docx)) GTEST_SKIP();
  const std::string good = archive_of({{"word/document.xml", "<w:p><w:r><w:t>car</w:t></w:r></w:p>"}});
  expect_refusal(Kind::docx, "car", "no zip archive");
  expect_refusal(Kind::docx, good.substr(0, good.size() - 30), "damaged or cut off");
  expect_refusal(Kind::docx, archive_of({{"a.xml", "<a/>"}}), "none of the files");
  expect_refusal(Kind::docx, archive_of({{"word/document.xml", "<a/>"}, {"word/document.xml", "<a/>"}}), "twice");
  expect_refusal(Kind::docx, archive_of({{"word/document.xml", "<a>\n</b>"}}), "word/document.xml: line 2");
  expect_refusal(Kind::docx, archive_of({{"word/document.xml", std::string("<a>\x02</a>")}}), "control character");
  expect_refusal(Kind::docx, archive_of({{"word/document.xml", "<a>\xff</a>"}}), "not UTF-8");
  expect_refusal(Kind::docx, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "before 2007");
  expect_refusal(Kind::docx,
                 "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + std::string("E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e", 31),
                 "encrypted");
  expect_refusal(Kind::odt,
                 archive_of({{"content.xml", "<a/>"}, {"META-INF/manifest.xml", "<manifest:encryption-data/>"}}),
                 "without a password");
  expect_refusal(Kind::epub, archive_of({{"a.xhtml", "<p>a</p>"}, {"META-INF/encryption.xml", "<x URI=\"a.xhtml\"/>"}}),
                 "protected");
  std::string locked = good, wrong = good;
  locked[good.find("PK\x01\x02") + 8] |= 1;
  expect_refusal(Kind::docx, locked, "without a password");
  wrong[good.find("car")] = 'b';
  expect_refusal(Kind::docx, wrong, "checksum");
}

// A few bytes that say they are millions, and files that share their bytes.
TEST(HostileArchives, BombsAreRefused) {
  if (!kind_available(Kind::docx)) GTEST_SKIP();
  std::string large = archive_of({{"word/document.xml", "<a/>"}});
  const size_t entry = large.find("PK\x01\x02");
  large.replace(entry + 24, 4, "\xff\xff\xff\x7f");
  expect_refusal(Kind::docx, large, "bytes: split it");
  std::string shared = archive_of({{"word/document.xml", "<a/>"}, {"word/document1.xml", "<b/>"}});
  const size_t second = shared.find("PK\x01\x02", shared.find("PK\x01\x02") + 4);
  shared.replace(second + 42, 4, std::string(4, '\0'));
  EXPECT_NE(refusal(Kind::docx, shared), "");
}

// A file that unpacks to more than it says is left at that size.
TEST(HostileArchives, PackedDataThatLieAreRefused) {
  if (!kind_available(Kind::docx)) GTEST_SKIP();
  const auto packed_text = pack_deflate("<w:p>" + many_of(" ", 1 << 20) + "</w:p>");
  ASSERT_TRUE(packed_text.ok());
  std::string bytes = archive_of({{"word/document.xml", *packed_text}});
  const size_t entry = bytes.find("PK\x01\x02");
  bytes[entry + 10] = 8;
  expect_refusal(Kind::docx, bytes, "word/document.xml': its packed data are damaged");
  bytes[entry + 10] = 12;
  expect_refusal(Kind::docx, bytes, "compressed by method 12: save the file again");
}

TEST(HostileArchives, TextsOfManyFilesAreCountedBeforeTheyAreUnpacked) {
  if (!kind_available(Kind::docx)) GTEST_SKIP();
  std::string bytes = archive_of({{"word/document.xml", "<a/>"}, {"word/document1.xml", "<b/>"}});
  for (size_t entry = bytes.find("PK\x01\x02"); entry != std::string::npos; entry = bytes.find("PK\x01\x02", entry + 4))
    bytes.replace(entry + 24, 4, std::string("\0\0\0\x0c", 4));
  expect_refusal(Kind::docx, bytes, "the document's texts have more than");
}

TEST(HostileArchives, DirectoriesThatLieAreRefused) {
  if (!kind_available(Kind::docx)) GTEST_SKIP();
  const std::string good = archive_of({{"word/document.xml", "<a/>"}});
  const size_t end = good.find("PK\x05\x06");
  const auto with = [&](size_t at, const std::string& other) {
    return std::string(good).replace(at, other.size(), other);
  };
  expect_refusal(Kind::docx, with(end + 10, "\xff\xff"), "zip64");
  expect_refusal(Kind::docx, with(end + 10, "\x02"), "one part of several");
  expect_refusal(Kind::docx, with(end + 16, "\xff\xff\xff\x7f"), "its directory lies outside of it");
  expect_refusal(Kind::docx, with(good.find("word/"), "WORD/"), "two names");
  expect_refusal(Kind::docx, "PK", "it has no directory");
}

// As a full disk or a broken connection leaves them.
TEST(HostileArchives, HalfWrittenFilesAreRefusedAtEachLength) {
  if (!kind_available(Kind::docx)) GTEST_SKIP();
  const std::string good = archive_of({{"word/document.xml", "<w:p><w:r><w:t>car</w:t></w:r></w:p>"}});
  for (size_t length = 0; length < good.size(); ++length) EXPECT_NE(refusal(Kind::docx, good.substr(0, length)), "");
}

TEST(HostileXml, EntitiesInArchivesAreNeverExpanded) {
  if (!kind_available(Kind::docx)) GTEST_SKIP();
  const std::string bomb = "<!DOCTYPE x [\n<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><w:p>&b;</w:p>";
  expect_refusal(Kind::docx, archive_of({{"word/document.xml", bomb}}), "word/document.xml: line 2: entities");
  const auto document =
      Document::parse(Kind::docx, archive_of({{"word/document.xml", "<w:p><w:r><w:t>red &b; car</w:t></w:r></w:p>"}}));
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(document->segments()[0].text, "red &b; car");
  const auto out = document->render(std::vector<Translation>{{"voiture &b; rouge", {}}});
  ASSERT_TRUE(out.ok());
  EXPECT_NE(out->find("voiture &b; rouge"), std::string::npos);
}

// The list of a protected book may name many files.
TEST(HostileArchives, ManyProtectedFilesTakeLinearTime) {
  if (!kind_available(Kind::epub)) GTEST_SKIP();
  ArchiveFiles files = {{"META-INF/encryption.xml", "<e>" + many_of("<c URI=\"font.ttf\"/>", 200000) + "</e>"}};
  for (size_t i = 0; i < 2000; ++i) files.emplace_back("p" + std::to_string(i) + ".xhtml", "<p>car</p>");
  EXPECT_EQ(refusal(Kind::epub, archive_of(files)), "");
}

TEST(Archives, WhatStaysIsCopiedAndTheOrderIsKept) {
  if (!kind_available(Kind::odt)) GTEST_SKIP();
  const std::string image("\x89PNG\0\xff", 6);
  const std::string bytes = archive_of({{"mimetype", "application/vnd.oasis.opendocument.text"},
                                        {"content.xml", "<o><text:p>car</text:p></o>"},
                                        {"Pictures/a.png", image}});
  const auto document = Document::parse(Kind::odt, bytes);
  ASSERT_TRUE(document.ok()) << document.error().message;
  const auto out = document->render(std::vector<Translation>{{"voiture", {}}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->substr(0, out->find("PK", 4)), bytes.substr(0, bytes.find("PK", 4)));
  EXPECT_EQ(file_in(*out, "Pictures/a.png"), image);
  EXPECT_EQ(file_in(*out, "content.xml"), "<o><text:p>voiture</text:p></o>");
  const auto again = ZipArchive::open(*out);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->files().size(), 3u);
}

// Cells that name the columns of a table are the same in the table, or a spreadsheet program repairs the file.
TEST(Archives, NamesOfColumnsStay) {
  if (!kind_available(Kind::xlsx)) GTEST_SKIP();
  const auto document = Document::parse(
      Kind::xlsx, archive_of({{"xl/sharedStrings.xml", "<sst><si><t>Name</t></si><si><t>car</t></si></sst>"},
                              {"xl/tables/table1.xml", "<table><tableColumn id=\"1\" name=\"Name\"/></table>"}}));
  ASSERT_TRUE(document.ok()) << document.error().message;
  ASSERT_EQ(document->segments().size(), 1u);
  EXPECT_EQ(document->segments()[0].text, "car");
}

}  // namespace
}  // namespace lapilli::documents
