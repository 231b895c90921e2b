// Whole pipeline tokenizers: byte ranges, pairs, any input, damaged files.
#include "text/pipeline/pipeline_tokenizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/temp_directory.hpp"
#include "text/loaded_tokenizer.hpp"
#include "text/pipeline/tokenizer_json.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using Ids = std::vector<int32_t>;

std::string files_of(const std::string& name) { return LAPILLI_TEST_DATA "/tokenizers/" + name + "/files"; }

class PipelineTokenizers : public testing::Test {
 protected:
  void SetUp() override {
    if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without utf8proc or PCRE2";
  }
};

// The text that each id stands for.
std::vector<std::string> covered(const Tokenizer& t, const std::string& text) {
  const auto e = t.encode_with_offsets(text);
  std::vector<std::string> out;
  if (!e) return ADD_FAILURE() << e.error().message, out;
  for (size_t i = 0; i < e->ids.size(); ++i) {
    EXPECT_EQ(e->offsets[i] == ByteRange{}, e->texts[i] < 0);
    if (e->texts[i] >= 0) out.push_back(text.substr(e->offsets[i].begin, e->offsets[i].end - e->offsets[i].begin));
  }
  return out;
}
std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += p;
  return out;
}

TEST_F(PipelineTokenizers, ByteRangesPointIntoTheInput) {
  const auto bert = loaded_tokenizer(files_of("bert-uncased"));
  ASSERT_NE(bert, nullptr);
  // Accents and case are gone in the tokens, not in the ranges; white space belongs to none.
  EXPECT_EQ(joined(covered(*bert, "  The H\xC3\xA9llo,\tWORLD ")), "TheH\xC3\xA9llo,WORLD");
  const auto bart = loaded_tokenizer(files_of("bart"));
  ASSERT_NE(bart, nullptr);
  EXPECT_EQ(joined(covered(*bart, "The model works")), "Themodelworks");  // trim_offsets
  const auto unigram = loaded_tokenizer(files_of("unigram-byte-fallback"));
  ASSERT_NE(unigram, nullptr);
  EXPECT_EQ(joined(covered(*unigram, "The model")), "The model");
  for (const std::string& part : covered(*unigram, "\xF0\x9F\x98\x80")) {
    EXPECT_TRUE(part.empty() || part == "\xF0\x9F\x98\x80") << part;  // each byte stands for the whole character
  }
}

TEST_F(PipelineTokenizers, PairsAndLimits) {
  const auto t = loaded_tokenizer(files_of("bert-uncased"));
  ASSERT_NE(t, nullptr);
  EncodeOptions options;
  options.pair = "one two three four five six";
  options.max_ids = 9;
  const auto e = t->encode_with_offsets("the quick brown fox", options);
  ASSERT_TRUE(e.ok()) << e.error().message;
  EXPECT_EQ(e->ids.size(), 9U);
  EXPECT_EQ(std::count(e->texts.begin(), e->texts.end(), 0), 3);
  EXPECT_EQ(std::count(e->texts.begin(), e->texts.end(), 1), 3);
  EXPECT_EQ(std::count(e->texts.begin(), e->texts.end(), -1), 3);
  options.max_ids = 2;
  EXPECT_FALSE(t->encode("a", options).ok());
}

TEST_F(PipelineTokenizers, AnyBytesAreEncodedOrRefused) {
  std::mt19937 random(11);
  for (const char* name : {"bart", "bert-uncased", "unigram-byte-fallback", "whisper", "prophetnet"}) {
    const auto t = loaded_tokenizer(files_of(name));
    ASSERT_NE(t, nullptr);
    const bool byte_level = std::string(name) == "bart";
    for (int round = 0; round < 1500; ++round) {
      std::string text;
      for (size_t n = random() % 24; n > 0; --n) {
        switch (random() % 6) {
          case 0: text += static_cast<char>(random()); break;
          case 1: append_utf8(text, random() % 0xD800); break;
          case 2: append_utf8(text, 0xE000 + random() % 0x10200); break;
          case 3: text += "<mask> "; break;
          default: text += static_cast<char>(' ' + random() % 95);
        }
      }
      const bool valid = find_invalid_utf8(text) == std::string::npos;
      EncodeOptions plain;
      plain.add_special = false;
      const auto e = t->encode_with_offsets(text, plain);
      ASSERT_EQ(e.ok(), valid) << quote_text(text, 200);
      if (!valid) continue;
      for (const ByteRange& r : e->offsets) ASSERT_TRUE(r.begin <= r.end && r.end <= text.size());
      const auto back = t->decode(e->ids, false);
      ASSERT_TRUE(back.ok());
      // An added token may swallow the space beside it.
      if (byte_level && text.find("<mask>") == std::string::npos) {
        ASSERT_EQ(*back, text);
      }
    }
    const std::vector<int32_t> unknown{0, 1, 1'000'000, 2'147'483'647};
    EXPECT_TRUE(t->decode(unknown, false).ok());
  }
}

// A quadratic step would take hours here.
TEST_F(PipelineTokenizers, LongTextsTakeNoQuadraticTime) {
  constexpr size_t kBytes = size_t{1} << 20;
  for (const char* name : {"bart", "bert-uncased", "unigram-byte-fallback"}) {
    const auto t = loaded_tokenizer(files_of(name));
    ASSERT_NE(t, nullptr);
    for (const std::string& part :
         {std::string("a"), std::string(" "), std::string("e\xCC\x81"), std::string("\xF0\x9F\x98\x80")}) {
      std::string text;
      while (text.size() + part.size() <= kBytes) text += part;
      EXPECT_TRUE(t->encode(text).ok()) << name;
    }
    EXPECT_FALSE(t->encode(std::string(kBytes + 1, 'a')).ok());
  }
}

void damage(std::string& text, std::mt19937& random) {
  const auto place = [&] { return text.empty() ? size_t{0} : random() % text.size(); };
  for (size_t n = 1 + random() % 4; n > 0 && !text.empty(); --n) {
    const size_t at = place();
    const size_t length = random() % 40;
    switch (random() % 7) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(place(), length)); break;
      case 3: text.insert(at, std::to_string(static_cast<int64_t>(random()) * (random() % 2 ? 1 : -4096))); break;
      case 4: text.insert(at, std::string(1 + length, random() % 2 ? '[' : '{')); break;
      case 5: {
        constexpr const char* kWords[] = {"null", "true",      "1e999",      "\"\"",      "[]",
                                          "{}",   "\"Regex\"", "\"(a*)*b\"", "4294967296"};
        text.replace(at, std::min(length, text.size() - at), kWords[random() % 9]);
        break;
      }
      default: text.resize(at);
    }
  }
}

// Most of the damage is to meet the structure, not the long vocabulary: that is cut out of the middle and comes back.
void damage_file(std::string& text, std::mt19937& random) {
  constexpr size_t kEnds = 3000;
  if (text.size() <= 2 * kEnds || random() % 4 == 0) return damage(text, random);
  if (random() % 2 == 0) {
    std::string head = text.substr(0, kEnds);
    damage(head, random);
    text.replace(0, kEnds, head);
  } else {
    std::string tail = text.substr(text.size() - kEnds);
    damage(tail, random);
    text.replace(text.size() - kEnds, kEnds, tail);
  }
}

void try_damaged(const std::string& name, const std::string& file, const std::string& family, int rounds) {
  TempDirectory directory;
  directory.copy_from(files_of(name));
  if (file != "tokenizer.json") directory.remove("tokenizer.json");
  const std::string original = read_file(directory.path() + "/" + file);
  std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>{}(name + file)));
  int loaded = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string text = original;
    damage_file(text, random);
    directory.write(file, text);
    const auto t = load_tokenizer(directory.path(), family);
    if (!t) {
      EXPECT_FALSE(t.error().message.empty());
      EXPECT_NE(t.error().code, ErrorCode::internal) << t.error().message;
      continue;
    }
    ++loaded;
    const auto e = (*t)->encode_with_offsets("The caf\xC3\xA9 <mask> 12's \xF0\x9F\x98\x80 [SEP]");
    if (e) {
      EXPECT_TRUE((*t)->decode(e->ids, round % 2 == 0).ok());
    }
  }
  EXPECT_GT(loaded, 0) << name;
  EXPECT_LT(loaded, rounds) << name;
}

TEST_F(PipelineTokenizers, DamagedTokenizerJson) {
  try_damaged("bart", "tokenizer.json", "tokenizers.Tokenizer", 2500);
  try_damaged("bert-uncased", "tokenizer.json", "tokenizers.Tokenizer", 2500);
  try_damaged("unigram-byte-fallback", "tokenizer.json", "tokenizers.Tokenizer", 2500);
}

TEST_F(PipelineTokenizers, DamagedVocabularies) {
  try_damaged("bart", "vocab.json", "BartTokenizer", 1000);
  try_damaged("bart", "merges.txt", "BartTokenizer", 1000);
  try_damaged("bert-uncased", "vocab.txt", "BertTokenizer", 500);
}

TEST_F(PipelineTokenizers, DamagedConfigurations) {
  try_damaged("bart", "tokenizer_config.json", "BartTokenizer", 500);
  try_damaged("whisper", "added_tokens.json", "WhisperTokenizer", 500);
}

TEST_F(PipelineTokenizers, WhatIsRefusedByName) {
  const auto expect = [](const char* json, ErrorCode code, const char* part) {
    TempDirectory directory;
    directory.write("tokenizer.json", json);
    const auto t = load_tokenizer(directory.path(), "");
    ASSERT_FALSE(t.ok()) << json;
    EXPECT_EQ(t.error().code, code) << t.error().message;
    EXPECT_NE(t.error().message.find(part), std::string::npos) << t.error().message;
  };
  expect("{}", ErrorCode::invalid_data, "model");
  expect("[]", ErrorCode::invalid_data, "expected an object");
  expect("{", ErrorCode::invalid_data, "not valid JSON");
  expect(R"({"model":{"type":"Oracle","vocab":{}}})", ErrorCode::unsupported, "Oracle");
  expect(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}})", ErrorCode::unsupported, "dropout");
  expect(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})", ErrorCode::invalid_data, "\"b\"");
  expect(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":{"type":"Wash"}})", ErrorCode::unsupported,
         "Wash");
  expect(R"({"model":{"type":"BPE","vocab":{"a":3000000000},"merges":[]}})", ErrorCode::invalid_data, "\"a\"");
  const std::string deep = R"({"model":)" + std::string(100, '[') + std::string(100, ']') + "}";
  expect(deep.c_str(), ErrorCode::invalid_data, "64 levels");
}

// A file may not turn a short text into gigabytes.
TEST_F(PipelineTokenizers, GrowthIsLimited) {
  TempDirectory directory;
  const std::string parts = [] {
    std::string s = R"({"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})";
    std::string all = s;
    for (int i = 0; i < 20; ++i) all += "," + s;
    return all;
  }();
  directory.write("tokenizer.json",
                  R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":{"type":"Sequence",)"
                  R"("normalizers":[)" +
                      parts + "]}}");
  const auto t = loaded_tokenizer(directory.path());
  ASSERT_NE(t, nullptr);
  const auto e = t->encode("aa");
  ASSERT_FALSE(e.ok());
  EXPECT_EQ(e.error().code, ErrorCode::invalid_data) << e.error().message;
}

}  // namespace
}  // namespace lapilli
