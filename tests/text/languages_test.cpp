// Codes of languages in the forms that people write.
#include "text/kinds/languages.hpp"

#include <gtest/gtest.h>

namespace lapilli {
namespace {

LanguageTable table(std::span<const std::string_view> codes) {
  LanguageTable t;
  int32_t id = 100;
  for (const std::string_view code : codes) t.add(code, id++);
  return t;
}

std::string found(const LanguageTable& t, std::string_view code) {
  const LanguageTable::Entry* e = t.find(code);
  return e == nullptr ? "" : e->code;
}

TEST(Languages, ListsHaveThePublishedSizes) {
  EXPECT_EQ(mbart_languages().size(), 25u);
  EXPECT_EQ(mbart_languages().back(), "zh_CN");
  EXPECT_EQ(mbart50_languages().size(), 52u);
  EXPECT_EQ(m2m100_languages().size(), 100u);
  EXPECT_EQ(nllb_languages().size(), 202u);
  EXPECT_EQ(table(m2m100_languages()).find("zu")->id, 199);
}

TEST(Languages, AcceptsUsualForms) {
  const LanguageTable mbart = table(mbart50_languages());
  EXPECT_EQ(found(mbart, "fr_XX"), "fr_XX");
  EXPECT_EQ(found(mbart, "fr"), "fr_XX");
  EXPECT_EQ(found(mbart, "FR"), "fr_XX");
  EXPECT_EQ(found(mbart, "fra_Latn"), "fr_XX");
  EXPECT_EQ(found(mbart, "fr-FR"), "fr_XX");
  EXPECT_EQ(found(mbart, "French"), "fr_XX");
  EXPECT_EQ(found(mbart, "germanic"), "");
  EXPECT_EQ(found(mbart, "pt-BR"), "pt_XX");
  EXPECT_EQ(found(mbart, "zh"), "zh_CN");
  EXPECT_EQ(found(mbart, "zh_TW"), "");
  EXPECT_EQ(found(mbart, "eo"), "");
  EXPECT_EQ(found(mbart, ""), "");

  const LanguageTable nllb = table(nllb_languages());
  for (const char* own : {"zt", "ZT", "zh-Hant"}) EXPECT_EQ(found(nllb, own), "zho_Hant") << own;
  EXPECT_EQ(found(nllb, "pb"), "por_Latn");
  EXPECT_TRUE(is_known_language("zt") && is_known_language("pb"));
  EXPECT_EQ(found(nllb, "fr"), "fra_Latn");
  EXPECT_EQ(found(nllb, "fra"), "fra_Latn");
  EXPECT_EQ(found(nllb, "en_XX"), "eng_Latn");
  EXPECT_EQ(found(nllb, "de_DE"), "deu_Latn");
  EXPECT_EQ(found(nllb, "ar"), "arb_Arab");
  EXPECT_EQ(found(nllb, "zh"), "");  // Hans or Hant
  EXPECT_EQ(found(nllb, "zh-Hant"), "zho_Hant");
  EXPECT_EQ(found(nllb, "kas"), "");

  const LanguageTable m2m = table(m2m100_languages());
  EXPECT_EQ(found(m2m, "fra_Latn"), "fr");
  EXPECT_EQ(found(m2m, "zho_Hans"), "zh");
  EXPECT_EQ(found(m2m, "x"), "");
}

// Each code of one family finds its own, and at most one of another.
TEST(Languages, EveryListedCodeFindsItself) {
  for (const auto codes : {mbart50_languages(), m2m100_languages(), nllb_languages(), mustc_languages()}) {
    const LanguageTable t = table(codes);
    for (const std::string_view code : codes) EXPECT_EQ(found(t, code), code);
  }
}

TEST(Languages, ErrorsNameWhatThereIs) {
  const LanguageTable nllb = table(nllb_languages());
  const auto unclear = nllb.require("zh");
  ASSERT_FALSE(unclear.ok());
  EXPECT_NE(unclear.error().message.find("zho_Hans, zho_Hant"), std::string::npos) << unclear.error().message;
  const auto unknown = nllb.require("tlh");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("ace_Arab"), std::string::npos) << unknown.error().message;
  EXPECT_NE(unknown.error().message.find("190 more"), std::string::npos) << unknown.error().message;
}

}  // namespace
}  // namespace lapilli
