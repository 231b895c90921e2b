#include "text/sentences/sentences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "text/sentences/abbreviations.hpp"
#include "text/sentences/sentence_class.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using ::testing::ElementsAre;
using Strings = std::vector<std::string>;

Strings pieces(std::string_view text, const std::vector<TextRange>& ranges) {
  Strings out;
  for (const TextRange& r : ranges) out.emplace_back(text.substr(r.begin, r.end - r.begin));
  return out;
}

Strings split(const std::string& text, const std::string& language = "") {
  return pieces(text, split_sentences(text, {.language = language}));
}

// A text of several sentences: given as they must come out, joined by `gap`.
void expect_split(const Strings& sentences, const std::string& language, const std::string& gap = " ") {
  std::string text;
  for (const std::string& s : sentences) text += (text.empty() ? "" : gap) + s;
  EXPECT_EQ(split(text, language), sentences) << text;
}

// Ranges in order, not empty, white space only between, none at the ends: nothing is lost.
void expect_lossless(std::string_view text, const std::vector<TextRange>& ranges) {
  uint64_t at = 0;
  const auto all_white = [&](uint64_t from, uint64_t to) {
    ASSERT_LE(from, to);
    for (uint64_t i = from; i < to;) {
      const CodePoint c = decode_utf8(text, i);
      ASSERT_TRUE(c.valid &&
                  (sentence_class(c.code) == SentenceClass::space || sentence_class(c.code) == SentenceClass::newline ||
                   sentence_class(c.code) == SentenceClass::extend))
          << "byte " << i << " of " << text.size() << " is in no sentence";
      i += c.bytes;
    }
  };
  for (const TextRange& r : ranges) {
    all_white(at, r.begin);
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_LT(r.begin, r.end);
    ASSERT_LE(r.end, text.size());
    // A blank that carries a mark is text.
    const bool carries = r.begin + 1 < r.end && (static_cast<unsigned char>(text[r.begin + 1]) & 0x80) != 0;
    ASSERT_TRUE(text[r.begin] != ' ' || carries);
    ASSERT_NE(text[r.end - 1], ' ');
    at = r.end;
  }
  all_white(at, text.size());
}

TEST(Sentences, EmptyAndBlank) {
  EXPECT_TRUE(split("").empty());
  EXPECT_TRUE(split(" \n\t\r\n ").empty());
  EXPECT_THAT(split("  one  "), ElementsAre("one"));
}

TEST(Sentences, English) {
  expect_split({"He came.", "She went!", "Why?", "Nobody knows."}, "en");
  expect_split({"Mr. Smith met Dr. J. R. R. Tolkien at St. Mary's.", "They talked."}, "en");
  expect_split({"It costs $3.14 or so.", "Cheap!"}, "en");
  expect_split({"The U.S. Army came at 5 p.m. on Monday.", "The end."}, "en");
  expect_split({"He works for Acme Inc. in the U.S.", "The firm is old."}, "en");
  expect_split({"See No. 5 and pp. 3-4.", "No.", "I will not."}, "en");
  expect_split({"Fruit, e.g. Apples, i.e. Red ones, etc.", "Then bread."}, "en");
  expect_split({"Visit https://example.com/a.html?x=1!y or mail a.b@example.com.", "Bye."}, "en");
  expect_split({"Wait... what?!", "No... nothing happened…", "Well."}, "en");
  expect_split({"\"Stop!\" she cried.", "\"Who is it?\"", "'Me.'"}, "en");
  expect_split({"He left (too late.)", "[She stayed.]", "So do I.", "The others went."}, "en");
  expect_split({"It grew fast.[12]", "Then it stopped."}, "en");
  expect_split({"1. First we eat.", "2. Then we sleep."}, "en");
  expect_split({"He was the v. of version 2.0.1 vs. the rest.", "Good."}, "en");
}

TEST(Sentences, German) {
  expect_split({"Am 3. Oktober kam Dr. Müller, z. B. mit Hrn. Schmidt.", "Er blieb bis ca. 5 Uhr."}, "de");
  expect_split({"Das ist u.a. Sache des Bundes bzw. Landes, vgl. Art. 5 Abs. 2.", "Sie gilt."}, "de");
  expect_split({"Ludwig XIV. war König.", "„Komm!“, rief er.", "„Ja.“", "»Nein.«", "Gut."}, "de");
  expect_split({"Die Nr. 7 steht im 19. Jahrhundert.", "Das stimmt."}, "de");
}

TEST(Sentences, French) {
  expect_split({"M. Dupont et Mme. Durand sont là.", "« Bonjour ! » dit-il.", "« Ça va ? »", "Oui !"}, "fr");
  expect_split({"Il est né en 52 av. J.-C. à Rome.", "Voir p. 12, c.-à-d. la fin."}, "fr");
}

TEST(Sentences, OtherEuropeanLanguages) {
  expect_split({"¿Cómo está el Sr. García?", "¡Muy bien!", "Vive en la Avda. Goya."}, "es");
  expect_split({"Il sig. Rossi e la dott.ssa Bianchi.", "Sono qui."}, "it");
  expect_split({"O Sr. Silva mora na Av. Brasil.", "Ele saiu."}, "pt");
  expect_split({"Dhr. Jansen komt a.s. maandag, d.w.z. Morgen.", "De trein is weg."}, "nl");
  expect_split({"To jest np. Warszawa i ul. Długa.", "On wyszedł."}, "pl");
  expect_split({"Мы живём на ул. Ленина, т.е. Далеко.", "А. С. Пушкин родился в 1799 г.", "Он писал."}, "ru");
  expect_split({"Ο κ. Παπαδόπουλος ήρθε.", "Πού πάει;", "Δεν ξέρω."}, "el");
  expect_split({"Karel IV. Lucemburský a např. Jan.", "Je to tak."}, "cs");
  expect_split({"Ez pl. Budapest és Dr. Kovács.", "Nem tudom."}, "hu");
  expect_split({"Det er f.eks. Oslo.", "Hva nå?"}, "nb");
}

TEST(Sentences, OtherScripts) {
  expect_split({"你好。", "他说：“走吧！”", "「世界。」", "真的？", "是…对。"}, "zh", "");
  expect_split({"「はい。」と言った。", "そうですか？", "３．５です。"}, "ja", "");
  expect_split({"यह एक वाक्य है।", "दूसरा वाक्य?", "हाँ!"}, "hi");
  expect_split({"كيف حالك؟", "أنا بخير.", "شكرا!"}, "ar");
  expect_split({"یہ ٹھیک ہے۔", "کیا؟"}, "ur");
  expect_split({"Բարև։", "Լավ է։"}, "hy");
  expect_split({"ሰላም።", "ደህና ነኝ፧"}, "am");
  expect_split({"안녕하세요.", "네!", "그래요?"}, "ko");
  expect_split({"နေကောင်းလား။", "ကောင်းပါတယ်။"}, "my", "");
  expect_split({"שלום.", "מה שלומך?"}, "he");
}

TEST(Sentences, LineBreaks) {
  EXPECT_THAT(split("A title\n\nThe text goes on. And on."), ElementsAre("A title", "The text goes on.", "And on."));
  EXPECT_THAT(split("one line\r\n\r\nanother"), ElementsAre("one line", "another"));
  EXPECT_THAT(split("A title\nThe text."), ElementsAre("A title", "The text."));
  EXPECT_THAT(split("a sentence that\ngoes on."), ElementsAre("a sentence that\ngoes on."));
  EXPECT_THAT(split("Buy\n- milk\n- bread"), ElementsAre("Buy", "- milk", "- bread"));
  const std::string wrapped =
      "This text was wrapped at a fixed width of columns by Mr.\n"
      "Smith and his friends who live in the small town of\n"
      "London. It goes on.\n"
      "End";
  EXPECT_THAT(split(wrapped, "en"), ElementsAre(wrapped.substr(0, wrapped.find(" It")), "It goes on.", "End"));
  EXPECT_THAT(pieces("a b\nc d", split_sentences("a b\nc d", {.line_breaks = LineBreaks::end})),
              ElementsAre("a b", "c d"));
  EXPECT_THAT(pieces("A b\nC d", split_sentences("A b\nC d", {.line_breaks = LineBreaks::space})),
              ElementsAre("A b\nC d"));
}

TEST(Sentences, LanguageIsNormalizedAndGuessed) {
  EXPECT_EQ(base_language("fr_XX"), "fr");
  EXPECT_EQ(base_language("FR-ca"), "fr");
  EXPECT_EQ(base_language("deu_Latn"), "de");
  EXPECT_EQ(base_language("nno_Latn"), "nb");
  EXPECT_EQ(base_language(""), "");
  EXPECT_EQ(guess_language("Das ist nicht die Frage, wenn er und sie es wissen."), "de");
  EXPECT_EQ(guess_language("This is what he said when we were there."), "en");
  EXPECT_EQ(guess_language("xyzzy"), "");
  expect_split({"Er wohnt seit dem 3. Oktober in der Nr. 5, aber die Frau ist nicht da.", "Und er?"}, "");
}

// Random mixtures of what the rules look at, of all scripts, valid or not.
TEST(Sentences, LoseNothing) {
  const Strings parts = {".",
                         "!",
                         "?",
                         "…",
                         "。",
                         "？",
                         "।",
                         "؟",
                         " ",
                         "  ",
                         "\n",
                         "\n\n",
                         "\r\n",
                         "\t",
                         "\xC2\xA0",
                         "a",
                         "B",
                         "Mr",
                         "z.B",
                         "1",
                         "23",
                         "XIV",
                         "(",
                         ")",
                         "“",
                         "”",
                         "«",
                         "»",
                         "\"",
                         "'",
                         "你",
                         "か",
                         "א",
                         "ب",
                         "é",
                         "e\xCC\x81",
                         "\xCC\x81",
                         "-",
                         ",",
                         "、",
                         "@",
                         "http://x.y/z?",
                         "[1]",
                         "\xFF",
                         "\xE3\x80",
                         "\xE2\x80\xA8",
                         "\xE3\x80\x80",
                         "ก",
                         "😀",
                         "\xE2\x80\x8B",
                         ":",
                         "- ",
                         "1. "};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int n = static_cast<int>(random() % 40); n > 0; --n) text += parts[random() % parts.size()];
    const std::string language = Strings{"", "en", "de", "zh"}[random() % 4];
    const LineBreaks breaks = static_cast<LineBreaks>(random() % 3);
    const auto ranges = split_sentences(text, {.language = language, .line_breaks = breaks});
    expect_lossless(text, ranges);
    if (HasFatalFailure()) FAIL() << ::testing::PrintToString(text);
    EXPECT_EQ(join_sentences(text, ranges, pieces(text, ranges)).size() >= text.size(), true);
  }
}

TEST(Sentences, HostileTextsTakeLinearTime) {
  for (const std::string part : {" ", ".", "(", ". ", "A. ", "\n", " \n", "[1", "\" ", "I. ", "«", "a\n", ". 1 "}) {
    std::string text = std::string(1000, '(');
    while (text.size() < 400000) text += part;
    expect_lossless(text, split_sentences(text));
    if (HasFatalFailure()) FAIL() << part;
  }
}

uint64_t words(std::string_view text) {
  uint64_t n = 0;
  bool in_word = false;
  for (char c : text) {
    if (c != ' ' && !in_word) ++n;
    in_word = c != ' ';
  }
  return n;
}

const CountTokens kWords = [](std::string_view s) -> Result<uint64_t> { return words(s); };
const CountTokens kBytes = [](std::string_view s) -> Result<uint64_t> { return s.size(); };

Strings limited(const std::string& text, const SentenceLimit& limit, const CountTokens& count = kWords) {
  const auto cut = limit_sentence(text, {0, text.size()}, limit, count);
  return cut ? pieces(text, *cut) : Strings{cut.error().message};
}

TEST(SentenceLimit, CutsAtTheBestPlace) {
  // Semicolons and colons, then commas, dashes and brackets, then conjunctions, then blanks.
  EXPECT_THAT(limited("a b, c d; e and f g h i", {6, 6, "en"}), ElementsAre("a b, c d;", "e and f g h i"));
  EXPECT_THAT(limited("a b c: d, e f g h", {6, 6, "en"}), ElementsAre("a b c:", "d, e f g h"));
  EXPECT_THAT(limited("aa bb, c and d e", {5, 5, "en"}), ElementsAre("aa bb,", "c and d e"));
  EXPECT_THAT(limited("a b (c d) and e f g h", {6, 6, "en"}), ElementsAre("a b (c d)", "and e f g h"));
  EXPECT_THAT(limited("a b c and d e f g", {6, 6, "en"}), ElementsAre("a b c", "and d e f g"));
  EXPECT_THAT(limited("a b c and d e f g", {6, 6, "xx"}), ElementsAre("a b c and", "d e f g"));
  EXPECT_THAT(limited("a b c d e f g h", {5, 5, "en"}), ElementsAre("a b c d", "e f g h"));
  // Where the language is not given, small words say it.
  EXPECT_THAT(limited("les uns sont là ou les autres sont ici il y est", {7, 7, ""}),
              ElementsAre("les uns sont là", "ou les autres", "sont ici il y est"));
  // Marks that would leave a piece all but empty do not count.
  EXPECT_THAT(limited("a; b c d e f g h i j", {8, 8, "en"}), ElementsAre("a; b c d e", "f g h i j"));
  // French has a blank before its marks, which stay with what they end.
  EXPECT_THAT(limited("un deux\u00a0; trois quatre", {3, 3, "fr"}), ElementsAre("un deux\u00a0;", "trois quatre"));
  // Full stops before small letters, but for those of abbreviations.
  EXPECT_THAT(limited("i am here. you are there, are you not", {6, 6, "en"}),
              ElementsAre("i am here.", "you are there, are you not"));
  EXPECT_THAT(limited("a b c Dr. d e f", {5, 5, "en"}), ElementsAre("a b c", "Dr. d e f"));
}

TEST(SentenceLimit, WordsAndAddressesStayWhole) {
  const std::string word(30, 'x');
  EXPECT_THAT(limited("ab " + word + " cd ef", {10, 40}, kBytes), ElementsAre("ab", word, "cd ef"));
  const std::string address = "https://example.org/a,b;c:d/\u4e2d\u6587\u5b57?q=1";
  EXPECT_THAT(limited("see " + address + ", then that", {12, 60}, kBytes),
              ElementsAre("see", address + ",", "then that"));
  // But the model's positions are the end.
  EXPECT_THAT(limited("ab " + word, {10, 12}, kBytes),
              ElementsAre("ab", std::string(12, 'x'), std::string(12, 'x'), std::string(6, 'x')));
}

TEST(SentenceLimit, ScriptsWithoutWhiteSpace) {
  EXPECT_THAT(limited("我们去那里，他们来这里。", {24, 60}, kBytes), ElementsAre("我们去那里，", "他们来这里。"));
  EXPECT_THAT(limited("一二三四五六", {9, 60}, kBytes), ElementsAre("一二三", "四五六"));
  EXPECT_THAT(limited("一二，三", {6, 60}, kBytes), ElementsAre("一", "二，", "三"));  // no piece begins with a comma
}

TEST(SentenceLimit, CharactersStayWhole) {
  const std::string accents =
      "e\xCC\x81"
      "e\xCC\x81"
      "e\xCC\x81";
  EXPECT_EQ(*limit_sentence(accents, {0, accents.size()}, {6, 6}, kBytes), (std::vector<TextRange>{{0, 6}, {6, 9}}));
  // Impossible: one character each.
  EXPECT_EQ(limit_sentence(accents, {0, accents.size()}, {1, 1}, kBytes)->size(), 3u);
}

TEST(SentenceLimit, WhatItCannotDo) {
  const std::string text = "one two three, four five six seven eight nine ten";
  EXPECT_FALSE(limit_sentence(text, {0, text.size() + 1}, {5, 5}, kWords).ok());
  const CountTokens broken = [](std::string_view) -> Result<uint64_t> { return fail(ErrorCode::internal, "no"); };
  EXPECT_FALSE(limit_sentence(text, {0, 10}, {5, 5}, broken).ok());
}

TEST(SentenceLimit, KeepsTheBudgetAndEveryCharacter) {
  std::mt19937 random(3);
  const Strings parts = {"word ", "a, ",        "你", "好，", "x",        "e\xCC\x81 ",
                         "- ",    "longerword", " ",  "and ", "www.a.b/", ";\u00a0"};
  const CountTokens count = [](std::string_view s) -> Result<uint64_t> { return s.size() / 2 + 1; };
  for (int round = 0; round < 300; ++round) {
    std::string text = "s";
    for (int n = static_cast<int>(random() % 300); n > 0; --n) text += parts[random() % parts.size()];
    const auto cut = limit_sentence(text, {0, text.size()}, {round % 2 == 0 ? 20u : 8u, 20, "en"}, count);
    ASSERT_TRUE(cut.ok());
    expect_lossless(text, *cut);
    if (HasFatalFailure()) return;
    for (const TextRange& r : *cut) EXPECT_LE((r.end - r.begin) / 2 + 1, 20u);
  }
}

// The counted work stays a small multiple of the text, whatever the text.
TEST(SentenceLimit, HostileTextsTakeLinearTime) {
  for (const std::string part :
       {"x", "1", "x ", "www.", "http://", "a@b", "(", ")", "; ", ", ", "你", "\u00a0", "\xcc\x81",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "}) {
    std::string text = "s";
    while (text.size() < 100000) text += part;
    for (const uint64_t most : {uint64_t{100}, ~uint64_t{0}}) {
      uint64_t counted = 0;
      const CountTokens count = [&](std::string_view s) -> Result<uint64_t> {
        counted += s.size();
        return s.size();
      };
      ASSERT_TRUE(limit_sentence(text, {0, text.size()}, {50, most, "en"}, count).ok());
      EXPECT_LT(counted, 400 * text.size()) << part << " " << most;
    }
  }
}

TEST(Sentences, JoinKeepsWhiteSpaceAndAddsItWhereScriptsDiffer) {
  const std::string text = " A.\n\nB.  ";
  const Strings translated = {"Un.", "Deux."};
  EXPECT_EQ(join_sentences(text, split_sentences(text, {.language = "en"}), translated), " Un.\n\nDeux.  ");
  const std::string chinese = "你好。世界。";
  EXPECT_EQ(join_sentences(chinese, split_sentences(chinese), translated), "Un. Deux.");
  EXPECT_EQ(join_sentences(chinese, split_sentences(chinese), pieces(chinese, split_sentences(chinese))), chinese);
}

// ---- against Unicode's own data, where Debian's unicode-data is installed
// --------------------------------------------

std::string encode_utf8(uint32_t c) {
  std::string s;
  const auto add = [&](uint32_t byte) { s.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return add(c), s;
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  add((~(0xFFu >> (more + 1)) & 0xFF) | c >> (6 * more));
  for (int k = more - 1; k >= 0; --k) add(0x80 | (c >> (6 * k) & 63));
  return s;
}

std::string unicode_file(const std::string& name) {
  const char* directory = std::getenv("LAPILLI_TEST_UNICODE_DATA");
  return std::string(directory ? directory : "/usr/share/unicode") + "/" + name;
}

TEST(Sentences, UnicodeTestFile) {
  std::ifstream file(unicode_file("auxiliary/SentenceBreakTest.txt"));
  if (!file) GTEST_SKIP() << "SKIPPED: Unicode's SentenceBreakTest.txt is not here (Debian: unicode-data)";
  int tests = 0;
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    std::string text, token;
    std::vector<uint64_t> breaks;
    for (std::istringstream in(line); in >> token;) {
      if (token == "÷") {
        breaks.push_back(text.size());
      } else if (token != "×") {
        text += encode_utf8(static_cast<uint32_t>(std::stoul(token, nullptr, 16)));
      }
    }
    if (text.empty()) continue;
    ++tests;
    // Pieces as the file has them, those of white space alone left out, the others without it.
    Strings expected;
    for (size_t i = 0; i + 1 < breaks.size(); ++i) {
      const std::string piece(strip(std::string_view(text).substr(breaks[i], breaks[i + 1] - breaks[i])));
      if (!piece.empty()) expected.push_back(piece);
    }
    Strings found = pieces(text, split_sentences(text, {.unicode_only = true}));
    for (std::string& piece : found)
      piece = std::string(strip(std::string(piece)));  // a blank that carries a mark is kept
    EXPECT_EQ(found, expected) << line;
  }
  EXPECT_GT(tests, 400);
}

TEST(SentenceClass, UnicodeProperties) {
  std::ifstream file(unicode_file("auxiliary/SentenceBreakProperty.txt"));
  if (!file) GTEST_SKIP() << "SKIPPED: Unicode's SentenceBreakProperty.txt is not here (Debian: unicode-data)";
  int seen = 0;
  for (std::string line; std::getline(file, line);) {
    const size_t semicolon = line.find(';');
    if (line.empty() || line[0] == '#' || semicolon == std::string::npos) continue;
    std::istringstream fields(line.substr(semicolon + 1));
    std::string property;
    fields >> property;
    if (property != "STerm" && property != "ATerm" && property != "Sp" && property != "SContinue") continue;
    const uint32_t first = static_cast<uint32_t>(std::stoul(line, nullptr, 16));
    const size_t dots = line.find("..");
    const uint32_t last =
        dots < semicolon ? static_cast<uint32_t>(std::stoul(line.substr(dots + 2), nullptr, 16)) : first;
    for (uint32_t c = first; c <= last; ++c) {
      if (c == 0x104A) continue;  // the comma of Burmese
      using enum SentenceClass;
      const SentenceClass k = sentence_class(c);
      const bool right = property == "STerm"   ? k == full || k == terminator
                         : property == "ATerm" ? k == dot
                         : property == "Sp"    ? k == space
                                               : k == continuing;
      ++seen;
      EXPECT_TRUE(right) << property << " U+" << std::hex << c;
    }
  }
  EXPECT_GT(seen, 150);
}

}  // namespace
}  // namespace lapilli
