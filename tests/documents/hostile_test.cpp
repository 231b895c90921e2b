// Documents that were made to break a parser: a million of what nests, many of all else, bytes that are no text.
#include <gtest/gtest.h>

#include "documents/document.hpp"

namespace lapilli::documents {
namespace {

constexpr size_t kMany = 1000000, kSome = 20000, kFew = 4000;

std::string many(std::string_view what, size_t count = kMany) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += what;
  return out;
}

void goes_through(Kind kind, const std::string& bytes) {
  if (!kind_available(kind)) return;
  const auto document = Document::parse(kind, bytes);
  ASSERT_TRUE(document.ok()) << document.error().message;
  std::vector<Translation> same, other;
  for (const Segment& s : document->segments()) {
    same.push_back({s.text, {}});
    other.push_back({"mot " + s.text.substr(0, 100), {}});
  }
  const auto out = document->render(same);
  ASSERT_TRUE(out.ok());
  EXPECT_TRUE(*out == bytes);
  EXPECT_TRUE(document->render(other).ok());
}

TEST(HostileDocuments, MillionsOfTags) {
  goes_through(Kind::html, many("<b>") + "word");
  goes_through(Kind::html, many("<div>") + "word");
  goes_through(Kind::html, many("<b>") + "x" + many("</b>") + " y");
  goes_through(Kind::html, many("<b>x ", kSome));
  goes_through(Kind::html, many("<b>x ", kSome) + many("y</b>", kSome));
  goes_through(Kind::html, many("<b>x</b> ", kSome));
  goes_through(Kind::html, many("<i></b>", kSome) + "word");
  goes_through(Kind::html, many("<a>x</a>", kSome));
  goes_through(Kind::html, many("<a>x</a>|<b>", kSome) + "word");
  goes_through(Kind::html, many("<a>", kSome) + many("Xx<i></i>", kSome));
  goes_through(Kind::html, many("<i>ab</i><b>Cd</b>", kSome));
  goes_through(Kind::html, many("<code>a</code> b ", kSome));
  goes_through(Kind::vtt, "WEBVTT\n\n00:01.000 --> 00:02.000\n" + many("<i>") + "word");
  goes_through(Kind::srt, "1\n00:00:01,000 --> 00:00:02,000\n" + many("{\\a}") + "word");
}

void goes_through_as(const std::string& html, const std::string& text, bool linked) {
  const auto document = Document::parse(Kind::html, html);
  ASSERT_TRUE(document.ok() && document->segments().size() == 1);
  Translation made{text.empty() ? document->segments()[0].text + "!" : text, {}};
  if (linked) made.links.push_back({0, document->segments()[0].text.size(), 0, made.text.size(), 1});
  const auto out = document->render(std::vector<Translation>{made});
  ASSERT_TRUE(out.ok());
  EXPECT_GE(out->size(), html.size() / 2);
}

// A run without a blank is one word to a model, so that one link ties all of it to all. These took hours when each word
// of a link was tied to each, and when each tag looked for its word through all signs before it.
TEST(HostileDocuments, LongRunsWithoutABlank) {
  for (const std::string part : {"<b>\u65e5</b>", "<b>x</b>!", "x!<img>", "<code>x</code>!"})
    goes_through_as("a " + many(part, 16000) + "word", "", true);
  goes_through_as("a " + many("!<img>", 100000) + "word", many("mot ", 100000), false);
}

TEST(HostileDocuments, WhatNeverEnds) {
  goes_through(Kind::html, many("<", kSome));
  goes_through(Kind::html, many("<!--", kSome));
  goes_through(Kind::html, many("<!-- -->x", kSome));
  goes_through(Kind::html, many("<a ", kSome));
  goes_through(Kind::html, many("<a b=\"", kSome));
  goes_through(Kind::html, many("<script>", kSome) + many("<!--", kSome) + many("</script", kSome));
  goes_through(Kind::html, many("&", kSome) + "word");
  goes_through(Kind::html, many("<![CDATA[>x", kSome));
  goes_through(Kind::vtt, "WEBVTT\n\n00:01.000 --> 00:02.000\n" + many("<", kSome) + "word");
  for (const std::string part : {"<br", "<br>", "\\N", "\u266a", ">>", "# ", "#<i>", "&gt;"})
    goes_through(Kind::srt, "1\n00:00:01,000 --> 00:00:02,000\n" + many("<i>", kSome) + many(part, kSome) + "word");
  goes_through(Kind::srt, many("1\n00:00:01,000 --> 00:00:02,000\nno end\n\n", kSome));
}

TEST(HostileDocuments, DeepMarkdown) {
  goes_through(Kind::markdown, many(">") + "word");
  goes_through(Kind::markdown, many("- ", kSome) + "word");
  goes_through(Kind::markdown, many("[", kSome) + "word");
  goes_through(Kind::markdown, many("![", kSome) + "word");
  goes_through(Kind::markdown, many("**x", kSome));
  goes_through(Kind::markdown, many("*a **b ", kSome) + many("c** d* ", kSome));
  goes_through(Kind::markdown, many("`a``", kSome));
  goes_through(Kind::markdown, many("|a", 10000) + "\n" + many("|-", 10000) + "\n" + many("|b", 10000));
  goes_through(Kind::markdown, many("\\"));
  for (const std::string part :
       {"$",    "$$\n",  "$$ x\n", "$a", "{{",  "{{x}} ",  "{%",     "{#a", "{.a}",     "> [!a]\n",
        "> [!", ":::\n", "[[",     ":a", ":a:", "!!! a\n", "=== \"", "$`",  "{{ x\n}}", "`${{`"})
    goes_through(Kind::markdown, many(part, kSome) + "word");
}

TEST(HostileDocuments, WrittenMarkupThatNeverEnds) {
  for (const std::string part :
       {"{", "}", "\\a{", "\\a[", "$", "$$", "\\(", "\\[", "\\begin{a}", "\\begin{equation}", "%\n", "x\\footnote{",
        "\\section{", "\\section[", "\\verb|", "\\item[", "\\'", "~\\ref{"})
    goes_through(Kind::tex, many(part, kFew) + "word");
  for (const std::string part : {"*a ", "**a ", "``a ", "`a ", "|a ", "`a <b ", "a_ ", "_`a ", "[a]_", ":a:`b ", "- ",
                                 ".. a:: ", "a::\n\n", "=\n", "== =\nx\n\n", "a\n b\n", "a_:", "\\"})
    goes_through(Kind::rst, many(part, kFew) + "word");
  for (const std::string part :
       {"*a ",  "**a ",   "__a",    "`a ",       "+a ",  "++a ",  "{a",    "<<a",   "((a",  "[[a", "footnote:[a ",
        "a:b[", "----\n", "====\n", "|===\n|a ", "a:: ", "* a\n", "a +\n", "[b]\n", "//\n", "^a",  "&#"})
    goes_through(Kind::asciidoc, many(part, kFew) + "word");
  const std::string dialogue = "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,A,,0,0,0,,";
  for (const std::string part : {"{", "{\\i1}", "\\N", "{\\p1}a", "\\", "- ", "{\\k1}"})
    goes_through(Kind::ass, dialogue + many(part, kFew) + "word");
  goes_through(Kind::ass, many(dialogue + "word\n", kFew));
  goes_through(Kind::lrc, many("[00:01.00]", kFew) + many("<", kFew) + "word");
  goes_through(Kind::sbv, many("0:00:01.000,0:00:02.000\nword\n\n", kFew));
}

TEST(HostileDocuments, LongLinesAndNoText) {
  for (const Kind kind : {Kind::text, Kind::markdown, Kind::html, Kind::srt, Kind::vtt, Kind::csv}) {
    goes_through(kind, "");
    goes_through(kind, "\xef\xbb\xbf");
    goes_through(kind, std::string(kSome, '\0') + "word");
    goes_through(kind, many("word ", kSome));
    goes_through(kind, many("1", kSome) + ". word");
    goes_through(kind, many("http://a.b c ", kSome));
    goes_through(kind, many("\r", 1000) + many("\n", 1000) + many("\r\n", 1000));
  }
  goes_through(Kind::srt, many("1\n", kSome) + many("00:", kSome) + many("9", kSome));
  goes_through(Kind::text, many("a {b} ", kSome) + "http://a.b");
  goes_through(Kind::text, many("a http://a.b ", kSome) + "{b}");
  goes_through(Kind::text, many("a\t", kSome));
}

TEST(HostileDocuments, TablesWithoutEnd) {
  for (const std::string part :
       {",", "\"", "\"\"", "\"a\n", "a,\"b\"c\n", "\"a\"\"\n", "a;b,c\td|e\n", "\n", "\r", ",\"\n"})
    goes_through(Kind::csv, "c0,c1\n" + many(part, kSome) + "word");
  goes_through(Kind::csv, many("one red house,\"two, houses\",3\n"));
}

TEST(HostileDocuments, BytesThatAreNoUtf8AreNamed) {
  for (const char* bytes : {"one\ntwo \xff", "one\ntwo \xc3(", "one\ntwo \xed\xa0\x80", "one\ntwo \xc0\xaf",
                            "one\ntwo \xf4\x90\x80\x80", "one\ntwo \xe2\x82"}) {
    const auto document = Document::parse(Kind::text, bytes);
    ASSERT_FALSE(document.ok());
    EXPECT_EQ(document.error().code, ErrorCode::invalid_data);
    EXPECT_NE(document.error().message.find("byte 9 (line 2)"), std::string::npos) << document.error().message;
  }
}

TEST(HostileDocuments, TooManyBytesAreRefused) {
  const auto document = Document::parse(Kind::text, std::string((size_t{64} << 20) + 1, 'a'));
  ASSERT_FALSE(document.ok());
  EXPECT_EQ(document.error().code, ErrorCode::unsupported);
}

TEST(HostileDocuments, OtherCharsetsAreRefused) {
  for (const char* html :
       {"<meta charset=iso-8859-1><p>a", "<META http-equiv='Content-Type' content='text/html; charset=windows-1252'>",
        "<?xml version=\"1.0\" encoding=\"latin1\"?><p>a</p>"}) {
    const auto document = Document::parse(Kind::html, html);
    ASSERT_FALSE(document.ok()) << html;
    EXPECT_EQ(document.error().code, ErrorCode::unsupported);
    EXPECT_NE(document.error().message.find("UTF-8"), std::string::npos);
  }
  EXPECT_TRUE(Document::parse(Kind::html, "<meta charset=\"UTF-8\"><p>a").ok());
}

TEST(HostileDocuments, WrongTranslationsAreRefused) {
  const auto document = Document::parse(Kind::text, "one\ntwo\n");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->render(std::vector<Translation>(1)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(document->render(std::vector<Translation>{{"a\xff", {}}, {"b", {}}}).error().code,
            ErrorCode::invalid_argument);
  const auto out = document->render(std::vector<Translation>{{"a\nb\r\n", {{0, SIZE_MAX, 5, 2, 1}}}, {"", {}}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, "a b\n\n");
}

TEST(Kinds, ByNameAndByExtension) {
  EXPECT_EQ(kind_of_name("a/b.c/README.MD"), Kind::markdown);
  EXPECT_EQ(kind_of_name("x.htm"), Kind::html);
  EXPECT_EQ(kind_of_name("x.tar.srt"), Kind::srt);
  EXPECT_EQ(kind_of_name("vtt"), std::nullopt);
  EXPECT_EQ(kind_of_name("x.md/y"), std::nullopt);
  EXPECT_EQ(kind_of_name("x.unknown"), std::nullopt);
  EXPECT_EQ(kind_called("text"), Kind::text);
  EXPECT_EQ(kind_called("txt"), std::nullopt);
}

}  // namespace
}  // namespace lapilli::documents
