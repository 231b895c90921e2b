// Taggers: labels of tokens to names, over words, prefixes and windows. The model is one whose label depends on the
// word alone.
#include "generate/encoders/tags.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "generate/encoders/text_encoder.hpp"
#include "support/fixtures.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using TagNames = std::vector<std::string>;

class Tags : public testing::Test {
 protected:
  void SetUp() override {
    if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without utf8proc or PCRE2";
  }
  static std::shared_ptr<const Tokenizer> load(const std::string& name) {
    auto loaded = load_tokenizer(std::string(LAPILLI_TEST_DATA "/tokenizers/") + name + "/files", "");
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded ? std::shared_ptr<const Tokenizer>(std::move(*loaded)) : nullptr;
  }
};

// Tokens that touch one of the given stretches of the text get their labels, all others label 0; so do marks of words
// that are pieces of their own, which the reference takes for words.
struct TaggedStretch {
  ByteRange bytes;
  size_t label;
};

std::vector<float> logits_by_place(const Tokenizer& tokenizer, const Encoding& e, size_t labels,
                                   const std::vector<TaggedStretch>& stretches) {
  std::vector<float> logits;
  for (size_t i = 0; i < e.ids.size(); ++i) {
    size_t label = e.texts[i] < 0 ? 1 : 0;  // special ids are no part of a name, whatever they say
    for (const auto& s : stretches)
      if (e.texts[i] == 0 && tokenizer.token(e.ids[i]) != kWordMark && e.offsets[i].begin < s.bytes.end &&
          s.bytes.begin < e.offsets[i].end)
        label = s.label;
    for (size_t k = 0; k < labels; ++k) logits.push_back(k == label ? 4.0F : 0.0F);
  }
  return logits;
}

std::vector<Entity> tagged(const std::shared_ptr<const Tokenizer>& tokenizer, const std::string& text,
                           const WindowOptions& options, const TagNames& labels,
                           const std::vector<TaggedStretch>& stretches, TagAggregation joining,
                           const TagNames& ignored = {"O"}) {
  const auto windows = TextEncoder::plain(tokenizer, 0).windows(text, {}, options);
  if (!windows) return ADD_FAILURE() << windows.error().message, std::vector<Entity>();
  std::vector<std::vector<float>> logits;
  std::vector<TagWindow> views;
  for (const Encoding& w : *windows) logits.push_back(logits_by_place(*tokenizer, w, labels.size(), stretches));
  for (size_t i = 0; i < windows->size(); ++i) views.push_back({&(*windows)[i], logits[i]});
  auto found = find_entities(text, views, options.stride, labels, *tokenizer, {joining, ignored});
  if (!found) return ADD_FAILURE() << found.error().message, std::vector<Entity>();
  return std::move(*found);
}

std::string slice(const std::string& text, ByteRange bytes) {
  return text.substr(bytes.begin, bytes.end - bytes.begin);
}

std::string described(const std::string& text, const std::vector<Entity>& entities) {
  std::string all;
  for (const Entity& e : entities) all += (all.empty() ? "" : ", ") + e.label + ":" + slice(text, e.bytes);
  return all;
}

ByteRange place_of(const std::string& text, const std::string& word, size_t from = 0) {
  const size_t begin = text.find(word, from);
  return {begin, begin + word.size()};
}

// As transformers' ignore_labels: names by theirs alone, tokens by their whole labels.
TEST_F(Tags, IgnoredLabelsReplaceTheUsualOne) {
  const auto tokenizer = load("bert-uncased");
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "the fox saw Berlin";
  const TagNames labels = {"O", "I-ANIMAL", "I-CITY"};
  const std::vector<TaggedStretch> stretches = {{place_of(text, "fox"), 1}, {place_of(text, "Berlin"), 2}};
  const auto found = [&](TagAggregation joining, const TagNames& ignored) {
    return described(text, tagged(tokenizer, text, {48, 0}, labels, stretches, joining, ignored));
  };
  EXPECT_EQ(found(TagAggregation::simple, {"O"}), "ANIMAL:fox, CITY:Berlin");
  EXPECT_EQ(found(TagAggregation::simple, {"O", "CITY"}), "ANIMAL:fox");
  EXPECT_EQ(found(TagAggregation::simple, {"CITY"}), "O:the, ANIMAL:fox, O:saw");
  EXPECT_EQ(found(TagAggregation::simple, {}), "O:the, ANIMAL:fox, O:saw, CITY:Berlin");
  EXPECT_EQ(found(TagAggregation::none, {"O", "CITY"}),
            "I-ANIMAL:f, I-ANIMAL:o, I-ANIMAL:x, I-CITY:Be, I-CITY:r, I-CITY:l, I-CITY:in");
  EXPECT_EQ(found(TagAggregation::none, {"O", "I-CITY"}), "I-ANIMAL:f, I-ANIMAL:o, I-ANIMAL:x");
}

TEST_F(Tags, LongTextsHaveEachNameOnce) {
  for (const char* name : {"bert-uncased", "roberta-pairs", "albert", "xlnet"}) {
    const auto tokenizer = load(name);
    ASSERT_NE(tokenizer, nullptr);
    std::string text;
    std::vector<TaggedStretch> stretches;
    for (int i = 0; i < 1500; ++i) {
      const bool is_name = i == 40 || i == 1499 || i % 97 == 0;
      const std::string word = is_name ? "Besan\u00e7on" + std::to_string(i) : "river";
      if (is_name) stretches.push_back({{text.size(), text.size() + word.size()}, 1});
      text += word + (i == 1499 ? "" : " ");
    }
    for (const uint32_t most : {48U, 512U})
      for (const uint32_t stride : {0U, 1U, 16U, 30U})
        for (const TagAggregation joining :
             {TagAggregation::simple, TagAggregation::first, TagAggregation::average, TagAggregation::max}) {
          const auto entities = tagged(tokenizer, text, {most, stride}, {"O", "B-LOC", "I-LOC"}, stretches, joining);
          const bool words = joining != TagAggregation::simple;
          EXPECT_TRUE(!words || entities.size() == stretches.size()) << name << " " << most << " " << stride;
          for (size_t i = 0; words && i < std::min(entities.size(), stretches.size()); ++i) {
            const std::string printed = slice(text, entities[i].bytes);
            EXPECT_EQ(printed.substr(printed.find_first_not_of(' ')), slice(text, stretches[i].bytes)) << name;
          }
          // Each token begins a name here: none is there twice, and together they are the names.
          for (size_t i = 1; i < entities.size(); ++i) EXPECT_GE(entities[i].bytes.begin, entities[i - 1].bytes.begin);
        }
  }
}

TEST_F(Tags, WindowsChangeNothing) {
  const auto tokenizer = load("roberta-pairs");
  ASSERT_NE(tokenizer, nullptr);
  std::string text = "Anna M\u00fcller";
  for (int i = 0; i < 60; ++i) text += i % 7 == 0 ? " in Gen\u00e8ve" : " jumps over";
  const std::vector<TaggedStretch> stretches = {{{0, 12}, 1}, {{40, 80}, 2}, {{100, 300}, 3}};
  for (const TagAggregation joining : {TagAggregation::none, TagAggregation::simple, TagAggregation::first,
                                       TagAggregation::average, TagAggregation::max}) {
    const TagNames labels = {"O", "B-PER", "I-LOC", "I-ORG"};
    const auto one = tagged(tokenizer, text, {}, labels, stretches, joining);
    for (const auto& [most, stride] :
         {std::pair{20U, 0U}, std::pair{20U, 7U}, std::pair{20U, 17U}, std::pair{3U, 0U}}) {
      const auto many = tagged(tokenizer, text, {most, stride}, labels, stretches, joining);
      ASSERT_EQ(many.size(), one.size());
      for (size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(many[i].bytes, one[i].bytes);
        EXPECT_EQ(many[i].label, one[i].label);
        EXPECT_EQ(many[i].word, one[i].word);
        EXPECT_EQ(many[i].index, one[i].index);
        EXPECT_DOUBLE_EQ(many[i].score, one[i].score);
      }
    }
  }
}

TEST_F(Tags, PrefixesPartNames) {
  const auto tokenizer = load("bert-uncased");
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "the fox the dog the fox";
  const auto joined = [&](const TagNames& labels, const std::vector<size_t>& of_words) {
    std::vector<TaggedStretch> stretches;
    for (size_t i = 0; i < of_words.size(); ++i) stretches.push_back({{4 * i, 4 * i + 3}, of_words[i]});
    return described(text, tagged(tokenizer, text, {}, labels, stretches, TagAggregation::first));
  };
  // Without prefixes neighbours of one label are one.
  EXPECT_EQ(joined({"O", "LOC", "PER"}, {1, 1, 2, 0, 2, 2}), "LOC:the fox, PER:the, PER:the fox");
  EXPECT_EQ(joined({"O", "B-LOC", "I-LOC"}, {1, 2, 1, 1, 2, 0}), "LOC:the fox, LOC:the, LOC:dog the");
  EXPECT_EQ(joined({"O", "B-LOC", "I-PER"}, {1, 2, 2, 1, 0, 0}), "LOC:the, PER:fox the, LOC:dog");
  // Every form of O is outside.
  EXPECT_EQ(joined({"B-O", "I-O", "B-LOC", "O"}, {0, 1, 2, 3, 0, 1}), "LOC:the");
  // Only the first hyphen behind one letter is a prefix.
  EXPECT_EQ(joined({"O", "B-LOC-CITY", "I-LOC-CITY"}, {1, 2, 0, 1, 0, 0}), "LOC-CITY:the fox, LOC-CITY:dog");
  EXPECT_EQ(joined({"O", "LOC-CITY", "E-MAIL"}, {1, 0, 2, 0, 0, 0}), "LOC-CITY:the, E-MAIL:the");
  // Last and single tokens, in schemes that have them.
  const TagNames scheme = {"O", "B-PER", "I-PER", "E-PER", "S-PER"};
  EXPECT_EQ(joined(scheme, {1, 2, 3, 4, 4, 0}), "PER:the fox the, PER:dog, PER:the");
}

TEST_F(Tags, WithoutJoiningLabelsStayAsTheyAre) {
  const auto tokenizer = load("bert-uncased");
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "the fox";
  const auto tokens = tagged(tokenizer, text, {}, {"B-O", "O", "B-LOC"}, {{{4, 7}, 2}}, TagAggregation::none);
  ASSERT_FALSE(tokens.empty());
  EXPECT_EQ(tokens[0].label, "B-O");
  EXPECT_EQ(tokens[0].index, 1U);  // behind [CLS]
  EXPECT_EQ(tokens.back().label, "B-LOC");
}

TEST_F(Tags, PlacesAreThoseOfTheTextAsItIs) {
  const std::string blanks[] = {"  \r\n", "\u00a0\u00a0\r\n", std::string(10, ' '), "\t \u3000"};
  for (const char* name : {"bert-uncased", "roberta-pairs", "albert", "xlnet", "modernbert"}) {
    const auto tokenizer = load(name);
    ASSERT_NE(tokenizer, nullptr);
    for (const std::string& blank : blanks) {
      const std::string text = blank + "Cafe\u0301 \U0001f469\u200d\U0001f680 in" + blank + "Porto" + blank;
      const auto entities =
          tagged(tokenizer, text, {}, {"O", "LOC"}, {{place_of(text, "Porto"), 1}}, TagAggregation::simple);
      ASSERT_EQ(entities.size(), 1U) << name;
      const std::string printed = slice(text, entities[0].bytes);
      EXPECT_EQ(strip(printed), "Porto") << name;
      // The slice by characters is the slice by bytes.
      const std::u32string characters = to_utf32(text);
      const auto count = [&](uint64_t bytes) { return to_utf32(std::string_view(text).substr(0, bytes)).size(); };
      std::string by_characters;
      for (size_t i = count(entities[0].bytes.begin); i < count(entities[0].bytes.end); ++i)
        append_utf8(by_characters, characters[i]);
      EXPECT_EQ(by_characters, printed) << name;
    }
  }
}

TEST_F(Tags, LoweredTextsKeepTheirPlaces) {
  const auto tokenizer = load("roberta-pairs");
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "\u0130stanbul and STRASSE", question = "\u0130s it?";
  LAPILLI_ASSERT_VALUE(const auto windows, TextEncoder::plain(tokenizer, 20, true).windows(text, question, {0, 3}));
  LAPILLI_ASSERT_VALUE(const auto lower, tokenizer->encode("i\u0307s it?"));
  EXPECT_EQ(windows[0].ids[1], lower[1]);
  size_t end = 0;
  for (const Encoding& w : windows)
    for (size_t i = 0; i < w.ids.size(); ++i)
      if (w.texts[i] == 0) end = std::max<size_t>(end, w.offsets[i].end);
  EXPECT_EQ(end, text.size());
}

TEST_F(Tags, WordsHaveOneLabel) {
  const auto tokenizer = load("bert-uncased");
  ASSERT_NE(tokenizer, nullptr);
  const std::string text = "foxes";
  LAPILLI_ASSERT_VALUE(const auto windows, TextEncoder::plain(tokenizer, 0).windows(text, {}, {}));
  const Encoding& e = windows.front();
  const size_t pieces = e.ids.size() - 2;
  ASSERT_GE(pieces, 2U);
  std::vector<float> logits(e.ids.size() * 2, 0.0F);
  logits[2] = 1.0F;  // the first piece: label 0, with 0.73
  for (size_t i = 2; i <= pieces; ++i) logits[2 * i + 1] = 3.0F;
  const TagWindow window{&e, logits};
  const TagNames labels = {"A", "B"};
  const double sure = 1 / (1 + std::exp(-3.0)), first = 1 / (1 + std::exp(-1.0));
  const std::map<TagAggregation, std::pair<std::string, double>> wanted = {
      {TagAggregation::first, {"A", first}},
      {TagAggregation::max, {"B", sure}},
      {TagAggregation::average,
       {"B", (1 - first + static_cast<double>(pieces - 1) * sure) / static_cast<double>(pieces)}}};
  for (const auto& [joining, label] : wanted) {
    LAPILLI_ASSERT_VALUE(const auto found, find_entities(text, {&window, 1}, 0, labels, *tokenizer, {joining, {}}));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].label, label.first);
    EXPECT_NEAR(found[0].score, label.second, 1e-6);
    EXPECT_EQ(found[0].word, "foxes");
  }
  EXPECT_FALSE(find_entities(text, {&window, 1}, 0, TagNames{"A"}, *tokenizer, {TagAggregation::none, {}}).ok());
}

}  // namespace
}  // namespace lapilli
