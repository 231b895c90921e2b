// Files of apps that were made to break a reader, and what is said of broken ones.
#include <gtest/gtest.h>

#include "documents/apps/encodings.hpp"
#include "documents/document.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {
namespace {

constexpr size_t kLots = 20000;
constexpr Kind kAppKinds[] = {Kind::json,        Kind::yaml,      Kind::properties, Kind::strings,
                              Kind::stringsdict, Kind::xcstrings, Kind::android};

std::string lots(std::string_view what, size_t count = kLots) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += what;
  return out;
}

Options to_french() {
  Options options;
  options.source_language = "en";
  options.target_language = "fr";
  return options;
}

// Neither aborts nor takes long, whatever the kind makes of it.
void passes(Kind kind, const std::string& bytes) {
  const auto document = Document::parse(kind, bytes, to_french());
  if (!document) return;
  std::vector<Translation> other;
  for (const Segment& s : document->segments()) other.push_back({"mot " + s.text.substr(0, 100), {}});
  EXPECT_TRUE(document->render(other).ok());
}

void passes_as_text(const std::string& text) {
  passes(Kind::json, "{\"a\": \"" + text + "\"}");
  passes(Kind::yaml, "a: \"" + text + "\"\n");
  passes(Kind::properties, "a=" + text);
  passes(Kind::strings, "\"a\" = \"" + text + "\";");
  passes(Kind::android, "<resources><string name='a'>" + text + "</string></resources>");
  passes(Kind::xcstrings, "{\"sourceLanguage\":\"en\",\"strings\":{\"" + text + "\":{}}}");
}

TEST(HostileApps, TextsOfManySigns) {
  for (const char* part : {"{",
                           "}",
                           "{a",
                           "{n, plural, ",
                           "{n, plural, one {",
                           "{n, plural, one {a} other {b}} ",
                           "'",
                           "''",
                           "'{",
                           "$",
                           "$t(",
                           "$t(a) ",
                           "$a$ ",
                           "%#@",
                           "%#@a@ ",
                           "&",
                           "&amp;",
                           "&#",
                           "<b>",
                           "</b>",
                           "<b>x</b> ",
                           "<code>",
                           "<!--",
                           "<",
                           "a\\\\n",
                           "# ",
                           "http://a.b "})
    passes_as_text(lots(part, 4000) + "word");
}

TEST(HostileApps, DeepAndUnclosed) {
  for (const Kind kind : kAppKinds) {
    for (const char* part :
         {"{",   "[",   "{\"a\":", "[{\"a\":[", "- ",     "a: ",       "a:\n",     "? ",     "\"", "'",
          "/*",  "//",  "\\",      "<a>",       "<a b='", "<![CDATA[", "<string>", "=",      ";",  "|\n",
          "&a ", "*a ", "!",       "\n",        "\r",     "\t",        "---\n",    "a: |\n "})
      passes(kind, lots(part) + "word");
    passes(kind, "");
    passes(kind, "\xef\xbb\xbf");
    passes(kind, std::string(kLots, '\0'));
  }
  std::string stairs, keys = "{\"k0\":1";
  for (size_t i = 0; i < 2000; ++i) stairs += std::string(i, ' ') + "a:\n";
  for (size_t i = 1; i < kLots; ++i) keys += ",\"k" + std::to_string(i) + "_one\":\"a\"";
  passes(Kind::yaml, stairs);
  passes(Kind::json, keys + "}");
  passes(Kind::yaml, lots("a: b\n"));
  passes(Kind::yaml, "a: b\n" + lots(" \n") + "c: d\n");
  passes(Kind::yaml, "a: [" + lots("b, ") + "]\n");
  passes(Kind::yaml, "a: |\n" + lots(" word\n"));
}

// Forms of forms would grow without end.
TEST(HostileApps, FormsWithinForms) {
  std::string forms = "\"x\"";
  for (size_t i = 0; i < 100; ++i)
    forms = "{\"plural\":{\"one\":" + forms + ",\"other\":{\"stringUnit\":{\"state\":\"new\",\"value\":\"word\"}}}}";
  passes(Kind::xcstrings, "{\"sourceLanguage\":\"en\",\"strings\":{\"a\":{\"localizations\":{\"en\":" + forms + "}}}}");
}

TEST(HostileApps, WhatIsBrokenIsNamed) {
  const struct {
    Kind kind;
    const char* bytes;
    const char* message;
  } cases[] = {
      {Kind::json, "{\n\"a\": \"b\"\n\"c\": 1}", "line 3: a , or } is missing"},
      {Kind::json, "{\n\"a\": \"b\n}", "line 2: a string is never closed"},
      {Kind::json, "{\n\"a\" \"b\"}", "line 2: a : is missing"},
      {Kind::json, "{a: 1}", "a name in double quotes"},
      {Kind::json, "{\"a\": }", "a value is missing"},
      {Kind::json, "{\"a\": 1} x", "nothing may follow"},
      {Kind::json, "[1\n", "line 2"},
      {Kind::yaml, "a:\n\tc: d\n", "line 2: a tab"},
      {Kind::yaml, "a: b\nc: \"d\n", "line 2: a quote is never closed"},
      {Kind::yaml, "a: b: c\n", "line 1: a text with ': '"},
      {Kind::yaml, "a: [b\n", "never closed"},
      {Kind::yaml, "a: [b}\n", "do not match"},
      {Kind::yaml, "a: 'b' c\n", "behind a text"},
      {Kind::yaml, "? a\n: b\n", "behind a ?"},
      {Kind::android, "<resources><string>a</resources>", "line 1"},
      {Kind::android, "<manifest></manifest>", "no <resources>"},
      {Kind::android, "<!DOCTYPE r [<!ENTITY a 'b'>]><resources/>", "entities"},
      {Kind::stringsdict, "<dict></dict>", "no <plist>"},
      {Kind::xcstrings, "{}", "no sourceLanguage"},
      {Kind::strings, "\"a\" = \"\xff\";", "neither UTF-8"},
      {Kind::strings, "\xff\xfe\x22", "half a character"},
  };
  for (const auto& c : cases) {
    const auto document = Document::parse(c.kind, c.bytes, to_french());
    ASSERT_FALSE(document.ok()) << c.bytes;
    EXPECT_NE(document.error().message.find(c.message), std::string::npos) << c.bytes << "\n"
                                                                           << document.error().message;
  }
}

TEST(HostileApps, XmlIsToldByItsElements) {
  const std::string texts = "<resources>\n  <color name='c'>#fff</color>\n  <!-- c -->\n  ";
  for (const char* element : {"<string name='a'>Hello</string>", "<plurals name='a'>", "<string-array/>"})
    EXPECT_EQ(kind_of_xml("\xef\xbb\xbf<?xml version='1.0'?>\n<!-- c -->" + texts + element), Kind::android) << element;
  EXPECT_EQ(kind_of_xml("<xliff version='2.0' xml"), std::nullopt);
  EXPECT_EQ(kind_of_xml("<xliff version='2.0'>"), Kind::xliff);
  EXPECT_EQ(kind_of_xml("<tt:tt xmlns:tt='x'>"), Kind::ttml);
  EXPECT_EQ(kind_of_xml("<!DOCTYPE TS>\n<TS version='2.1'>"), Kind::ts);
  for (const char* other : {"", "words", "<resources/>", "<resources><color>string</color>", "<a><string/></a>", "<",
                            "<resources><style><string/></style>", "{\"a\": \"<resources>\"}"})
    EXPECT_EQ(kind_of_xml(other), std::nullopt) << other;
}

TEST(HostileApps, AStringCatalogueNeedsALanguage) {
  const std::string catalogue = "{\"sourceLanguage\":\"en\",\"strings\":{\"Hello\":{}}}";
  EXPECT_EQ(Document::parse(Kind::xcstrings, catalogue).error().code, ErrorCode::invalid_argument);
  Options english;
  english.target_language = "en";
  EXPECT_EQ(Document::parse(Kind::xcstrings, catalogue, english).error().code, ErrorCode::invalid_argument);
}

std::string translated(Kind kind, const std::string& bytes, const std::string& words) {
  const auto document = Document::parse(kind, bytes, to_french());
  if (!document) return document.error().message;
  const auto out = document->render(std::vector<Translation>(document->segments().size(), {words, {}, false}));
  return out.ok() ? *out : out.error().message;
}

TEST(AppEncodings, Utf16KeepsItsOrder) {
  const std::string in = "\xef\xbb\xbf\"a\" = \"Hello\";\n",
                    out = "\xef\xbb\xbf\"a\" = \"\u00e9t\u00e9 \U0001f600\";\n";
  for (const Utf16 order : {Utf16::little, Utf16::big})
    EXPECT_EQ(translated(Kind::strings, utf16_of_utf8(in, order), "\u00e9t\u00e9 \U0001f600"),
              utf16_of_utf8(out, order));
}

TEST(AppEncodings, Latin1StaysLatin1) {
  EXPECT_EQ(translated(Kind::properties, "a=caf\xe9 noir\nb=12\n", "\u00e9t\u00e9 \u20ac"),
            "a=\xe9t\xe9 \\u20ac\nb=12\n");
}

TEST(Plurals, CategoriesOfLanguages) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(plural_categories("en"), (Names{"one", "other"}));
  EXPECT_EQ(plural_categories("pt-BR"), (Names{"one", "other"}));
  EXPECT_EQ(plural_categories("RU_ru"), (Names{"one", "few", "many", "other"}));
  EXPECT_EQ(plural_categories("ar"), (Names{"zero", "one", "two", "few", "many", "other"}));
  EXPECT_EQ(plural_categories("ja"), (Names{"other"}));
  EXPECT_EQ(plural_categories("cs"), (Names{"one", "few", "other"}));
  EXPECT_TRUE(plural_categories("").empty());
  EXPECT_TRUE(plural_categories("xx").empty());
  EXPECT_EQ(lacking_categories("pl", Names{"one", "other"}), "few, many");
}

}  // namespace
}  // namespace lapilli::documents
