// Encoders of texts through the C interface: vectors, classes of pairs, and everything that may be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/recording_events.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;

const std::string kSentences = LAPILLI_SOURCE_DIR "/tests/data/sentences/";

class ApiDeviceEncoders : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    device_.reset(device);
    embedder_ = load(device_, kSentences + "bert-cls/model");
    reranker_ = load(device_, kSentences + "cross-xlm-roberta/model");
  }
  static void TearDownTestSuite() {
    embedder_.reset();
    reranker_.reset();
    device_.reset();
  }
  static ResultHandle generate(const ModelHandle& model, const std::vector<lapilli_input>& inputs,
                               const lapilli_options& options = lapilli_default_options()) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model.get(), inputs.data(), inputs.size(), &options, &result), LAPILLI_OK)
        << lapilli_last_error();
    return ResultHandle(result);
  }
  static lapilli_vector vector_of(const ResultHandle& result, size_t input) {
    lapilli_vector vector{};
    vector.struct_size = sizeof vector;
    EXPECT_EQ(lapilli_result_get_vector(result.get(), input, &vector), LAPILLI_OK) << lapilli_last_error();
    return vector;
  }
  static std::string refused(const ModelHandle& model, const lapilli_input& input, const lapilli_options& options,
                             lapilli_status status) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model.get(), &input, 1, &options, &result), status) << lapilli_last_error();
    lapilli_result_free(result);
    return lapilli_last_error();
  }
  static DeviceHandle device_;
  static ModelHandle embedder_, reranker_;
};
DeviceHandle ApiDeviceEncoders::device_;
ModelHandle ApiDeviceEncoders::embedder_, ApiDeviceEncoders::reranker_;

TEST_F(ApiDeviceEncoders, AModelSaysWhichKindItIs) {
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(embedder_.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.dimensions, 32u);
  EXPECT_EQ(info.classes, 0u);
  EXPECT_EQ(info.writes_text, 0);
  ASSERT_EQ(lapilli_model_get_info(reranker_.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.dimensions, 0u);
  EXPECT_EQ(info.classes, 1u);
}

TEST_F(ApiDeviceEncoders, VectorsOfTextsAndOfTheirIds) {
  const char* text = "The model works.";
  const std::vector<int32_t> ids{2, 152, 382, 195, 54, 3};
  const ResultHandle result = generate(embedder_, {lapilli_text(text), lapilli_tokens(ids.data(), ids.size())});
  const lapilli_vector of_text = vector_of(result, 0), of_ids = vector_of(result, 1);
  ASSERT_EQ(of_text.dimensions, 32u);
  lapilli_reading reading{};
  reading.struct_size = sizeof reading;
  ASSERT_EQ(lapilli_result_get_reading(result.get(), 0, &reading), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(reading.tokens, ids.size());
  EXPECT_EQ(reading.windows, 1u);
  EXPECT_EQ(reading.cut, 0);
  double length = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_NEAR(of_text.values[i], of_ids.values[i], 1e-6);
    length += double{of_text.values[i]} * of_text.values[i];
  }
  EXPECT_NEAR(length, 1, 1e-5);
}

TEST_F(ApiDeviceEncoders, FewerDimensionsOfLengthOne) {
  lapilli_encoder_options encoder = lapilli_default_encoder_options();
  encoder.dimensions = 8;
  encoder.normalize = 1;
  lapilli_options options = lapilli_default_options();
  options.encoder = &encoder;
  const ResultHandle result = generate(embedder_, {lapilli_text("a")}, options);
  const lapilli_vector vector = vector_of(result, 0);
  ASSERT_EQ(vector.dimensions, 8u);
  double length = 0;
  for (uint32_t i = 0; i < 8; ++i) length += double{vector.values[i]} * vector.values[i];
  EXPECT_NEAR(length, 1, 1e-5);
}

TEST_F(ApiDeviceEncoders, APairHasAScore) {
  const ResultHandle result = generate(reranker_, {lapilli_pair("a question", "an answer")});
  lapilli_class found{};
  found.struct_size = sizeof found;
  ASSERT_EQ(lapilli_result_get_class(result.get(), 0, 0, &found), LAPILLI_OK) << lapilli_last_error();
  EXPECT_NEAR(found.published_score, 1 / (1 + std::exp(-found.score)), 1e-12);
  EXPECT_DOUBLE_EQ(found.probability, found.published_score);
}

TEST_F(ApiDeviceEncoders, VectorsThatAreNotThere) {
  lapilli_vector vector{};
  vector.struct_size = sizeof vector;
  EXPECT_EQ(lapilli_result_get_vector(nullptr, 0, &vector), LAPILLI_INVALID_ARGUMENT);
  const ResultHandle vectors = generate(embedder_, {lapilli_text("a"), lapilli_text("\xff")});
  EXPECT_EQ(lapilli_result_get_vector(vectors.get(), 2, &vector), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_vector(vectors.get(), 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_vector(vectors.get(), 1, &vector), LAPILLI_INVALID_ARGUMENT) << lapilli_last_error();
  EXPECT_THAT(lapilli_last_error(), HasSubstr("UTF-8"));
  const ResultHandle classes = generate(reranker_, {lapilli_pair("a", "b")});
  EXPECT_EQ(lapilli_result_get_vector(classes.get(), 0, &vector), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("classes or spans, no vectors"));
}

TEST_F(ApiDeviceEncoders, OptionsOfOtherKindsAreRefused) {
  lapilli_options options = lapilli_default_options();
  options.task = "translate";
  EXPECT_THAT(refused(embedder_, lapilli_text("a"), options, LAPILLI_UNSUPPORTED), HasSubstr("\"translate\""));
  options = lapilli_default_options();
  options.num_beams = 4;
  EXPECT_THAT(refused(embedder_, lapilli_text("a"), options, LAPILLI_INVALID_ARGUMENT), HasSubstr("num_beams"));
  options = lapilli_default_options();
  EXPECT_THAT(refused(embedder_, lapilli_pair("a", "b"), options, LAPILLI_INVALID_ARGUMENT), HasSubstr("pair"));
  lapilli_encoder_options encoder = lapilli_default_encoder_options();
  options.encoder = &encoder;
  encoder.dimensions = 33;
  EXPECT_THAT(refused(embedder_, lapilli_text("a"), options, LAPILLI_INVALID_ARGUMENT), HasSubstr("33"));
  encoder = lapilli_default_encoder_options();
  encoder.prompt_name = "none such";
  EXPECT_THAT(refused(embedder_, lapilli_text("a"), options, LAPILLI_INVALID_ARGUMENT), HasSubstr("query"));
  encoder = lapilli_default_encoder_options();
  encoder.dimensions = 4;
  EXPECT_THAT(refused(reranker_, lapilli_text("a"), options, LAPILLI_INVALID_ARGUMENT),
              HasSubstr("dimensions is not for this task"));
  encoder = lapilli_default_encoder_options();
  encoder.top_classes = 0;
  EXPECT_THAT(refused(reranker_, lapilli_text("a"), options, LAPILLI_INVALID_ARGUMENT), HasSubstr("top_classes"));
}

}  // namespace
}  // namespace lapilli::test
