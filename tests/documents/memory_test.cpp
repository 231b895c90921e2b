// Translation memories: what is taken from them, what is written, and files that are none.
#include <gtest/gtest.h>

#include "documents/memory/translation_memory.hpp"

namespace lapilli::documents {
namespace {

std::string tmx(const std::string& body, const std::string& source = "en") {
  return "<?xml version=\"1.0\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\"><header srclang=\"" +
         source + "\"/><body>" + body + "</body></tmx>";
}

std::string unit(const std::string& from, const std::string& source, const std::string& to, const std::string& target) {
  return "<tu><tuv xml:lang=\"" + from + "\"><seg>" + source + "</seg></tuv><tuv xml:lang=\"" + to + "\"><seg>" +
         target + "</seg></tuv></tu>";
}

TEST(TranslationMemories, EqualTextsAreTaken) {
  TranslationMemory memory;
  ASSERT_EQ(memory.read(tmx(unit("en-US", "Good &amp;\n day", "fr", "Bon jour") + unit("de", "Hallo", "fr", "Salut")),
                        "en", "fr"),
            "");
  EXPECT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory.find("  Good & day "), "Bon jour");
  EXPECT_EQ(memory.find("good & day"), std::nullopt);
  EXPECT_EQ(memory.find("Hallo"), std::nullopt);
}

TEST(TranslationMemories, OtherNumbersArePutIn) {
  TranslationMemory memory;
  const std::string units =
      unit("en", "Page 3 of 12", "fr", "Page 3 sur 12") + unit("en", "Up to 1,000 m", "fr", "1 000 m au plus") +
      unit("en", "4 by 4", "fr", "4 sur 4") + unit("en", "On x86 wait 5 s", "fr", "Sur x86 attendez 5 s");
  ASSERT_EQ(memory.read(tmx(units), "en", "fr"), "");
  EXPECT_EQ(memory.find("Page 7 of 90"), "Page 7 sur 90");
  EXPECT_EQ(memory.find("Page 7.5 of 90"), "Page 7.5 sur 90");
  EXPECT_EQ(memory.find("Page 7 of"), std::nullopt);
  EXPECT_EQ(memory.find("Up to 2,000 m"), std::nullopt) << "its translation writes the number in another way";
  EXPECT_EQ(memory.find("Up to 1,000 m"), "1 000 m au plus");
  EXPECT_EQ(memory.find("3 by 5"), std::nullopt) << "which of the two becomes which is unknown";
  EXPECT_EQ(memory.find("7 by 7"), "7 sur 7");
  EXPECT_EQ(memory.find("On x86 wait 9 s"), "Sur x86 attendez 9 s");
  EXPECT_EQ(memory.find("On x64 wait 9 s"), std::nullopt);
}

TEST(TranslationMemories, LanguagesMayBeLeftToTheFile) {
  TranslationMemory memory;
  ASSERT_EQ(memory.read(tmx(unit("en", "Hello", "fr-CA", "Salut"), "en-GB"), "", ""), "");
  EXPECT_EQ(memory.find("Hello"), "Salut");
  const std::string several = unit("en", "Hello", "fr", "Salut") + unit("en", "Hello", "de", "Hallo");
  EXPECT_NE(TranslationMemory().read(tmx(several), "", "").find("--to"), std::string::npos);
  EXPECT_NE(TranslationMemory().read(tmx(several, "*all*"), "", "fr").find("--from"), std::string::npos);
  TranslationMemory closer;
  ASSERT_EQ(closer.read(tmx("<tu><tuv xml:lang='en'><seg>Colour</seg></tuv><tuv xml:lang='pt'><seg>A</seg></tuv><tuv "
                            "xml:lang='pt-BR'><seg>B</seg></tuv></tu>"),
                        "en", "pt_br"),
            "");
  EXPECT_EQ(closer.find("Colour"), "B");
}

TEST(TranslationMemories, TagsOfProgramsAreLeftOut) {
  TranslationMemory memory;
  const std::string tagged = "Press <bpt i=\"1\">&lt;b&gt;</bpt>the <hi>red</hi><ept i=\"1\">&lt;/b&gt;</ept> key";
  ASSERT_EQ(memory.read(tmx(unit("en", tagged, "fr", "La touche <ph x=\"1\"/>rouge")), "en", "fr"), "");
  EXPECT_EQ(memory.find("Press the red key"), "La touche rouge");
}

TEST(TranslationMemories, OthersAreRefusedByWhatIsWrong) {
  const auto wrong = [](const std::string& bytes) { return TranslationMemory().read(bytes, "en", "fr"); };
  EXPECT_NE(wrong("<a></a>").find("no TMX"), std::string::npos);
  EXPECT_NE(wrong("hello").find("no TMX"), std::string::npos);
  EXPECT_NE(wrong(std::string("\xff\xfe<\0t\0", 6)).find("UTF-16"), std::string::npos);
  EXPECT_NE(wrong("<!DOCTYPE tmx [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><tmx></tmx>"), "");
  EXPECT_NE(wrong("<tmx><body><tu>"), "");
  std::string deep = "<tmx>";
  for (int i = 0; i < 100000; ++i) deep += "<seg>";
  EXPECT_NE(wrong(deep), "");
}

TEST(TranslationMemories, WhatIsWrittenIsRead) {
  const std::string source = "a <b> & \"c\" \x01{name} \u00e9", target = "x > y & z \u65e5";
  const std::string file = tmx_head("en") + tmx_unit(source, target, "en", "fr") + std::string(kTmxEnd);
  TranslationMemory memory;
  ASSERT_EQ(memory.read(file, "en", "fr"), "");
  EXPECT_EQ(memory.find("a <b> & \"c\" {name} \u00e9"), target);
}

}  // namespace
}  // namespace lapilli::documents
