// Golden data of the reference implementation: two tokenizers and the bundled model.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "text/loaded_tokenizer.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {
namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

json read_json(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  json value = json::parse(in, nullptr, false);
  EXPECT_FALSE(value.is_discarded()) << path;
  return value;
}

Ids encode(const Tokenizer& t, const std::string& text, const EncodeOptions& options = {}) {
  auto ids = t.encode(text, options);
  if (!ids) ADD_FAILURE() << ids.error().message;
  return ids ? *ids : Ids{};
}

std::string decode(const Tokenizer& t, const Ids& ids, bool skip_special) {
  auto text = t.decode(ids, skip_special);
  if (!text) ADD_FAILURE() << text.error().message;
  return text ? *text : std::string();
}

class MarianGolden : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string directory = std::string(LAPILLI_TEST_DATA "/tokenizers/") + GetParam();
    tokenizer_ = loaded_tokenizer(directory + "/files", "marian");
    expected_ = read_json(directory + "/expected.json");
    ASSERT_NE(tokenizer_, nullptr);
  }
  bool separate() const { return std::string(GetParam()) == "marian-separate-vocab"; }

  std::unique_ptr<Tokenizer> tokenizer_;
  json expected_;
};

TEST_P(MarianGolden, EncodesTheSourceSide) {
  ASSERT_EQ(expected_["cases"].size(), 93u);
  for (const json& c : expected_["cases"]) {
    const std::string text = c["text"];
    SCOPED_TRACE(text);
    EXPECT_EQ(encode(*tokenizer_, text), c["ids"].get<Ids>());
    EXPECT_EQ(encode(*tokenizer_, text, {.add_special = false}), c["ids_plain"].get<Ids>());
  }
}

TEST_P(MarianGolden, EncodesTheTargetSide) {
  ASSERT_EQ(expected_["target_cases"].size(), 93u);
  for (const json& c : expected_["target_cases"]) {
    SCOPED_TRACE(c["text"].get<std::string>());
    EXPECT_EQ(encode(*tokenizer_, c["text"], {.side = TextSide::target}), c["ids"].get<Ids>());
  }
}

TEST_P(MarianGolden, Decodes) {
  size_t decoded = 0;
  for (const char* list : {"cases", "target_cases", "decode_cases"}) {
    // With separate vocabularies source ids mean nothing to the decoder, and their texts are not recorded.
    if (separate() && std::string(list) == "cases") continue;
    for (const json& c : expected_[list]) {
      const Ids ids = c["ids"].get<Ids>();
      SCOPED_TRACE(std::string(list) + ": " + c["decoded"].get<std::string>());
      EXPECT_EQ(decode(*tokenizer_, ids, false), c["decoded"].get<std::string>());
      EXPECT_EQ(decode(*tokenizer_, ids, true), c["decoded_skip"].get<std::string>());
      ++decoded;
    }
  }
  EXPECT_EQ(decoded, separate() ? 118u : 211u);
}

TEST_P(MarianGolden, NamesTokens) {
  size_t compared = 0;
  for (const json& c : expected_["cases"]) {
    if (!c.contains("tokens")) continue;
    std::vector<std::string> tokens;
    for (const int32_t id : c["ids_plain"].get<Ids>()) tokens.emplace_back(tokenizer_->token(id));
    EXPECT_EQ(tokens, c["tokens"].get<std::vector<std::string>>()) << c["text"];
    ++compared;
  }
  EXPECT_EQ(compared, 90u);
}

TEST_P(MarianGolden, SpecialIdsAndPaddedBatch) {
  const json& batch = expected_["batch"];
  const auto rows = batch["input_ids"].get<std::vector<Ids>>();
  ASSERT_EQ(rows.size(), batch["texts"].size());
  for (size_t r = 0; r < rows.size(); ++r) {
    Ids ids = encode(*tokenizer_, batch["texts"][r]);
    EXPECT_EQ(ids.back(), tokenizer_->special().eos);
    ids.resize(rows[r].size(), tokenizer_->special().pad);
    EXPECT_EQ(ids, rows[r]);
  }
  EXPECT_EQ(tokenizer_->special().unk, 1);
  EXPECT_EQ(tokenizer_->vocabulary_size(TextSide::target), expected_["target_vocab_size"].get<uint64_t>());
  EXPECT_EQ(tokenizer_->vocabulary_size(), separate() ? 651u : 721u);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, MarianGolden, testing::Values("marian", "marian-separate-vocab"),
                         [](const auto& test) { return std::string(test.param) == "marian" ? "Shared" : "Separate"; });

class BundledModel : public testing::Test {
 protected:
  void SetUp() override {
    tokenizer_ = loaded_tokenizer(LAPILLI_SOURCE_DIR "/models/en-fr", "marian");
    ASSERT_NE(tokenizer_, nullptr);
  }
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(BundledModel, AgreesWithTheReference) {
  const json expected = read_json(LAPILLI_SOURCE_DIR "/models/en-fr/expected.json");
  ASSERT_EQ(expected["cases"].size(), 64u);
  for (const json& c : expected["cases"]) {
    SCOPED_TRACE(c["text"].get<std::string>());
    EXPECT_EQ(encode(*tokenizer_, c["text"]), c["input_ids"].get<Ids>());
    for (const char* search : {"greedy", "beam4"})
      EXPECT_EQ(decode(*tokenizer_, c[search]["ids"].get<Ids>(), true), c[search]["text"].get<std::string>());
  }
  EXPECT_EQ(tokenizer_->vocabulary_size(), 8001u);
  EXPECT_EQ(tokenizer_->special().pad, 8000);
  EXPECT_EQ(tokenizer_->special().eos, 0);
}

TEST_F(BundledModel, RefusesWhatIsNoText) {
  auto cut = tokenizer_->encode("caf\xC3\xA9 au \xC3(");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(cut.error().message.find("0xc3 at offset 9"), std::string::npos) << cut.error().message;

  auto huge = tokenizer_->encode(std::string((size_t{1} << 20) + 1, 'a'));
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(tokenizer_->encode(std::string(size_t{1} << 20, 'a')).ok());
}

TEST_F(BundledModel, SurvivesOddTextsAndIds) {
  for (const std::string& text : {std::string("a\0b", 3), std::string("\0", 1), std::string(">>"), std::string(">>a"),
                                  std::string("<<>>"), std::string(">><<"), std::string("\xF0\x9F\x98\x80")}) {
    const Ids ids = encode(*tokenizer_, text);
    ASSERT_FALSE(ids.empty());
    EXPECT_EQ(ids.back(), tokenizer_->special().eos);
  }
  // Above the vocabulary: the unknown token; negative: an error with the position.
  EXPECT_EQ(tokenizer_->token(8001), "<unk>");
  EXPECT_EQ(decode(*tokenizer_, {463, 2147483647}, false), decode(*tokenizer_, {463, 1}, false));
  const Ids negative = {463, -1};
  auto refused = tokenizer_->decode(negative);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("id -1 at position 1"), std::string::npos) << refused.error().message;
  EXPECT_EQ(decode(*tokenizer_, {}, true), "");
}

TEST_F(BundledModel, ServesSeveralThreads) {
  const std::string text = "Where is the station?";
  const Ids ids = encode(*tokenizer_, text);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto again = tokenizer_->encode(text);
        auto back = tokenizer_->decode(ids);
        wrong[t] += !again.ok() || *again != ids || !back.ok() || *back != text;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace lapilli
