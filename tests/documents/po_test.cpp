// Catalogues of gettext: 1,000 by chance, and what msgfmt says of some of them.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/placeholders.hpp"
#include "documents/document.hpp"
#include "documents/tables/po_entries.hpp"
#include "random_documents.hpp"
#include "skeleton.hpp"

namespace lapilli::documents {
namespace {

Options into(const std::string& language) {
  Options options;
  options.target_language = language;
  return options;
}

std::vector<Translation> made(const Document& document, Chance& chance) {
  std::vector<Translation> all;
  for (const Segment& s : document.segments()) all.push_back(random_translation(s, true, chance));
  return all;
}

// How often each placeholder stands in a text, without its number.
std::vector<std::string> placeholders_of(const std::string& text) {
  std::vector<std::string> all;
  for (Placeholder p = find_placeholder(text, 0); p.end > p.begin; p = find_placeholder(text, p.end)) {
    std::string one = text.substr(p.begin, p.end - p.begin);
    if (const size_t dollar = one.find('$'); dollar != std::string::npos) one = "%" + one.substr(dollar + 1);
    all.push_back(one);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Catalogues, WhatIsNotMadeStaysAsItWas) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Chance chance(seed);
    const std::string bytes = random_document(Kind::po, chance);
    const auto document = Document::parse(Kind::po, bytes);
    ASSERT_TRUE(document.ok()) << document.error().message;
    std::vector<Translation> none(document->segments().size());
    for (Translation& t : none) t.failed = true;
    ASSERT_EQ(*document->render(none), bytes) << "seed " << seed;
  }
}

TEST(Catalogues, OnlyTranslationsAndTheirMarksChange) {
  size_t translated = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Chance chance(seed);
    const std::string bytes = random_document(Kind::po, chance);
    const auto document = Document::parse(Kind::po, bytes, into(seed % 2 ? "fr" : "pl"));
    ASSERT_TRUE(document.ok());
    const auto out = document->render(made(*document, chance));
    ASSERT_TRUE(out.ok());
    ASSERT_EQ(skeleton_of(Kind::po, *out), skeleton_of(Kind::po, bytes)) << "seed " << seed << "\n"
                                                                         << bytes << "\n===\n"
                                                                         << *out;
    const PoFile file = read_po(*out, 0);
    ASSERT_TRUE(file.broken_lines.empty()) << "seed " << seed << "\n" << *out;
    for (const PoEntry& entry : file.entries) {
      if (entry.is_header() || !entry.fuzzy) continue;
      ++translated;
      ASSERT_TRUE(entry.has_translation()) << *out;
      for (const PoForm& form : entry.forms) {
        const std::string source = entry.plural && form.number > 0 ? entry.plural->raw(*out) : entry.id.raw(*out);
        const std::string target = form.text.raw(*out);
        // A translation by chance may have placeholders of its own; in these formats its % are doubled.
        if (entry.percent) {
          ASSERT_EQ(placeholders_of(target), placeholders_of(source)) << "seed " << seed << "\n" << *out;
        }
        ASSERT_EQ(target.ends_with("\\n"), source.ends_with("\\n")) << *out;
      }
    }
  }
  EXPECT_GT(translated, 1000u);
}

// Bytes that were damaged are read without harm, and what fails stays.
TEST(Catalogues, DamagedOnesAreLeftAlone) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Chance chance(seed);
    const std::string bytes = damaged(random_document(Kind::po, chance), chance);
    const auto document = Document::parse(Kind::po, bytes);
    if (!document) continue;  // not UTF-8, or another charset
    std::vector<Translation> none(document->segments().size());
    for (Translation& t : none) t.failed = true;
    ASSERT_EQ(*document->render(none), bytes) << "seed " << seed;
    ASSERT_TRUE(document->render(made(*document, chance)).ok());
  }
}

TEST(Catalogues, OtherCharsetsAreRefusedByName) {
  const std::string header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-15\\n\"\n";
  for (const std::string& bytes : {header, header + "\nmsgid \"caf\xe9\"\nmsgstr \"\"\n"}) {
    const auto document = Document::parse(Kind::po, bytes);
    ASSERT_FALSE(document.ok());
    EXPECT_NE(document.error().message.find("ISO-8859-15"), std::string::npos) << document.error().message;
    EXPECT_NE(document.error().message.find("msgconv -t UTF-8"), std::string::npos);
  }
}

TEST(Catalogues, MsgfmtAcceptsThem) {
  if (std::system("msgfmt --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no msgfmt";
  const auto folder = std::filesystem::temp_directory_path() / ("lapilli_po_" + std::to_string(std::random_device()()));
  std::filesystem::create_directories(folder);
  const std::array<const char*, 6> languages = {"fr", "ru", "ar", "ja", "sl", "de"};
  for (unsigned seed = 0; seed < 36; ++seed) {
    Chance chance(seed);
    const auto document = Document::parse(Kind::po, random_document(Kind::po, chance), into(languages[seed % 6]));
    ASSERT_TRUE(document.ok());
    const std::string name = (folder / (std::to_string(seed) + ".po")).string();
    std::ofstream(name, std::ios::binary) << *document->render(made(*document, chance));
    EXPECT_EQ(std::system(("msgfmt --use-fuzzy -c -o /dev/null " + name).c_str()), 0) << name;
  }
  if (!HasFailure()) std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lapilli::documents
