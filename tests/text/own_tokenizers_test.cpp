// Tokenizers that stand on a SentencePiece model file or on an algorithm of their own: what records do not show.
#include "text/kinds/own_tokenizers.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "support/temp_directory.hpp"
#include "text/loaded_tokenizer.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

const std::string kData = LAPILLI_TEST_DATA "/tokenizers/";

std::string random_text(std::mt19937& random) {
  std::string text;
  for (uint32_t n = random() % 60; n > 0; --n) {
    switch (random() % 6) {
      case 0: text += "\xE4\xBA\xBA"; break;
      case 1: text += "e\xCC\x81 \xE2\x80\xA8"; break;
      case 2: text += "\xF0\x9F\x98\x80"; break;
      case 3: text += random() % 2 == 0 ? "</s>" : "__fr__ <pad> "; break;
      case 4: text += "  "; break;
      default: text += static_cast<char>(random() % 128);
    }
  }
  return text;
}

void expect_ranges(const Tokenizer& t, const std::string& text) {
  const auto encoding = t.encode_with_offsets(text);
  ASSERT_TRUE(encoding.ok()) << encoding.error().message;
  uint64_t begin = 0, end = 0;
  for (size_t i = 0; i < encoding->ids.size(); ++i) {
    const ByteRange r = encoding->offsets[i];
    if (encoding->texts[i] < 0) continue;
    EXPECT_LE(begin, r.begin) << quote_text(text);
    EXPECT_LE(end, r.end);
    EXPECT_LE(r.begin, r.end);
    EXPECT_LE(r.end, text.size());
    begin = r.begin, end = r.end;
  }
}

TEST(ByT5, AnyTextRoundTrips) {
  const auto t = loaded_tokenizer(kData + "byt5/files", "");
  ASSERT_NE(t, nullptr);
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string text = random_text(random);
    expect_ranges(*t, text);
    // Padding and end swallow white space around them, as their entries say.
    for (size_t at; (at = text.find_first_of("<")) != std::string::npos;) text[at] = '_';
    const auto ids = t->encode(text);
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(ids->size(), text.size() + 1);
    EXPECT_EQ(*t->decode(*ids), text);
  }
}

TEST(ByT5, EndsOnceAndDropsBrokenCharacters) {
  const auto t = loaded_tokenizer(kData + "byt5/files", "");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(*t->encode("a</s>"), (Ids{100, 1}));
  EXPECT_EQ(*t->encode("a"), (Ids{100, 1}));
  EncodeOptions pair;
  pair.pair = "b";
  EXPECT_EQ(*t->encode("a", pair), (Ids{100, 1, 101, 1}));
  EXPECT_EQ(*t->decode(Ids{100, 3 + 0xC3, 101}), "ab");
  EXPECT_EQ(*t->decode(Ids{3 + 0xC3, 3 + 0xA9}), "\xC3\xA9");
  EXPECT_EQ(*t->decode(Ids{100, 100000}, false), "a<unk>");
  EXPECT_EQ(*t->decode(Ids{100, 100000}, true), "a");
  const auto encoding = t->encode_with_offsets("\xC3\xA9!");
  ASSERT_TRUE(encoding.ok());
  EXPECT_EQ(encoding->offsets, (std::vector<ByteRange>{{0, 1}, {1, 2}, {2, 3}, {0, 0}}));
}

// Published directories have a tokenizer_config.json without ids, or nothing at all.
TEST(ByT5, NeedsNoFiles) {
  const TempDirectory directory;
  const auto t = loaded_tokenizer(directory.path(), "ByT5Tokenizer");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->vocabulary_size(), 384u);
  EXPECT_EQ(t->token(259), "<extra_id_0>");
  EXPECT_EQ(t->token(383), "<extra_id_124>");
  EXPECT_EQ(*t->encode("<extra_id_1>x"), (Ids{260, 123, 1}));
}

TEST(ModelFiles, BytesOfOneCharacterShareItsRange) {
  const auto t = loaded_tokenizer(kData + "sp-bpe-bytes/files", "");
  ASSERT_NE(t, nullptr);
  const auto encoding = t->encode_with_offsets("\xF0\x9F\x98\x80");
  ASSERT_TRUE(encoding.ok());
  ASSERT_GE(encoding->ids.size(), 4u);
  size_t whole = 0;
  for (const ByteRange& r : encoding->offsets) whole += r == ByteRange{0, 4} ? 1 : 0;
  EXPECT_EQ(whole, 4u);
  EXPECT_EQ(*t->decode(encoding->ids), "\xF0\x9F\x98\x80");
  EXPECT_EQ(t->token(1 << 30), t->token(t->special().unk));
  EXPECT_TRUE(t->decode(Ids{1 << 30, 5}).ok());
}

TEST(ModelFiles, RangesStayWithinTheText) {
  std::mt19937 random(7);
  for (const char* name : {"sp-bpe-bytes", "m2m_100", "marian"}) {
    const auto t = loaded_tokenizer(kData + name + "/files", name == std::string("marian") ? "marian" : "");
    ASSERT_NE(t, nullptr);
    for (int round = 0; round < 300; ++round) expect_ranges(*t, random_text(random));
  }
  // A token's range holds the word that it stands for.
  const auto t = loaded_tokenizer(kData + "m2m_100/files", "");
  const std::string text = "  Hello world";
  const auto encoding = t->encode_with_offsets(text);
  ASSERT_TRUE(encoding.ok());
  const ByteRange last = encoding->offsets[encoding->ids.size() - 2];
  EXPECT_EQ(text.substr(last.begin, last.end - last.begin), " world");
}

TEST(ModelFiles, M2M100KnowsItsLanguages) {
  const auto t = loaded_tokenizer(kData + "m2m_100/files", "");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->languages().size(), 100u);
  EXPECT_EQ(t->language_id("fr"), t->language_id("fra_Latn"));
  EXPECT_EQ(t->language_id("tlh"), -1);
  EncodeOptions options;
  options.source_language = "de_DE";
  EXPECT_EQ((*t->encode("", options))[0], t->language_id("de"));
  options.source_language = "tlh";
  const auto wrong = t->encode("", options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
  options.add_special = false;  // nobody asks for a language then
  EXPECT_TRUE(t->encode("", options).ok());
}

// Damaged copies of every file of a directory: an error or a tokenizer that still answers.
void mutate(const std::string& name, const std::vector<std::string>& files, int rounds) {
  const std::string original = kData + name + "/files/";
  std::mt19937 random(11);
  for (const std::string& damaged : files) {
    const TempDirectory directory;
    std::string content;
    for (const std::string& file : files) {
      std::ifstream in(original + file, std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(in)), {});
      directory.write(file, bytes);
      if (file == damaged) content = bytes;
    }
    ASSERT_FALSE(content.empty()) << damaged;
    int loaded = 0;
    for (int round = 0; round < rounds; ++round) {
      std::string copy = content;
      for (uint32_t k = 1 + random() % 4; k > 0; --k) copy[random() % copy.size()] = static_cast<char>(random());
      if (random() % 8 == 0) copy.resize(random() % copy.size());
      directory.write(damaged, copy);
      const auto t = load_tokenizer(directory.path(), "");
      if (!t) continue;
      ++loaded;
      for (const char* text : {"Hello w\xC3\xB6rld </s> \xF0\x9F\x98\x80", "__fr__ a"}) {
        const auto ids = (*t)->encode(text);
        if (ids) (void)(*t)->decode(*ids, random() % 2 == 0);
      }
    }
    // Some of the damage is seen, and what is not seen reached the code behind the check.
    EXPECT_GT(loaded, 0) << damaged;
    EXPECT_LT(loaded, rounds) << damaged;
  }
}

TEST(ByT5, DamagedFilesAreNoCrash) {
  mutate("byt5", {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"}, 1000);
}
TEST(ModelFiles, DamagedFilesAreNoCrash) {
  mutate("m2m_100", {"tokenizer_config.json", "special_tokens_map.json", "vocab.json", "sentencepiece.bpe.model"}, 700);
  mutate("sp-bpe-bytes", {"spiece.model"}, 3000);
}

}  // namespace
}  // namespace lapilli
