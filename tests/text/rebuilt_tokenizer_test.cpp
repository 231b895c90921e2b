// Families whose pipeline is built in code: languages, directories without tokenizer.json, damaged files.
#include "text/kinds/rebuilt_tokenizer.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "support/temp_directory.hpp"
#include "text/loaded_tokenizer.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

const std::string kSaved = LAPILLI_TEST_DATA "/tokenizers/";

class Rebuilt : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without Unicode or regular expressions";
  }
};

// Old uploads have the model file alone: the same ids come of it.
TEST_P(Rebuilt, TheModelFileIsEnough) {
  const TempDirectory directory;
  directory.copy_from(kSaved + GetParam() + "/files");
  directory.remove("tokenizer.json");
  const auto t = loaded_tokenizer(directory.path());
  ASSERT_NE(t, nullptr);
  const json record = json::parse(std::ifstream(kSaved + GetParam() + "/expected.json"));
  ASSERT_EQ(record["cases"].size(), 93u);
  for (const json& c : record["cases"]) {
    SCOPED_TRACE(c["text"].get<std::string>());
    const auto ids = t->encode(c["text"].get<std::string>());
    ASSERT_TRUE(ids.ok()) << ids.error().message;
    EXPECT_EQ(*ids, c["ids"].get<Ids>());
    EXPECT_EQ(*t->decode(*ids, false), c["decoded"].get<std::string>());
    EXPECT_EQ(*t->decode(*ids, true), c["decoded_skip"].get<std::string>());
  }
  for (const json& c : record["languages"])
    EXPECT_EQ(t->language_id(c["tgt_lang"].get<std::string>()), c["tgt_lang_id"]);
}

TEST_P(Rebuilt, LanguagesComeByAnyUsualCode) {
  const auto t = loaded_tokenizer(kSaved + GetParam() + "/files");
  ASSERT_NE(t, nullptr);
  const int32_t french = t->language_id("fr");
  ASSERT_GE(french, 0);
  EXPECT_EQ(t->language_id("fra_Latn"), french);
  EXPECT_EQ(t->language_id("fr_XX"), french);
  EXPECT_EQ(t->language_id("tlh"), -1);
  EncodeOptions options;
  options.source_language = "fr";
  EXPECT_EQ((*t->encode("a", options))[0], french);
  // Without a language of its own the target side takes the one of the files; with one, that.
  options.side = TextSide::target;
  options.target_language = "de";
  EXPECT_EQ((*t->encode("a", options))[0], t->language_id("de"));
  options.target_language = "nowhere";
  const auto wrong = t->encode("a", options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(t->languages().size(), std::string(GetParam()) == "nllb" ? 5u : 52u);
}

TEST_P(Rebuilt, DamagedFilesAreNoCrash) {
  std::mt19937 random(3);
  for (const bool model_only : {false, true}) {
    const TempDirectory directory;
    directory.copy_from(kSaved + GetParam() + "/files");
    if (model_only) directory.remove("tokenizer.json");
    const std::string damaged = model_only ? "sentencepiece.bpe.model" : "tokenizer.json";
    const std::string content = read_file(directory.path() + "/" + damaged);
    constexpr int kRounds = 250;
    int loaded = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::string copy = content;
      // Half of the time where the settings are, the rest anywhere (mostly the character map).
      const size_t range = round % 2 == 0 ? std::min<size_t>(copy.size(), 3000) : copy.size();
      for (uint32_t k = 1 + random() % 3; k > 0; --k) copy[random() % range] = static_cast<char>(random());
      directory.write(damaged, copy);
      const auto t = load_tokenizer(directory.path(), "");
      if (!t) continue;
      ++loaded;
      const auto ids = (*t)->encode("Hello w\xC3\xB6rld </s> \xF0\x9F\x98\x80 \xE2\x91\xA0");
      if (ids) (void)(*t)->decode(*ids);
    }
    EXPECT_GT(loaded, 0) << damaged;
    EXPECT_LT(loaded, kRounds) << damaged;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Rebuilt, testing::Values("mbart50", "nllb"));

// Files of version 4 name no further tokens: all 202 languages follow the pieces, and the mask follows them.
TEST(Nllb, PublishedOrderWithoutTokenizerJson) {
  if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without Unicode or regular expressions";
  const TempDirectory directory;
  directory.write("sentencepiece.bpe.model", read_file(kSaved + "nllb/files/sentencepiece.bpe.model"));
  const auto t = loaded_tokenizer(directory.path(), "m2m_100");  // the models' type, which is M2M100's as well
  ASSERT_NE(t, nullptr);
  const auto saved = loaded_tokenizer(kSaved + "nllb/files");
  ASSERT_NE(saved, nullptr);
  const int32_t first = saved->special().mask;  // there it stands right behind the pieces
  EXPECT_EQ(t->languages().size(), 202u);
  EXPECT_EQ(t->language_id("ace_Arab"), first);
  EXPECT_EQ(t->language_id("zul_Latn"), first + 201);
  EXPECT_EQ(t->special().mask, first + 202);
  EXPECT_EQ(t->vocabulary_size(), static_cast<uint64_t>(first) + 203);
}

// Blenderbot-small's algorithm, with merges made for it.
class BlenderbotSmall : public testing::Test {
 protected:
  void SetUp() override {
    if (!unicode_available()) GTEST_SKIP() << "built without Unicode";
    directory_.write("vocab.json",
                     R"({"__null__":0,"__start__":1,"__end__":2,"__unk__":3,"a@@":4,"a":5,"aa@@":6,"aa":7,"b":8,"'":9,)"
                     R"("i@@":10,"\u0307":11,"\u03c3@@":12,"\u03c2":13,".":14,"_@@":15,"aab":16})");
    directory_.write("merges.txt", "#version: 0.2\na a\naa b</w>\na a</w>\nnot read");
  }
  TempDirectory directory_;
};

TEST_F(BlenderbotSmall, MergesFromLeftToRight) {
  const auto t = loaded_tokenizer(directory_.path(), "BlenderbotSmallTokenizer");
  ASSERT_NE(t, nullptr);
  const auto ids = [&](const char* text) { return *t->encode(text); };
  EXPECT_EQ(ids("aaab"), (Ids{6, 4, 8}));  // aa a b: the first two, then nothing fits
  EXPECT_EQ(ids("AAB"), (Ids{16}));
  EXPECT_EQ(ids("aaaa"), (Ids{6, 7}));  // aa, then a with the word's end
  EXPECT_EQ(ids("a'a."), (Ids{5, 9, 5, 14}));
  EXPECT_EQ(ids("\xC4\xB0"), (Ids{10, 11}));          // one capital letter, two small ones
  EXPECT_EQ(ids("\xCE\xA3\xCE\xA3"), (Ids{12, 13}));  // the final sigma
  EXPECT_EQ(ids("__end__ a"), (Ids{2, 5}));
  EXPECT_EQ(*t->decode(Ids{6, 4, 8, 2, 14}), "aaab .");
  EXPECT_EQ(*t->decode(Ids{6, 4, 8, 2, 14}, false), "aaab __end__ .");
  const auto encoding = t->encode_with_offsets(" AAB. a");
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encoding->offsets, (std::vector<ByteRange>{{1, 4}, {4, 5}, {6, 7}}));
}

TEST_F(BlenderbotSmall, LongWordsTakeNoLonger) {
  const auto t = loaded_tokenizer(directory_.path(), "BlenderbotSmallTokenizer");
  ASSERT_NE(t, nullptr);
  const auto ids = t->encode(std::string(500000, 'a'));
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->size(), 250000u);
}

}  // namespace
}  // namespace lapilli
