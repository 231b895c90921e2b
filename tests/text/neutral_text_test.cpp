// URLs, e-mail addresses, and texts that are the same in every language.
#include "text/sentences/neutral_text.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace lapilli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> addresses(const std::string& text) {
  std::vector<std::string> out;
  for (const TextRange& r : find_addresses(text)) out.push_back(text.substr(r.begin, r.end - r.begin));
  return out;
}

TEST(Addresses, AreFoundWithoutThePunctuationAround) {
  EXPECT_THAT(addresses("See https://example.com/a?b=c&d#e, or www.example.org."),
              ElementsAre("https://example.com/a?b=c&d#e", "www.example.org"));
  EXPECT_THAT(addresses("(http://a.b/c_(d)) <ftp://x.y:21/z> \"WWW.Example.COM!\""),
              ElementsAre("http://a.b/c_(d)", "ftp://x.y:21/z", "WWW.Example.COM"));
  EXPECT_THAT(addresses("https://user:word@[::1]:80/ https://пример.рф/путь http://a.b/naïve"),
              ElementsAre("https://user:word@[::1]:80/", "https://пример.рф/путь", "http://a.b/naïve"));
  EXPECT_THAT(addresses("访问https://a.b/c网站，或https://zh.wikipedia.org/wiki/中文。"),
              ElementsAre("https://a.b/c", "https://zh.wikipedia.org/wiki/中文"));
  EXPECT_THAT(addresses("Write to jean.dupont+x@mail.example.fr, mailto:a@b.c; l'adresse : info@b-c.d."),
              ElementsAre("jean.dupont+x@mail.example.fr", "mailto:a@b.c", "info@b-c.d"));
  EXPECT_THAT(addresses("a@b @c.d e@ f@.g h@i. :// http:// www. www wwww.x awww.y http://. 1://x www.."), IsEmpty());
  EXPECT_THAT(addresses(""), IsEmpty());
}

TEST(NeutralText, IsAddressesNumbersAndSigns) {
  for (const char* text : {"https://example.com/x",
                           "  www.a.b ",
                           "info@example.com",
                           "<https://a.b>, (c@d.e);",
                           "12",
                           "-1",
                           "3.50 €",
                           "$5",
                           "+33 1 23 45 67 89",
                           "50\u00a0%",
                           "12:30–14:00",
                           "٣٫٥",
                           "१२३",
                           "１２３",
                           "½",
                           "...",
                           "?!",
                           "* * *",
                           "-----",
                           "→",
                           "😀",
                           "👩‍👩‍👧 ❤️",
                           "🇫🇷",
                           "{}",
                           "。",
                           "©",
                           "1.\n2.\n3.",
                           "§ 5"})
    EXPECT_TRUE(is_neutral_text(text)) << text;
  for (const char* text : {"",
                           " ",
                           "\n\t",
                           "a",
                           "Hello",
                           "5 km",
                           "3rd",
                           "H2O",
                           "See https://example.com",
                           "example.com",
                           "三",
                           "ª",
                           "п",
                           "5 دولار",
                           "https://a.b/c网站",
                           "a@b",
                           ">>fr<< 5",
                           "\xff",
                           "1 \xc3",
                           "\xcc\x81"})
    EXPECT_FALSE(is_neutral_text(text)) << text;
  EXPECT_TRUE(is_neutral_text(std::string_view("1\0002", 3)));
  EXPECT_FALSE(is_neutral_text(std::string_view("a\0002", 3)));
}

TEST(NeutralText, FirstLostAddress) {
  const std::string text = "See https://a.b/c or www.d.e, or write to f@g.h.";
  EXPECT_EQ(first_lost_address(text, "Voir https://a.b/c ou www.d.e\u00a0; f@g.h"), "");
  EXPECT_EQ(first_lost_address(text, "f@g.h, www.d.e. https://a.b/cd"), "https://a.b/c");
  EXPECT_EQ(first_lost_address(text, "https: //a.b/c www.d.e f@g.h"), "https://a.b/c");
  EXPECT_EQ(first_lost_address(text, "https://a.b/c www.d.e f @ g.h"), "f@g.h");
  EXPECT_EQ(first_lost_address("Nothing here.", ""), "");
  EXPECT_EQ(first_lost_address("Hello {name}, %d of %1$s: https://a.b/c", "%1$s, {name} %d https://a.b/c"), "");
  EXPECT_EQ(first_lost_address("Hello {name}, %d at https://a.b/c", "{nom} %d"), "{name}");
  EXPECT_EQ(first_lost_address("See https://a.b/c, %d times", "d"), "https://a.b/c");
}

TEST(NeutralText, HostileTextsTakeLinearTime) {
  for (const std::string part : {"1", "(", ")", "www.", "w", "://", "http://", "@", "a@", "a@b", "a@b.", "http://a.",
                                 "[", "\xff", "\xcc\x81", "http://a)", "a", "."}) {
    std::string text;
    while (text.size() < 300000) text += part;
    const auto found = find_addresses(text);
    uint64_t end = 0;
    for (const TextRange& r : found) {
      ASSERT_LE(end, r.begin);
      ASSERT_LT(r.begin, r.end);
      end = r.end;
    }
    ASSERT_LE(end, text.size());
    const bool letters = part.find_first_of("awh\xff") != std::string::npos;
    if (!letters || found.empty()) {
      EXPECT_EQ(is_neutral_text(text), !letters && part != "\xcc\x81") << part;
    }
    EXPECT_EQ(first_lost_address(text, text), "");
  }
}

}  // namespace
}  // namespace lapilli
