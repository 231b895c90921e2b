// Llama's tokenizers: tokenizer.model alone, what switches and nulls of tokenizer_config.json mean there, and a note
// where they contradict tokenizer.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "formats/hf_config.hpp"
#include "support/temp_directory.hpp"
#include "text/tokenizer.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kTokenizers = LAPILLI_TEST_DATA "/tokenizers/";

// A recorded directory whose tokenizer_config.json may be changed.
class LlamaFiles {
 public:
  explicit LlamaFiles(const std::string& name) {
    folder_.copy_from(kTokenizers + name + "/files");
    config = *read_json_file(folder_.path() + "/tokenizer_config.json");
  }
  std::vector<int32_t> ids(const std::string& text, const std::string& family = "none") const {
    folder_.write("tokenizer_config.json", config.dump());
    const auto tokenizer = load_tokenizer(folder_.path(), family);
    EXPECT_TRUE(tokenizer.ok()) << (tokenizer ? "" : tokenizer.error().message);
    if (!tokenizer) return {};
    const auto found = (*tokenizer)->encode(text);
    EXPECT_TRUE(found.ok()) << text;
    return found ? *found : std::vector<int32_t>();
  }
  [[nodiscard]] const TempDirectory& folder() const { return folder_; }
  json config;

 private:
  TempDirectory folder_;
};

TEST(LlamaTokenizer, FirstAndLastTokens) {
  LlamaFiles files("llama2-model-only");
  EXPECT_THAT(files.ids("x"), ElementsAre(1, 555, 618));
  files.config["add_eos_token"] = true;
  EXPECT_THAT(files.ids("x"), ElementsAre(1, 555, 618, 2));
  files.config["add_bos_token"] = false;
  EXPECT_THAT(files.ids("x"), ElementsAre(555, 618, 2));
  files.config.erase("add_bos_token");
  files.config.erase("add_eos_token");
  EXPECT_THAT(files.ids("x"), ElementsAre(1, 555, 618));
  files.config["bos_token"] = nullptr;
  files.config["add_bos_token"] = true;
  EXPECT_THAT(files.ids("x"), ElementsAre(555, 618));
}

// Without `legacy: false` a blank comes in front of the text behind a special token, too.
TEST(LlamaTokenizer, TheBlankBehindSpecialTokens) {
  LlamaFiles files("llama2-model-only");
  EXPECT_THAT(files.ids("x<s>y"), ElementsAre(1, 555, 618, 1, 570));
  for (const json& legacy : {json(true), json()}) {
    files.config["legacy"] = legacy;
    EXPECT_THAT(files.ids("x<s>y"), ElementsAre(1, 555, 618, 1, 289));
  }
  files.config["add_prefix_space"] = false;
  EXPECT_THAT(files.ids("x<s>y"), ElementsAre(1, 618, 1, 570));
}

TEST(LlamaTokenizer, WithoutAClassTheModelTypeTells) {
  LlamaFiles files("llama2-model-only");
  files.config.erase("tokenizer_class");
  EXPECT_THAT(files.ids("x", "llama"), ElementsAre(1, 555, 618));
}

TEST(LlamaTokenizer, FilesThatDoNotFit) {
  const LlamaFiles files("llama2-model-only");
  files.folder().write("tokenizer_config.json", files.config.dump());
  files.folder().write("tokenizer.model", "no model");
  const auto damaged = load_tokenizer(files.folder().path(), "llama");
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.error().message, HasSubstr("tokenizer.model"));
  files.folder().remove("tokenizer.model");
  const auto none = load_tokenizer(files.folder().path(), "llama");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("neither tokenizer.json nor tokenizer.model"));
}

TEST(LlamaTokenizer, ContradictionsAreSaid) {
  if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without utf8proc or PCRE2";
  std::vector<std::string> notes;
  set_log_hook([&](LogLevel, const std::string& text) { notes.push_back(text); });
  LlamaFiles files("llama3-form");
  const auto ids = files.ids("x");
  EXPECT_THAT(notes, IsEmpty());
  files.config["add_bos_token"] = false;
  files.config["add_eos_token"] = true;
  EXPECT_EQ(files.ids("x"), ids) << "tokenizer.json counts";
  set_log_hook({});
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_THAT(notes[0], HasSubstr("add_bos_token is false, but tokenizer.json adds that token"));
  EXPECT_THAT(notes[1], HasSubstr("add_eos_token is true, but tokenizer.json adds no such token"));
}

}  // namespace
}  // namespace lapilli
