// Texts as token ids and back, through the C interface and the C++ one. Device tests use the bundled model.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace {

using lapilli::Ids;

bool error_says(const char* part) { return std::strstr(lapilli_last_error(), part) != nullptr; }

const Ids kWhereIsTheStation{463, 30, 16, 975, 23, 0}, kOuEstLaGare{327, 31, 21, 1095, 11, 0};

TEST(ApiTokens, NullPointers) {
  const lapilli_input text = lapilli_text("Hello.");
  size_t count = 7;
  EXPECT_EQ(lapilli_model_encode(nullptr, &text, nullptr, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(error_says("lapilli_model_encode: model is null")) << lapilli_last_error();
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(lapilli_model_encode(nullptr, &text, nullptr, nullptr, 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(error_says("count is null")) << lapilli_last_error();
  EXPECT_EQ(lapilli_model_count_tokens(nullptr, &text, nullptr, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_count_tokens(nullptr, &text, nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_decode(nullptr, &text, 0, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_decode(nullptr, &text, 0, nullptr, 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(error_says("bytes is null")) << lapilli_last_error();
}

class ApiTokensDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto loaded = lapilli::Model::load(LAPILLI_SOURCE_DIR "/models/en-fr");
    ASSERT_TRUE(loaded) << loaded.error().what();
    model_ = new lapilli::Model(std::move(*loaded));
  }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }
  static lapilli_model* handle() { return model_->handle(); }

  static lapilli::Model* model_;
};
lapilli::Model* ApiTokensDevice::model_ = nullptr;

TEST_F(ApiTokensDevice, TextsAreIdsAndBack) {
  EXPECT_EQ(model_->encode("Where is the station?").value(), kWhereIsTheStation);
  EXPECT_EQ(model_->count_tokens("Where is the station?").value(), kWhereIsTheStation.size());
  EXPECT_EQ(model_->encode({}).value(), Ids{0});  // the end token
  EXPECT_EQ(model_->decode(kOuEstLaGare).value(), "Où est la gare ?");
  EXPECT_EQ(model_->decode(kOuEstLaGare, true).value(), "Où est la gare ?</s>");
  EXPECT_EQ(model_->decode({}).value(), "");
}

// These are the ids that a translation is made of, so they give the same one.
TEST_F(ApiTokensDevice, IdsAreThoseOfATranslation) {
  lapilli::Options options;
  options.task = "translate";
  const std::string text = "She has two brothers.";
  const auto by_ids = model_->generate_ids({model_->encode(text, options).value()}).value();
  const auto by_text = model_->translate({text}).value();
  EXPECT_EQ(by_ids[0].sequences[0].ids, by_text[0].sequences[0].ids);
  EXPECT_EQ(model_->decode(by_ids[0].sequences[0].ids).value(), by_text[0].text());
}

TEST_F(ApiTokensDevice, LongTextsAreCountedAsOne) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "Where is the station? ";
  const size_t count = model_->count_tokens(text).value();
  EXPECT_GT(count, 500 * (kWhereIsTheStation.size() - 1) - 1);
  EXPECT_GT(count, model_->info()->max_source_tokens);
}

TEST_F(ApiTokensDevice, RoomIsTheCallers) {
  const lapilli_input text = lapilli_text_of("Where is the station? Goodbye.", 21);
  std::vector<int32_t> ids(8, -7);
  size_t count = 0;
  EXPECT_EQ(lapilli_model_encode(handle(), &text, nullptr, ids.data(), 5, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(error_says("room for 5, and 6 are needed")) << lapilli_last_error();
  EXPECT_EQ(count, 6u);
  EXPECT_EQ(ids, std::vector<int32_t>(8, -7));
  EXPECT_EQ(lapilli_model_encode(handle(), &text, nullptr, nullptr, 6, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_encode(handle(), &text, nullptr, ids.data(), 6, &count), LAPILLI_OK);
  EXPECT_EQ(Ids(ids.begin(), ids.begin() + 6), kWhereIsTheStation);
  EXPECT_EQ(ids[6], -7);

  const lapilli_input said = lapilli_tokens(kOuEstLaGare.data(), kOuEstLaGare.size());
  const std::string want = "Où est la gare ?";
  std::vector<char> room(want.size() + 2, '#');
  EXPECT_EQ(lapilli_model_decode(handle(), &said, 0, room.data(), want.size(), &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(count, want.size());
  EXPECT_EQ(room[0], '#');
  EXPECT_EQ(lapilli_model_decode(handle(), &said, 0, room.data(), want.size() + 1, &count), LAPILLI_OK);
  EXPECT_EQ(room.data(), want);
  EXPECT_EQ(room.back(), '#');
}

TEST_F(ApiTokensDevice, WrongInputs) {
  size_t count = 0;
  lapilli_input text = lapilli_text("Hello."), ids = lapilli_tokens(kOuEstLaGare.data(), 6);
  EXPECT_EQ(lapilli_model_encode(handle(), &ids, nullptr, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(error_says("takes a text")) << lapilli_last_error();
  EXPECT_EQ(lapilli_model_decode(handle(), &text, 0, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(error_says("takes ids")) << lapilli_last_error();
  EXPECT_EQ(lapilli_model_encode(handle(), nullptr, nullptr, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  text.struct_size = 0;
  EXPECT_EQ(lapilli_model_encode(handle(), &text, nullptr, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  text = lapilli_text(nullptr);
  EXPECT_EQ(lapilli_model_count_tokens(handle(), &text, nullptr, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(error_says("pointer is null")) << lapilli_last_error();
  text = lapilli_text("\xff");
  EXPECT_EQ(lapilli_model_count_tokens(handle(), &text, nullptr, &count), LAPILLI_INVALID_ARGUMENT);
  const int32_t negative = -1;
  ids = lapilli_tokens(&negative, 1);
  EXPECT_EQ(lapilli_model_decode(handle(), &ids, 0, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  ids = lapilli_tokens(nullptr, 1);
  EXPECT_EQ(lapilli_model_decode(handle(), &ids, 0, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);

  lapilli::Options options;
  options.task = "translate";
  options.target_language = "de";
  EXPECT_EQ(model_->encode("Hello.", options).error().status(), lapilli::Status::invalid_argument);
  lapilli_options wrong = lapilli_default_options();
  wrong.struct_size = 0;
  text = lapilli_text("Hello.");
  EXPECT_EQ(lapilli_model_encode(handle(), &text, &wrong, nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
}

}  // namespace
