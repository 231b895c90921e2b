// Texts as parts: marks that a text brings itself, words that nobody can recognize, offsets of what is not UTF-8, and
// the numbers that draws go by.
#include "generate/input_parts.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "support/fixtures.hpp"
#include "support/shared_device.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

// The bundled model, its euro sign renamed to the mark of a language.
class DeviceInputParts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDirectory>();
    folder_->copy_from(LAPILLI_SOURCE_DIR "/models/en-fr");
    std::string words = read_file(folder_->path() + "/vocab.json");
    const size_t at = words.find("\"€\"");
    ASSERT_NE(at, std::string::npos);
    folder_->write("vocab.json", words.replace(at, std::string("\"€\"").size(), "\">>fr<<\""));
    LAPILLI_ASSERT_VALUE(const auto device, testing_support::shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device, folder_->path()));
    ASSERT_NE(model_->tokenizer(), nullptr) << model_->tokenizer_error().message;
  }
  static void TearDownTestSuite() {
    model_.reset();
    folder_.reset();
  }
  static Result<InputParts> parts(const std::string& text, Split split, const Conventions& conventions = {},
                                  bool keep = false) {
    PartOptions options;
    options.split = split;
    options.keep = keep;
    options.conventions = &conventions;
    TextInput input;
    input.text = text;
    return make_parts(*model_, input, options);
  }
  static std::vector<int32_t> ids(const std::string& text) { return model_->tokenizer()->encode(text).value(); }

  static std::unique_ptr<TempDirectory> folder_;
  static std::shared_ptr<Model> model_;
};
std::unique_ptr<TempDirectory> DeviceInputParts::folder_;
std::shared_ptr<Model> DeviceInputParts::model_;

TEST_F(DeviceInputParts, TheMarkOfATextIsThatOfEveryPiece) {
  const std::string first = "Good morning.", second = "Where is the station?", third = "What time is it?";
  const std::string text = " >>fr<< " + first + " " + second + "\n" + third;
  LAPILLI_ASSERT_VALUE(const auto made, parts(text, Split::long_texts));
  ASSERT_EQ(made.parts.size(), 3u);
  EXPECT_EQ(made.parts[0].ids, ids(">>fr<< " + first));
  EXPECT_EQ(made.parts[1].ids, ids(">>fr<< " + second));
  EXPECT_EQ(made.parts[2].ids, ids(">>fr<< " + third));
  // The mark is in the first part's range, so that it is not taken for what stands between the parts.
  EXPECT_EQ(made.ranges[0].begin, 1u);
  EXPECT_EQ(text.substr(made.ranges[1].begin, made.ranges[1].end - made.ranges[1].begin), second);
  const auto& bytes = made.parts[2].bytes;
  EXPECT_EQ(bytes[0].begin, bytes[0].end);  // the mark is not of this part's text
  EXPECT_EQ(bytes[1].begin, made.ranges[2].begin);

  // Sentences with marks of their own keep them; a whole text is as it is.
  LAPILLI_ASSERT_VALUE(const auto marked, parts(">>fr<< " + first + "\n\n>>fr<< " + second, Split::always));
  ASSERT_EQ(marked.parts.size(), 2u);
  EXPECT_EQ(marked.parts[1].ids, ids(">>fr<< " + second));
  LAPILLI_ASSERT_VALUE(const auto whole, parts(">>fr<< " + first + " " + second, Split::long_texts));
  ASSERT_EQ(whole.parts.size(), 1u);
  EXPECT_EQ(whole.parts[0].ids, ids(">>fr<< " + first + " " + second));
}

TEST_F(DeviceInputParts, ALongSentenceKeepsItsMark) {
  std::string text = ">>fr<<";
  for (int i = 0; i < 400; ++i) text += " stone";
  LAPILLI_ASSERT_VALUE(const auto made, parts(text, Split::long_texts));
  ASSERT_GE(made.parts.size(), 2u);
  EXPECT_EQ(made.ranges.front().begin, 0u);
  for (const InputPart& part : made.parts) {
    EXPECT_EQ(part.ids.front(), ids(">>fr<<").front());
    EXPECT_GT(part.ids.size(), 3u);
    EXPECT_LE(part.ids.size(), 256u);
  }
}

TEST_F(DeviceInputParts, WhatIsNoMarkOfTheModelStaysText) {
  const std::string first = "Good morning.", second = "Where is the station?";
  LAPILLI_ASSERT_VALUE(const auto unknown, parts(">>xx<< " + first + " " + second, Split::always));
  ASSERT_EQ(unknown.parts.size(), 2u);
  EXPECT_EQ(unknown.parts[1].ids, ids(second));
  // A prefix of the conventions stands before all of them.
  Conventions c;
  c.prefix = ">>fr<< ";
  LAPILLI_ASSERT_VALUE(const auto prefixed, parts(first + " " + second, Split::always, c));
  ASSERT_EQ(prefixed.parts.size(), 2u);
  EXPECT_EQ(prefixed.parts[0].ids, ids(">>fr<< " + first));
  EXPECT_EQ(prefixed.parts[1].ids, ids(">>fr<< " + second));
}

TEST_F(DeviceInputParts, TextsThatBringTheirWordsAreSplitWhenToldSo) {
  const std::string text = "Say it in French: Good morning. Where is the station? What time is it?";
  Conventions c;
  c.texts_bring_words = true;
  EXPECT_EQ(parts(text, Split::long_texts)->parts.size(), 3u);
  EXPECT_EQ(parts(text, Split::long_texts, c)->parts.size(), 1u);
  EXPECT_EQ(parts(text, Split::always, c)->parts.size(), 3u);
}

// A model that is trained on single sentences loses one of two.
TEST_F(DeviceInputParts, TwoSentencesAreTwoPiecesWhereModelsKnowOneOnly) {
  const std::string text = "Good morning. Where is the station?";
  LAPILLI_ASSERT_VALUE(const auto c, find_conventions(*model_, {TextTask::translate}));
  EXPECT_TRUE(c.one_sentence);
  EXPECT_EQ(parts(text, Split::long_texts, c)->parts.size(), 2u);
  EXPECT_EQ(parts("Good morning.", Split::long_texts, c)->parts.size(), 1u);
  EXPECT_EQ(parts(text, Split::never, c)->parts.size(), 1u);
  EXPECT_EQ(parts(text, Split::long_texts)->parts.size(), 1u);
}

// Long before the positions (256) are used up.
TEST_F(DeviceInputParts, LongSentencesAreCutAtClauses) {
  std::string text = "I have seen";
  for (int i = 0; i < 30; ++i) text += " the old man and the sea, the house and the dog,";
  text += " and that is all.";
  LAPILLI_ASSERT_VALUE(const auto made, parts(text, Split::long_texts));
  ASSERT_GT(ids(text).size(), kLongSentence);
  ASSERT_GT(made.parts.size(), 4u);
  uint64_t at = 0;
  for (const InputPart& part : made.parts) {
    EXPECT_LE(part.ids.size(), kLongClause);
    EXPECT_GE(part.ids.size(), kLongClause / 4);
    EXPECT_EQ(text.substr(at, part.range.begin - at), at == 0 ? "" : " ");
    at = part.range.end;
    EXPECT_TRUE(text[at - 1] == ',' || at == text.size()) << text.substr(part.range.begin, at - part.range.begin);
  }
  EXPECT_EQ(at, text.size());
  EXPECT_EQ(parts(text.substr(0, 300), Split::long_texts)->parts.size(), 1u);
  // Not where texts stay whole.
  const std::string some = text.substr(0, 800);
  ASSERT_GT(ids(some).size(), kLongSentence);
  EXPECT_EQ(parts(some, Split::never)->parts.size(), 1u);
}

// Texts as long as the tokenizer takes them, with and without places to cut: a second, where a cost that grows with the
// square would be minutes.
TEST_F(DeviceInputParts, HostileTextsAreCut) {
  for (const std::string unit : {"1", "x", "word, ", "x ", "www.", "中", "中，", "\u00a0", "and "}) {
    std::string text = "Hi";
    while (text.size() < 50000) text += unit;
    LAPILLI_ASSERT_VALUE(const auto made, parts(text, Split::long_texts, {}, true));
    uint64_t at = 0;
    for (const InputPart& part : made.parts) {
      EXPECT_LE(part.ids.size(), 256u) << unit;
      ASSERT_LE(at, part.range.begin) << unit;
      at = part.range.end;
    }
  }
  EXPECT_EQ(parts(std::string("\0\0", 2), Split::long_texts, {}, true)->parts.size(), 1u);
}

TEST_F(DeviceInputParts, WhatIsTheSameInEveryLanguageIsKept) {
  const auto kept = [](const std::string& text, Split split = Split::long_texts) {
    std::vector<std::string> texts;
    const auto made = parts(text, split, {}, true);
    if (!made) return texts;
    for (const InputPart& p : made->parts) {
      EXPECT_EQ(p.kept.has_value(), p.ids.empty());
      texts.push_back(p.kept ? text.substr(p.kept->begin, p.kept->end - p.kept->begin) : "");
    }
    return texts;
  };
  using testing::ElementsAre;
  EXPECT_THAT(kept(" https://example.com/x "), ElementsAre(" https://example.com/x "));
  EXPECT_THAT(kept("12 %", Split::never), ElementsAre("12 %"));
  EXPECT_THAT(kept("Hello."), ElementsAre(""));
  EXPECT_THAT(kept(""), ElementsAre(""));
  EXPECT_THAT(kept("Hello.\n\nwww.example.com\n\nGood night."), ElementsAre("", "www.example.com", ""));
  // The mark of a language is for the model.
  EXPECT_THAT(kept(">>fr<< 12.5"), ElementsAre("12.5"));
  EXPECT_THAT(kept(">>fr<< Hello.\n\n5\n\nGood night."), ElementsAre("", "5", ""));
  // So are parts of a sentence that is too long for one.
  std::string numbers = "Dial";
  for (int i = 1000; i < 1200; ++i) numbers += " " + std::to_string(i);
  const auto texts = kept(numbers);
  ASSERT_GT(texts.size(), 2u);
  EXPECT_EQ(texts.front(), "");
  EXPECT_TRUE(texts.back().ends_with(" 1199")) << texts.back();
  // Larger than any text that a tokenizer takes, and not one of its business.
  EXPECT_THAT(kept(std::string(3000000, '7'), Split::never), ElementsAre(std::string(3000000, '7')));
  EXPECT_FALSE(parts("1 \xff", Split::long_texts, {}, true).ok());
  EXPECT_FALSE(parts("12", Split::long_texts, {}, false)->parts[0].kept);
}

TEST_F(DeviceInputParts, UnknownTokensAreCounted) {
  const auto counted = [](const std::string& text) {
    const auto made = parts(text, Split::never);
    return made ? std::pair{made->parts[0].word_tokens, made->parts[0].unknown_tokens} : std::pair{77u, 77u};
  };
  EXPECT_EQ(counted("Good morning."), std::pair(static_cast<uint32_t>(ids("Good morning").size()) - 1, 0u));
  EXPECT_EQ(counted("12, 13!"), std::pair(0u, 0u));
  const auto chinese = counted("你好，世界。");
  EXPECT_GT(chinese.first, 0u);
  EXPECT_EQ(chinese.second, chinese.first);
  const auto mixed = counted("Good morning, 世界!");
  EXPECT_EQ(mixed.second, 1u);
  EXPECT_GT(mixed.first, 2u);
  EXPECT_EQ(counted("😀 Good"), counted("Good"));  // signs say nothing of the language
  Conventions c;
  c.prefix = ">>fr<< ";  // nor do words that are not the text's
  EXPECT_EQ(parts("5", Split::never, c)->parts[0].word_tokens, 0u);
}

TEST_F(DeviceInputParts, OffsetsAreTheTexts) {
  const std::string text = "Good morning. Where is the station? What is \xff?";
  Conventions c;
  c.prefix = ">>fr<< ";
  for (const Split split : {Split::never, Split::long_texts, Split::always}) {
    const auto made = parts(text, split, c);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(made.error().message, HasSubstr("offset " + std::to_string(text.find('\xff')) + ";"));
  }
}

TEST(DrawNumbers, AreDifferentForEveryPiece) {
  std::vector<uint32_t> numbers;
  for (uint64_t input = 0; input < 2000; ++input)
    for (uint64_t part = 0; part < 500; ++part) numbers.push_back(draw_number(input * 499, part));
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
  EXPECT_EQ(draw_number(7, 0), 7u);
}

}  // namespace
}  // namespace lapilli
