// Words that stay in lines: placeholders, addresses, names of the user.
#include <gtest/gtest.h>

#include "documents/document.hpp"
#include "documents/kept/kept_text.hpp"

namespace lapilli::documents {
namespace {

using Links = KeptText::Links;

std::string restored(const std::string& source, const std::string& target, const Links& links = {},
                     const std::vector<std::string>& names = {}) {
  return KeptText(names).restored(source, target, [&] { return links; });
}

TEST(KeptWords, WhatIsThereStays) {
  bool asked = false;
  const auto links = [&] { return asked = true, Links(); };
  const KeptText kept;
  EXPECT_EQ(kept.restored("Hello {name}!", "Bonjour  {name} !", links), "Bonjour  {name} !");
  EXPECT_EQ(kept.restored("Hello there, 50 % off", "Salut", links), "Salut");
  EXPECT_FALSE(asked) << "links cost a run of the model";
  EXPECT_TRUE(kept.is_whole("Hello {name}!", "{name}"));
  EXPECT_FALSE(kept.is_whole("Hello {name}!", "name"));
  EXPECT_FALSE(kept.is_whole("Hello {name}!", "{name} {name}"));
}

TEST(KeptWords, LostOnesComeBack) {
  EXPECT_EQ(restored("Hello {name}!", "Bonjour !"), "Bonjour {name} !");
  EXPECT_EQ(restored("Hello {name}!", "Bonjour {nom} !"), "Bonjour {name} !");
  EXPECT_EQ(restored("Hello {name}!", "Bonjour {name} {name} !"), "Bonjour {name} !");
  EXPECT_EQ(restored("%1$s has %2$d files", "%2$d fichiers"), "%1$s %2$d fichiers");
  EXPECT_EQ(restored("  See https://a.example/b now.", "Voir maintenant."), "Voir https://a.example/b maintenant.");
  EXPECT_EQ(restored("Hello {name}", "Bonjour monsieur", {{6, 12, 8, 16, 1}}), "Bonjour {name}");
  EXPECT_EQ(restored("{a}", "x"), "x") << "a text of placeholders alone is not translated";
}

TEST(KeptWords, MailAddressesComeBack) {
  EXPECT_EQ(restored("Write to a.b+c@mail.example.org.", "Écrivez."), "Écrivez a.b+c@mail.example.org.");
  EXPECT_EQ(restored("Write to me@a.example now", "Écrivez à moi@un.exemple maintenant", {{9, 21, 12, 26, 1}}),
            "Écrivez à me@a.example maintenant");
  EXPECT_TRUE(KeptText().is_whole("Write to @me or a@b.", "Écrivez"));
  const auto document = Document::parse(Kind::html, "<p>Write to me@a.example, see www.a.example/@b or @c.</p>");
  ASSERT_TRUE(document.ok());
  ASSERT_EQ(document->segments()[0].marks.size(), 2u);
}

TEST(KeptWords, NamesStayAsWholeWords) {
  EXPECT_EQ(restored("Open Acme Word", "Ouvrez le mot parfait", {{5, 14, 10, 21, 1}}, {"Acme Word"}),
            "Ouvrez le Acme Word");
  EXPECT_EQ(restored("Acmes are here", "Les voici", {}, {"Acme"}), "Les voici");
  EXPECT_EQ(restored("acme is here", "Le voici", {}, {"Acme"}), "Le voici");
  EXPECT_EQ(restored("C++ is here", "Le voici", {}, {"C++"}), "C++ Le voici");
}

TEST(KeptWords, InvalidTextsStay) {
  EXPECT_EQ(restored("\xff {name}", "x"), "x");
  EXPECT_EQ(restored("a {name}", "\xff"), "\xff");
}

TEST(KeptWords, DocumentsHeedNamesAndMarks) {
  Options options;
  options.keep = {"Apfel Gala", "Gala"};
  const auto document = Document::parse(
      Kind::html, "<p>Eat <b>Apfel Gala</b> or Gala</p><!-- l10n:off --><p>One</p><!-- l10n:on --><p>Two</p>", options);
  ASSERT_TRUE(document.ok());
  ASSERT_EQ(document->segments().size(), 2u);
  EXPECT_EQ(document->segments()[1].text, "Two");
  const auto out = document->render(std::vector<Translation>{{"Mangez Apfel Gala ou Gala", {}}, {"Deux", {}}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, "<p>Mangez <b>Apfel Gala</b> ou Gala</p><!-- l10n:off --><p>One</p><!-- l10n:on --><p>Deux</p>");
}

TEST(KeptWords, MarkdownHeedsMarks) {
  if (!kind_available(Kind::markdown)) GTEST_SKIP();
  const auto document =
      Document::parse(Kind::markdown, "One\n\n<!-- l10n:off -->\n\nTwo\n\nThree\n\n<!-- l10n:on -->\n\nFour\n");
  ASSERT_TRUE(document.ok());
  ASSERT_EQ(document->segments().size(), 2u);
  const auto out = document->render(std::vector<Translation>{{"Un", {}}, {"Quatre", {}}});
  EXPECT_EQ(*out, "Un\n\n<!-- l10n:off -->\n\nTwo\n\nThree\n\n<!-- l10n:on -->\n\nQuatre\n");
}

}  // namespace
}  // namespace lapilli::documents
