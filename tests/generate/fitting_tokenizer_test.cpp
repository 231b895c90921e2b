// A tokenizer that does not fit its model is refused; one of a decoder alone has no source to fit.
#include "generate/fitting_tokenizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/fixtures.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

// A tokenizer of so many words, more than may be added to one without training.
void write_words(const TempDirectory& folder, int words) {
  nlohmann::json vocabulary;
  for (int i = 0; i < words; ++i) vocabulary["w" + std::to_string(i)] = i;
  const nlohmann::json model = {{"type", "WordLevel"}, {"unk_token", "w0"}, {"vocab", vocabulary}};
  folder.write("tokenizer.json", nlohmann::json({{"model", model}}).dump());
}

std::string refusal(const model::Config& config, int words) {
  const TempDirectory folder;
  write_words(folder, words);
  const auto tokenizer = load_fitting_tokenizer(folder.path(), config);
  return tokenizer ? "fits" : tokenizer.error().message;
}

TEST(FittingTokenizer, OfADecoderAlone) {
  model::Config config;
  config.tokenizer = "none";
  config.decoder.layers = 1;
  config.target_vocabulary = 3000;
  EXPECT_EQ(refusal(config, 3000), "fits");
  EXPECT_EQ(refusal(config, 2900), "fits") << "rows without a word";
  EXPECT_EQ(refusal(config, 3007), "fits") << "words that were added without training";
  EXPECT_THAT(refusal(config, 1000), HasSubstr("3000 rows for the target"));
}

TEST(FittingTokenizer, OfBothSides) {
  model::Config config;
  config.tokenizer = "none";
  config.encoder.layers = config.decoder.layers = 1;
  config.source_vocabulary = config.target_vocabulary = 3000;
  EXPECT_EQ(refusal(config, 3000), "fits");
  config.source_vocabulary = 100;
  EXPECT_THAT(refusal(config, 3000), HasSubstr("100 rows for the source"));
}

}  // namespace
}  // namespace lapilli
