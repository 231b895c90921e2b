// All but the words comes out as it went in: 1,000 random documents of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "documents/kinds.hpp"
#include "random_documents.hpp"
#include "skeleton.hpp"

namespace lapilli::documents {
namespace {

constexpr unsigned kDocuments = 1000;

class Documents : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (!kind_available(GetParam())) GTEST_SKIP() << "this build has no " << kind_name(GetParam());
  }
};

std::vector<Translation> same_words(const Document& document) {
  std::vector<Translation> same;
  for (const Segment& s : document.segments()) same.push_back({s.text, {}});
  return same;
}

std::vector<Translation> other_words(Kind kind, const Document& document, Chance& chance) {
  std::vector<Translation> other;
  for (const Segment& s : document.segments())
    other.push_back(random_translation(s, kind != Kind::html && !traits_of(kind).read_again, chance));
  return other;
}

// Each word as it was and linked to itself, behind a word that is new.
Translation with_new_word(const Segment& segment) {
  const std::string first = "Zz ";
  Translation t{first + segment.text, {}};
  const auto in_word = [&](size_t i) {
    return i < segment.text.size() &&
           (isalnum(static_cast<unsigned char>(segment.text[i])) || (segment.text[i] & 0x80));
  };
  for (size_t at = 0; at < segment.text.size();) {
    size_t end = at;
    while (in_word(end)) ++end;
    if (end > at) t.links.push_back({at, end, at + first.size(), end + first.size(), 1});
    at = end + 1;
  }
  return t;
}

// Signs of quotes stand at the ends of lines, which may be elsewhere.
std::string without_blanks(std::string text) {
  // Characters that came as references are written as themselves.
  const std::pair<const char*, const char*> references[] = {
      {"&nbsp;", "&#160;"}, {"&eacute;", "\u00e9"}, {"&#8364;", "\u20ac"},        {"&copy;", "\u00a9"},
      {"\\'e", "\u00e9"},   {"\\ss{}", "\u00df"},   {"\\*no\\*", "&#42;no&#42;"}, {"C++", "C&#43;&#43;"}};
  for (const auto& [name, character] : references) {
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, std::string_view(name).size(), character);
  }
  // A reference by its name gets other words; adornments get longer.
  for (size_t at; (at = text.find(" <the place_>")) != std::string::npos;) text.erase(at, 13);
  for (const char* two : {"==", "--"})
    for (size_t at; (at = text.find(two)) != std::string::npos;) text.erase(at, 1);
  for (size_t at; (at = text.find("\\N")) != std::string::npos;) text.erase(at, 2);  // lines of ASS
  for (size_t at; (at = text.find("Zz")) != std::string::npos;) text.erase(at, 2);
  std::erase_if(text, [](unsigned char c) { return isspace(c) || c == '\\' || c == '>'; });
  return text;
}

TEST_P(Documents, TheSameWordsGiveTheSameBytes) {
  for (unsigned seed = 0; seed < kDocuments; ++seed) {
    Chance chance(seed);
    const std::string bytes = random_document(GetParam(), chance);
    const auto document = Document::parse(GetParam(), bytes);
    ASSERT_TRUE(document.ok()) << document.error().message;
    const auto out = document->render(same_words(*document));
    ASSERT_TRUE(out.ok());
    ASSERT_EQ(*out, bytes) << "seed " << seed;
  }
}

TEST_P(Documents, OtherWordsLeaveTheSameStructure) {
  size_t segments = 0, left = 0;
  for (unsigned seed = 0; seed < kDocuments; ++seed) {
    Chance chance(seed);
    const std::string bytes = random_document(GetParam(), chance);
    const auto document = Document::parse(GetParam(), bytes);
    ASSERT_TRUE(document.ok());
    const auto out = document->render(other_words(GetParam(), *document, chance));
    ASSERT_TRUE(out.ok());
    const Skeleton before = skeleton_of(GetParam(), bytes), after = skeleton_of(GetParam(), *out);
    ASSERT_EQ(before.error, "") << "the test's own document\n" << bytes;
    ASSERT_EQ(after.error, "") << "seed " << seed << "\n" << bytes << "\n=====\n" << *out;
    ASSERT_EQ(after.order, before.order) << "seed " << seed << "\n" << bytes << "\n=====\n" << *out;
    ASSERT_EQ(after.inside, before.inside) << "seed " << seed << "\n" << bytes << "\n=====\n" << *out;
    segments += document->segments().size();
    for (const Segment& s : document->segments())
      left += s.text.size() > 8 && out->find(s.text) != std::string::npos ? 1 : 0;
  }
  // Structure is kept with other words in it, not by leaving everything as it was.
  EXPECT_GT(segments, kDocuments);
  EXPECT_LT(left, segments / 50) << left << " of " << segments << " segments are as they were";
}

// Tags stand where they stood when each word does.
TEST_P(Documents, TagsStayAtWordsThatStay) {
  for (unsigned seed = 0; seed < kDocuments; ++seed) {
    Chance chance(seed);
    const std::string bytes = random_document(GetParam(), chance);
    const auto document = Document::parse(GetParam(), bytes);
    ASSERT_TRUE(document.ok());
    std::vector<Translation> translations;
    for (const Segment& s : document->segments()) translations.push_back(with_new_word(s));
    const auto out = document->render(translations);
    ASSERT_TRUE(out.ok());
    ASSERT_EQ(without_blanks(*out), without_blanks(bytes)) << "seed " << seed << "\n" << bytes << "\n=====\n" << *out;
  }
}

TEST_P(Documents, DamagedDocumentsComeOutAsTheyWentIn) {
  for (unsigned seed = 0; seed < kDocuments; ++seed) {
    Chance chance(seed);
    const std::string bytes = damaged(random_document(GetParam(), chance), chance);
    const auto document = Document::parse(GetParam(), bytes);
    if (!document) {
      EXPECT_NE(document.error().message.find("not UTF-8"), std::string::npos) << document.error().message;
      continue;
    }
    const auto same = document->render(same_words(*document)),
               other = document->render(other_words(GetParam(), *document, chance));
    ASSERT_TRUE(same.ok() && other.ok());
    ASSERT_EQ(*same, bytes) << "seed " << seed;
    if (bytes.starts_with("---")) continue;  // front matter may end anywhere, the test's eyes know nothing of it
    if (GetParam() == Kind::html) {
      ASSERT_THAT(tags_of(*other), testing::ContainerEq(tags_of(bytes))) << "seed " << seed << "\n"
                                                                         << bytes << "\n=====\n"
                                                                         << *other;
    } else if (GetParam() == Kind::markdown) {
      const Skeleton before = skeleton_of(GetParam(), bytes), after = skeleton_of(GetParam(), *other);
      ASSERT_EQ(after.order, before.order) << "seed " << seed << "\n" << bytes << "\n=====\n" << *other;
      ASSERT_EQ(after.inside, before.inside) << "seed " << seed << "\n" << bytes << "\n=====\n" << *other;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EachKind, Documents,
                         testing::Values(Kind::text, Kind::markdown, Kind::html, Kind::srt, Kind::vtt, Kind::csv),
                         [](const auto& test) { return std::string(kind_name(test.param)); });
INSTANTIATE_TEST_SUITE_P(Markup, Documents, testing::Values(Kind::tex, Kind::rst, Kind::asciidoc),
                         [](const auto& test) { return std::string(kind_name(test.param)); });
INSTANTIATE_TEST_SUITE_P(Cues, Documents, testing::Values(Kind::ass, Kind::sbv, Kind::lrc),
                         [](const auto& test) { return std::string(kind_name(test.param)); });

}  // namespace
}  // namespace lapilli::documents
