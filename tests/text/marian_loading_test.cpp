// Directories that are incomplete, odd or damaged.
#include <gtest/gtest.h>

#include "support/temp_directory.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {
namespace {

const std::string kShared = LAPILLI_TEST_DATA "/tokenizers/marian/files";
const std::string kSeparate = LAPILLI_TEST_DATA "/tokenizers/marian-separate-vocab/files";

void expect_error(const std::string& directory, ErrorCode code, const std::string& message) {
  auto t = load_tokenizer(directory, "marian");
  ASSERT_FALSE(t.ok()) << message;
  EXPECT_EQ(t.error().code, code) << t.error().message;
  EXPECT_NE(t.error().message.find(message), std::string::npos) << t.error().message;
}

TEST(LoadTokenizer, NamesWhatItDoesNotKnow) {
  auto t = load_tokenizer(LAPILLI_TEST_DATA "/tokenizers", "clip");  // no file there says more
  ASSERT_FALSE(t.ok());
  EXPECT_EQ(t.error().code, ErrorCode::unsupported);
  EXPECT_NE(t.error().message.find("\"clip\""), std::string::npos) << t.error().message;
  EXPECT_NE(t.error().message.find("marian"), std::string::npos) << t.error().message;
  expect_error(kShared + "/nowhere", ErrorCode::not_found, "nowhere is not a directory");
}

TEST(LoadTokenizer, TheNamedClassCounts) {
  EXPECT_TRUE(load_tokenizer(kShared, "").ok());         // tokenizer_config.json names MarianTokenizer
  EXPECT_TRUE(load_tokenizer(kShared, "m2m_100").ok());  // it goes before the model type
  auto m2m = load_tokenizer(kShared, "M2M100Tokenizer");
  ASSERT_FALSE(m2m.ok());
  EXPECT_NE(m2m.error().message.find("sentencepiece.bpe.model"), std::string::npos) << m2m.error().message;
}

class MarianLoading : public testing::Test {
 protected:
  void SetUp() override { directory_.copy_from(kShared); }
  void expect_damaged(const std::string& file, const std::string& content, const std::string& message) {
    const std::string before = read_file(directory_.path() + "/" + file);
    directory_.write(file, content);
    expect_error(directory_.path(), ErrorCode::invalid_data, file);
    expect_error(directory_.path(), ErrorCode::invalid_data, message);
    directory_.write(file, before);
  }
  TempDirectory directory_;
};

TEST_F(MarianLoading, MissingFiles) {
  for (const char* file : {"source.spm", "target.spm", "vocab.json"}) {
    const std::string before = read_file(directory_.path() + "/" + file);
    directory_.remove(file);
    expect_error(directory_.path(), ErrorCode::not_found, file);
    directory_.write(file, before);
  }
  EXPECT_TRUE(load_tokenizer(directory_.path(), "marian").ok());
  // A directory in a file's place.
  directory_.remove("vocab.json");
  std::filesystem::create_directory(directory_.path() + "/vocab.json");
  expect_error(directory_.path(), ErrorCode::not_found, "vocab.json");
}

TEST_F(MarianLoading, SettingsMayBeMissing) {
  directory_.remove("tokenizer_config.json");
  directory_.remove("special_tokens_map.json");
  auto t = load_tokenizer(directory_.path(), "marian");
  ASSERT_TRUE(t.ok()) << t.error().message;
  EXPECT_EQ((*t)->special().pad, 720);
}

TEST_F(MarianLoading, SeparateVocabulariesNeedTheirFile) {
  directory_.copy_from(kSeparate);
  EXPECT_TRUE(load_tokenizer(directory_.path(), "marian").ok());
  expect_damaged("target_vocab.json", R"({"a": 0})", "the special token \"<unk>\" is missing");
  directory_.remove("target_vocab.json");
  expect_error(directory_.path(), ErrorCode::not_found, "target_vocab.json");
}

TEST_F(MarianLoading, DamagedFiles) {
  const std::string spm = read_file(kShared + "/source.spm");
  expect_damaged("source.spm", spm.substr(0, spm.size() / 2), "cut off");
  expect_damaged("target.spm", "{}", "SentencePiece model");
  expect_damaged("vocab.json", "[]", "expected an object");
  expect_damaged("vocab.json", R"({"</s>": 0, "<unk>": 1})", "the special token \"<pad>\" is missing");
  expect_damaged("tokenizer_config.json", "{", "not valid JSON");
  expect_damaged("tokenizer_config.json", "[1]", "expected an object");
  expect_damaged("tokenizer_config.json", R"({"separate_vocabs": "yes"})", "separate_vocabs is string");
  expect_damaged("tokenizer_config.json", R"({"eos_token": 3})", "eos_token is neither");
  expect_damaged("tokenizer_config.json", R"({"eos_token": ""})", "eos_token is neither");
  directory_.write("tokenizer_config.json", R"({"pad_token": "<nope>"})");
  expect_error(directory_.path(), ErrorCode::invalid_data, "vocab.json: the special token \"<nope>\" is missing");
  expect_damaged("tokenizer_config.json", R"({"added_tokens_decoder": []})", "added_tokens_decoder is array");
  expect_damaged("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "y"}}})", "not an id");
  expect_damaged("tokenizer_config.json", R"({"added_tokens_decoder": {"-3": {"content": "y"}}})", "not an id");
  expect_damaged("tokenizer_config.json", R"({"added_tokens_decoder": {"7": {"special": true}}})", "content");
  expect_damaged("tokenizer_config.json", R"({"added_tokens_decoder": {"2147483647": {"content": "y"}}})",
                 "far outside");
}

TEST_F(MarianLoading, AddedTokensOfTheSettings) {
  directory_.write("tokenizer_config.json", R"({
    "eos_token": {"content": "</s>", "special": true}, "separate_vocabs": null,
    "added_tokens_decoder": {"0": {"content": "</s>", "special": true}, "721": {"content": "<term>", "lstrip": true},
                             "722": {"content": "<sep>", "special": true}}})");
  auto t = load_tokenizer(directory_.path(), "marian");
  ASSERT_TRUE(t.ok()) << t.error().message;
  const auto ids = (*t)->encode("many <term><sep></s>");
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(*ids, (std::vector<int32_t>{483, 721, 722, 0, 0}));
  EXPECT_EQ((*t)->token(721), "<term>");
  EXPECT_EQ(*(*t)->decode(*ids, true), "many<term>");
  EXPECT_EQ(*(*t)->decode(*ids, false), "many<term><sep> </s> </s>");
}

}  // namespace
}  // namespace lapilli
