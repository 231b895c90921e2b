// Tags, answers, words for masks and labels of the caller through the C interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/recording_events.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const std::string kModels = LAPILLI_SOURCE_DIR "/tests/data/sentences/";

class ApiDeviceSpans : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    device_.reset(device);
    tagger_ = load(device_, kModels + "dslim__bert-base-NER/model");
    answerer_ = load(device_, kModels + "deepset__roberta-base-squad2/model");
    filler_ = load(device_, kModels + "google-bert__bert-base-uncased@2018/model");
    entailer_ = load(device_, kModels + "zero-shot-bart/model");
  }
  static void TearDownTestSuite() {
    for (ModelHandle* model : {&tagger_, &answerer_, &filler_, &entailer_}) model->reset();
    device_.reset();
  }
  ResultHandle generate(const ModelHandle& model, const std::vector<lapilli_input>& inputs) {
    options_.encoder = &encoder_;
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model.get(), inputs.data(), inputs.size(), &options_, &result), LAPILLI_OK)
        << lapilli_last_error();
    return ResultHandle(result);
  }
  std::string refused(const ModelHandle& model, const lapilli_input& input,
                      lapilli_status status = LAPILLI_INVALID_ARGUMENT) {
    options_.encoder = &encoder_;
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model.get(), &input, 1, &options_, &result), status) << lapilli_last_error();
    lapilli_result_free(result);
    return lapilli_last_error();
  }
  static std::vector<lapilli_span> spans_of(const ResultHandle& result, size_t input) {
    size_t count = 0;
    EXPECT_EQ(lapilli_result_spans(result.get(), input, &count), LAPILLI_OK) << lapilli_last_error();
    std::vector<lapilli_span> spans(count);
    for (size_t i = 0; i < count; ++i) {
      spans[i].struct_size = sizeof(lapilli_span);
      EXPECT_EQ(lapilli_result_get_span(result.get(), input, i, &spans[i]), LAPILLI_OK) << lapilli_last_error();
    }
    return spans;
  }
  static lapilli_reading reading_of(const ResultHandle& result, size_t input) {
    lapilli_reading reading{};
    reading.struct_size = sizeof reading;
    EXPECT_EQ(lapilli_result_get_reading(result.get(), input, &reading), LAPILLI_OK) << lapilli_last_error();
    return reading;
  }
  lapilli_options options_ = lapilli_default_options();
  lapilli_encoder_options encoder_ = lapilli_default_encoder_options();
  static DeviceHandle device_;
  static ModelHandle tagger_, answerer_, filler_, entailer_;
};
DeviceHandle ApiDeviceSpans::device_;
ModelHandle ApiDeviceSpans::tagger_, ApiDeviceSpans::answerer_, ApiDeviceSpans::filler_, ApiDeviceSpans::entailer_;

size_t characters_before(const std::string& text, size_t byte) {
  size_t count = 0;
  for (size_t i = 0; i < byte; ++i) count += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
  return count;
}

// The slice by bytes, the slice by characters and the printed span are one string.
void expect_places(const std::vector<lapilli_span>& spans, const std::string& text) {
  for (const lapilli_span& span : spans) {
    ASSERT_LE(span.end, text.size());
    EXPECT_EQ(text.substr(span.begin, span.end - span.begin), span.text);
    EXPECT_EQ(span.text_bytes, span.end - span.begin);
    EXPECT_EQ(span.first_character, characters_before(text, span.begin));
    EXPECT_EQ(span.end_character, characters_before(text, span.end));
  }
}

TEST_F(ApiDeviceSpans, TagsHavePlacesInBytesAndCharacters) {
  const std::string text =
      "  Anna Mu\xCC\x88ller lives in Gen\xC3\xA8ve,\r\nand Paul works \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80 "
      "for Lapilli.";
  for (const char* aggregation : {"none", "simple", "first", "average", "max"}) {
    encoder_.aggregation = aggregation;
    const ResultHandle result = generate(tagger_, {lapilli_text(text.c_str())});
    const auto spans = spans_of(result, 0);
    EXPECT_GT(spans.size(), 2u) << aggregation;
    expect_places(spans, text);
    for (const lapilli_span& span : spans) {
      EXPECT_GT(span.score, 0) << aggregation;
      EXPECT_LE(span.score, 1) << aggregation;
      EXPECT_EQ(std::string(span.label).substr(0, 2) == "B-",
                std::string(aggregation) == "none" && span.label[0] == 'B');
    }
  }
  encoder_.aggregation = nullptr;
  const ResultHandle by_default = generate(tagger_, {lapilli_text(text.c_str())});
  const auto usual = spans_of(by_default, 0);
  const std::string first = usual.front().label;
  const char* const none[] = {nullptr};
  encoder_.ignored_labels = none;
  const ResultHandle everything = generate(tagger_, {lapilli_text(text.c_str())});
  EXPECT_GT(spans_of(everything, 0).size(), usual.size());
  const char* const both[] = {"O", first.c_str()};
  encoder_.ignored_labels = both;
  encoder_.ignored_label_count = 2;
  const ResultHandle others = generate(tagger_, {lapilli_text(text.c_str())});
  for (const lapilli_span& span : spans_of(others, 0)) EXPECT_NE(span.label, first);
  encoder_.ignored_labels = none;
  EXPECT_THAT(refused(tagger_, lapilli_text("a")), HasSubstr("ignored_labels[0] is null"));
  encoder_.ignored_labels = nullptr;
  encoder_.ignored_label_count = 0;
  encoder_.aggregation = "sum";
  EXPECT_THAT(refused(tagger_, lapilli_text("a")), HasSubstr("\"average\""));
}

TEST_F(ApiDeviceSpans, LongTextsRunInWindowsThatShareNothingTwice) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Anna M\xC3\xBCller lives in Gen\xC3\xA8ve, and Paul works for Lapilli. ";
  const ResultHandle whole = generate(tagger_, {lapilli_text(text.c_str())});
  EXPECT_GT(reading_of(whole, 0).windows, 2u);
  EXPECT_EQ(reading_of(whole, 0).cut, 0);
  const auto spans = spans_of(whole, 0);
  expect_places(spans, text);
  for (size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].begin, spans[i - 1].end) << i;
  EXPECT_GT(spans.back().end, text.size() - 60);
  encoder_.cut_texts = 1;
  const ResultHandle cut = generate(tagger_, {lapilli_text(text.c_str())});
  EXPECT_EQ(reading_of(cut, 0).windows, 1u);
  EXPECT_EQ(reading_of(cut, 0).cut, 1);
  EXPECT_LT(spans_of(cut, 0).back().end, text.size() / 2);
}

TEST_F(ApiDeviceSpans, AnswersStandInTheText) {
  const std::string context =
      "The quick brown fox jumps over the lazy dog near the river bank.  The fox is called Reinhard.";
  encoder_.top_spans = 3;
  const ResultHandle result = generate(answerer_, {lapilli_pair("Who wrote the translator?", context.c_str())});
  const auto spans = spans_of(result, 0);
  ASSERT_THAT(spans, SizeIs(3));
  expect_places(spans, context);
  EXPECT_GE(spans[0].score, spans[1].score);
  EXPECT_GE(spans[1].score, spans[2].score);
  EXPECT_THAT(refused(answerer_, lapilli_text("no question")), HasSubstr("lapilli_pair"));
  encoder_.max_answer_tokens = 0;
  EXPECT_THAT(refused(answerer_, lapilli_pair("a", "b")), HasSubstr("max_answer_tokens"));
}

TEST_F(ApiDeviceSpans, EachMaskHasItsWords) {
  options_.task = "fill";
  encoder_.top_spans = 2;
  const std::string text = "[MASK] ate a [MASK].";
  const ResultHandle result = generate(filler_, {lapilli_text(text.c_str()), lapilli_text("no mask")});
  const auto spans = spans_of(result, 0);
  ASSERT_THAT(spans, SizeIs(4));
  EXPECT_EQ(spans[0].begin, 0u);
  EXPECT_EQ(spans[1].end, 6u);
  EXPECT_EQ(spans[2].begin, text.rfind('['));
  EXPECT_GE(spans[2].score, spans[3].score);
  EXPECT_GE(spans[0].token, 0);
  EXPECT_THAT(spans[0].filled, HasSubstr("[MASK]"));  // the other one stays
  lapilli_reading reading{};
  reading.struct_size = sizeof reading;
  EXPECT_EQ(lapilli_result_get_reading(result.get(), 1, &reading), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("[MASK]"));
}

TEST_F(ApiDeviceSpans, LabelsOfTheCaller) {
  const char* const labels[] = {"urgent", "a phone", "cooking"};
  encoder_.labels = labels;
  encoder_.label_count = 3;
  const ResultHandle result = generate(entailer_, {lapilli_text("My phone needs to be repaired.")});
  size_t classes = 0;
  ASSERT_EQ(lapilli_result_classes(result.get(), 0, &classes), LAPILLI_OK);
  ASSERT_EQ(classes, 3u);
  double sum = 0;
  for (size_t i = 0; i < classes; ++i) {
    lapilli_class found{};
    found.struct_size = sizeof found;
    ASSERT_EQ(lapilli_result_get_class(result.get(), 0, i, &found), LAPILLI_OK);
    EXPECT_STREQ(found.label, labels[found.index]);
    sum += found.probability;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(reading_of(result, 0).windows, 3u);
  encoder_.hypothesis = "no place for the label";
  EXPECT_THAT(refused(entailer_, lapilli_text("a")), HasSubstr("{}"));
  encoder_.hypothesis = nullptr;
  encoder_.labels = nullptr;
  EXPECT_THAT(refused(entailer_, lapilli_text("a")), HasSubstr("labels is null"));
}

TEST_F(ApiDeviceSpans, ATaskThatTheModelDoesNotServe) {
  options_.task = "answer";
  EXPECT_THAT(refused(tagger_, lapilli_pair("a", "b"), LAPILLI_UNSUPPORTED), HasSubstr("lapilli tag"));
  options_.task = "tag";
  EXPECT_THAT(refused(filler_, lapilli_text("a"), LAPILLI_UNSUPPORTED), HasSubstr("lapilli fill or lapilli embed"));
  options_.task = nullptr;
  encoder_.allow_empty = 1;
  EXPECT_THAT(refused(tagger_, lapilli_text("a")), HasSubstr("allow_empty is not for this task, which is \"tag\""));
}

TEST_F(ApiDeviceSpans, SpansThatAreNotThere) {
  size_t count = 7;
  lapilli_span span{};
  span.struct_size = sizeof span;
  lapilli_reading reading{};
  reading.struct_size = sizeof reading;
  const ResultHandle result = generate(tagger_, {lapilli_text("Anna")});
  EXPECT_EQ(lapilli_result_spans(nullptr, 0, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(lapilli_result_spans(result.get(), 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_spans(result.get(), 1, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_span(result.get(), 0, 1000, &span), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("span 1000 of"));
  EXPECT_EQ(lapilli_result_get_reading(result.get(), 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_reading(result.get(), 2, &reading), LAPILLI_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace lapilli::test
