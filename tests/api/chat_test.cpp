// Chats with a decoder through the C interface: a small model that always says the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/recording_events.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;

const std::string kChatModel = LAPILLI_TEST_DATA "/chat/tiny";

class ApiDeviceChat : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    device_.reset(device);
    model_ = load(device_, kChatModel);
  }
  static void TearDownTestSuite() {
    model_.reset();
    device_.reset();
  }

  ApiDeviceChat() {
    chat_.use = 1;
    options_.chat = &chat_;
    options_.stream_user = &streamed_;
    options_.stream = [](void* user, const lapilli_stream_event* event) {
      static_cast<std::string*>(user)->append(event->text, event->text_bytes);
      return 0;
    };
  }
  void stop_at(std::vector<const char*> stops) {
    stops_ = std::move(stops);
    chat_.stops = stops_.data();
    chat_.stop_count = stops_.size();
  }
  lapilli_sequence answer(const char* text) {
    const lapilli_input input = lapilli_text(text);
    lapilli_result* result = nullptr;
    streamed_.clear();
    EXPECT_EQ(lapilli_generate(model_.get(), &input, 1, &options_, &result), LAPILLI_OK) << lapilli_last_error();
    result_.reset(result);
    lapilli_sequence sequence{};
    sequence.struct_size = sizeof sequence;
    EXPECT_EQ(lapilli_result_get(result, 0, 0, &sequence), LAPILLI_OK) << lapilli_last_error();
    EXPECT_EQ(streamed_, std::string(sequence.text));
    return sequence;
  }
  std::string refused(const char* text) {
    const lapilli_input input = lapilli_text(text);
    lapilli_result* result = nullptr;
    lapilli_sequence sequence{};
    sequence.struct_size = sizeof sequence;
    const lapilli_status status = lapilli_generate(model_.get(), &input, 1, &options_, &result);
    result_.reset(result);
    EXPECT_TRUE(status != LAPILLI_OK || lapilli_result_get(result, 0, 0, &sequence) != LAPILLI_OK);
    return lapilli_last_error();
  }

  static DeviceHandle device_;
  static ModelHandle model_;
  lapilli_chat_options chat_ = lapilli_default_chat_options();
  lapilli_options options_ = lapilli_default_options();
  std::vector<const char*> stops_;
  const int32_t no_end_ = 0;  // an id that the model never writes
  ResultHandle result_;
  std::string streamed_;
};
DeviceHandle ApiDeviceChat::device_;
ModelHandle ApiDeviceChat::model_;

// generation_config.json names another end: that of the tokenizer and of the template's turns counts as well.
TEST_F(ApiDeviceChat, AnAnswerEndsWithTheTemplatesTurn) {
  const lapilli_sequence said = answer("Hello!");
  EXPECT_STREQ(said.text, "<think>A greeting.</think>\n\nGood day! How are you?");
  EXPECT_EQ(said.finish, LAPILLI_FINISH_STOP);
}

TEST_F(ApiDeviceChat, ThoughtsAreLeftOut) {
  chat_.leave_out_thoughts = 1;
  EXPECT_STREQ(answer("Hello!").text, "Good day! How are you?");
  chat_.leave_out_thoughts = 0;
  chat_.arguments = "{\"enable_thinking\": false}";
  EXPECT_STREQ(answer("Hello!").text, "Good day! How are you?");
}

TEST_F(ApiDeviceChat, AStopTextEndsTheSearch) {
  stop_at({"day! How"});
  const lapilli_sequence cut = answer("Hello!");
  EXPECT_STREQ(cut.text, "<think>A greeting.</think>\n\nGood ");
  EXPECT_EQ(cut.finish, LAPILLI_FINISH_STOP);
  EXPECT_LT(cut.ids.count, 10u);
  EXPECT_TRUE(std::isnan(cut.score));
  EXPECT_EQ(cut.repeats, 0);
  stop_at({"never", "you? Well"});
  EXPECT_STREQ(answer("Hello!").text, "<think>A greeting.</think>\n\nGood day! How are you?");
}

TEST_F(ApiDeviceChat, SeveralInputsAreSeveralChats) {
  stop_at({" are"});
  options_.stream = nullptr;
  const lapilli_input inputs[] = {lapilli_text("Hello!"), lapilli_text("Good morning."), lapilli_text("a")};
  lapilli_result* result = nullptr;
  ASSERT_EQ(lapilli_generate(model_.get(), inputs, 3, &options_, &result), LAPILLI_OK) << lapilli_last_error();
  result_.reset(result);
  for (size_t i = 0; i < 3; ++i) {
    lapilli_sequence sequence{};
    sequence.struct_size = sizeof sequence;
    ASSERT_EQ(lapilli_result_get(result, i, 0, &sequence), LAPILLI_OK) << lapilli_last_error();
    EXPECT_STREQ(sequence.text, "<think>A greeting.</think>\n\nGood day! How");
  }
}

// Beams go on behind a stop text, a greedy search ends there.
TEST_F(ApiDeviceChat, IdsEndWithTheStopText) {
  stop_at({"day! How"});
  const size_t count = answer("Hello!").ids.count;
  options_.max_new_tokens = static_cast<int32_t>(count);
  EXPECT_EQ(answer("Hello!").finish, LAPILLI_FINISH_STOP);
  options_.max_new_tokens = static_cast<int32_t>(count) - 1;
  EXPECT_EQ(answer("Hello!").finish, LAPILLI_FINISH_LENGTH);
  options_.max_new_tokens = LAPILLI_MODEL_DEFAULT;
  options_.num_beams = 2;
  const lapilli_sequence beams = answer("Hello!");
  EXPECT_EQ(beams.ids.count, count);
  EXPECT_TRUE(std::isnan(beams.score));
}

TEST_F(ApiDeviceChat, ScoresTakeNoOptionsOfAnswers) {
  options_.task = "score";
  EXPECT_THAT(refused("Hello!"), HasSubstr("lapilli_chat_options.use is not for the task \"score\""));
  chat_.use = 0;
  options_.max_new_tokens = 5;
  EXPECT_THAT(refused("Hello!"), HasSubstr("lapilli_options.max_new_tokens is not for the task \"score\""));
}

// The prompt of one leaves less room than an answer may take; the other has all of its own.
TEST_F(ApiDeviceChat, ALongTextShortensNoOtherAnswer) {
  options_.stream = nullptr;
  std::string filler;
  for (int i = 0; i < 470; ++i) filler += "a";
  const lapilli_input inputs[] = {lapilli_text(filler.c_str()), lapilli_text("Hello!")};
  options_.end_tokens = {&no_end_, 1};
  lapilli_result* result = nullptr;
  ASSERT_EQ(lapilli_generate(model_.get(), inputs, 2, &options_, &result), LAPILLI_OK) << lapilli_last_error();
  result_.reset(result);
  size_t counts[2] = {};
  for (size_t i = 0; i < 2; ++i) {
    lapilli_sequence sequence{};
    sequence.struct_size = sizeof sequence;
    ASSERT_EQ(lapilli_result_get(result, i, 0, &sequence), LAPILLI_OK) << lapilli_last_error();
    counts[i] = sequence.ids.count;
  }
  EXPECT_LT(counts[0], 100u);
  EXPECT_GT(counts[1], 400u);
}

TEST_F(ApiDeviceChat, TheTemplateRefusesInItsOwnWords) {
  chat_.messages = "[{\"role\": \"tool\", \"content\": \"a\"}]";
  EXPECT_THAT(refused("Hello!"), HasSubstr("There is no role tool."));
  chat_.messages = "[{\"role\": \"user\"";
  EXPECT_THAT(refused("Hello!"), HasSubstr("messages is no JSON"));
}

TEST_F(ApiDeviceChat, FewerTokensThanTheAnswerHas) {
  options_.max_new_tokens = 5;
  const lapilli_sequence cut = answer("Hello!");
  EXPECT_EQ(cut.finish, LAPILLI_FINISH_LENGTH);
  EXPECT_EQ(cut.ids.count, 5u);
}

TEST(ApiChat, APromptNeedsNoModel) {
  lapilli_chat_options chat = lapilli_default_chat_options();
  chat.system = "Be brief.";
  size_t bytes = 0;
  ASSERT_EQ(lapilli_chat_prompt(kChatModel.c_str(), "Hi", &chat, nullptr, 0, &bytes), LAPILLI_OK)
      << lapilli_last_error();
  std::string text(bytes + 1, '\0');
  ASSERT_EQ(lapilli_chat_prompt(kChatModel.c_str(), "Hi", &chat, text.data(), text.size(), &bytes), LAPILLI_OK);
  text.resize(bytes);
  EXPECT_EQ(text, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(lapilli_chat_prompt(LAPILLI_TEST_DATA "/decoders/gpt2/model", "Hi", &chat, nullptr, 0, &bytes),
            LAPILLI_UNSUPPORTED);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("no chat template"));
}

}  // namespace
}  // namespace lapilli::test
