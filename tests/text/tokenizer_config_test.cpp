// Settings of tokenizers in publishers' files of several years.
#include "text/tokenizer_config.hpp"

#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

class TokenizerConfigFiles : public testing::Test {
 protected:
  TokenizerConfig load() const {
    auto config = TokenizerConfig::load(directory_.path());
    EXPECT_TRUE(config) << config.error().message;
    return config ? *config : TokenizerConfig();
  }
  std::string kind_of(const char* config, const char* tokenizer) const {
    (void)directory_.write("config.json", config);
    (void)directory_.write("tokenizer_config.json", tokenizer);
    const auto name = load().tokenizer_class();
    return name ? *name : name.error().message;
  }
  const TempDirectory directory_;
};

TEST_F(TokenizerConfigFiles, TheClassMayStandInConfigJsonAlone) {
  EXPECT_EQ(kind_of(R"({"tokenizer_class": "MBart50Tokenizer"})", "{}"), "MBart50Tokenizer");
  EXPECT_EQ(kind_of(R"({"tokenizer_class": "A"})", R"({"tokenizer_class": "B"})"), "B");
  EXPECT_EQ(kind_of(R"({"tokenizer_class": "A"})", R"({"tokenizer_class": null})"), "A");
  EXPECT_EQ(kind_of("{}", "{}"), "");
  EXPECT_EQ(kind_of(R"({"tokenizer_class": 7})", "{}"), "");
  EXPECT_EQ(kind_of("no JSON", "{}"), "");
}

TEST_F(TokenizerConfigFiles, PairsNameItInTheirParts) {
  EXPECT_EQ(kind_of(R"({"encoder": {"tokenizer_class": "E"}, "decoder": {"tokenizer_class": "D"}})", "{}"), "E");
  EXPECT_EQ(kind_of(R"({"encoder": {}, "decoder": {"tokenizer_class": "D"}})", "{}"), "D");
  EXPECT_EQ(kind_of(R"({"tokenizer_class": "A", "decoder": {"tokenizer_class": "D"}})", "{}"), "A");
}

TEST_F(TokenizerConfigFiles, AnEmptyContentIsNoToken) {
  (void)directory_.write("tokenizer_config.json",
                         R"({"unk_token": {"content": "", "lstrip": false}, "pad_token": {"content": ""}})");
  (void)directory_.write("special_tokens_map.json", R"({"unk_token": "<unk>"})");
  const TokenizerConfig config = load();
  EXPECT_EQ(config.special_token("unk_token", "none").value(), "<unk>");
  EXPECT_EQ(config.special_token("pad_token", "none").value(), "none");
  EXPECT_EQ(config.special_entry("pad_token", {"<pad>", -1}).value().text, "<pad>");
}

}  // namespace
}  // namespace lapilli
