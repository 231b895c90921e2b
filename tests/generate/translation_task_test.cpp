// Texts, preparations and models that are pumped: the same results as the calls that wait, no wait of ours in between,
// and nothing made anew within a prepared shape.
#include "generate/translation_task.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "generate/model_loading.hpp"
#include "generate/searches.hpp"

namespace lapilli {
namespace {

using namespace testing_support;

const std::vector<std::string> kTexts = {"Where is the station?", "12", "Good morning. What time is it? Thank you.",
                                         "I would like a cup of coffee, please."};

// The texts outlive the request.
TranslateRequest translation_of(const std::vector<std::string>& texts) {
  TranslateRequest r;
  for (const auto& text : texts) r.inputs.push_back({text, {}, false, {}});
  r.task.task = TextTask::translate;
  r.options.max_new_tokens = 24;
  r.deterministic = true;
  return r;
}

std::string said(const TranslateOutput& out) {
  std::string all;
  for (const TextOutput& output : out.outputs) {
    all += output.status ? output.sequences[0].text : error_code_name(output.status.error().code);
    all += format("|%08x\n", output.status ? std::bit_cast<uint32_t>(output.sequences[0].score) : 0);
  }
  return all;
}

// In small slices, whose number is no matter.
void pump(TranslationTask& search) {
  while (!search.pump(1)) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

class DeviceTranslationTask : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, counted_device(GetParam()));
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, LAPILLI_SOURCE_DIR "/models/en-fr"));
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
};

TEST_P(DeviceTranslationTask, PumpedIsTheSameAsWaitedFor) {
  LAPILLI_ASSERT_VALUE(const auto want, translate(model_, translation_of(kTexts)));
  std::vector<std::string> streamed(kTexts.size());
  std::vector<int> ended(kTexts.size());
  TranslateRequest request = translation_of(kTexts);
  request.stream = [&](size_t input, std::string_view text, std::span<const int32_t>) {
    EXPECT_EQ(ended[input], 0);
    streamed[input] += text;
    return true;
  };
  request.input_ended = [&](size_t input, const Status& status) {
    EXPECT_TRUE(status.ok());
    ++ended[input];
  };
  const auto before = counting::calls();
  LAPILLI_ASSERT_VALUE(const auto search, TranslationTask::start(model_, request));
  pump(*search);
  EXPECT_EQ(counting::waits(counting::since(before)), 0u);
  EXPECT_EQ(search->progress().done, search->progress().total);
  LAPILLI_ASSERT_VALUE(const auto got, search->take());
  EXPECT_EQ(said(got), said(want));
  for (size_t i = 0; i < kTexts.size(); ++i) {
    EXPECT_EQ(streamed[i], want.outputs[i].sequences[0].text);
    EXPECT_EQ(ended[i], 1);
  }
  EXPECT_FALSE(search->take().ok()) << "it was taken";
}

// Two searches at once within the shape, in their starts too; beyond it, something is made.
TEST_P(DeviceTranslationTask, WithinAPreparedShapeNothingIsMade) {
  LAPILLI_ASSERT_VALUE(const auto want, translate(model_, translation_of(kTexts)));
  const TranslateRequest like = translation_of({});
  const auto before_preparing = counting::calls();
  LAPILLI_ASSERT_VALUE(const auto preparation, TranslationTask::prepare(model_, like, {2, 24, 24}));
  pump(*preparation);
  EXPECT_EQ(counting::waits(counting::since(before_preparing)), 0u);
  LAPILLI_ASSERT_VALUE(const auto nothing, preparation->take());
  EXPECT_TRUE(nothing.outputs.empty());
  EXPECT_FALSE(nothing.cancelled);

  const auto before = counting::calls();
  LAPILLI_ASSERT_VALUE(const auto first, TranslationTask::start(model_, translation_of(kTexts)));
  LAPILLI_ASSERT_VALUE(const auto second, TranslationTask::start(model_, translation_of(kTexts)));
  for (bool ended = false; !ended;) {
    const bool one = first->pump(1), other = second->pump(1);
    ended = one && other;
  }
  LAPILLI_ASSERT_VALUE(const auto one, first->take());
  LAPILLI_ASSERT_VALUE(const auto other, second->take());
  const auto calls = counting::since(before);
  EXPECT_THAT(counting::setup_calls(calls), testing::IsEmpty()) << counting::to_string(calls);
  EXPECT_EQ(counting::waits(calls), 0u);
  EXPECT_EQ(said(one), said(want));
  EXPECT_EQ(said(other), said(want));

  std::string longer;
  for (int i = 0; i < 12; ++i) longer += "the black dog and ";
  const std::vector<std::string> beyond = {longer + "the cat."};
  const auto before_longer = counting::calls();
  LAPILLI_ASSERT_VALUE(const auto out, translate(model_, translation_of(beyond)));
  EXPECT_TRUE(out.outputs[0].status.ok());
  EXPECT_THAT(counting::setup_calls(counting::since(before_longer)), testing::Not(testing::IsEmpty()));
}

TEST_P(DeviceTranslationTask, CancelledAndDroppedAtAnyTime) {
  const std::vector<std::string> one = {kTexts[0]};
  LAPILLI_ASSERT_VALUE(const auto want, translate(model_, translation_of(one)));
  for (const int pumps : {0, 1, 2, 3, 5, 9}) {
    LAPILLI_ASSERT_VALUE(auto search, TranslationTask::start(model_, translation_of(kTexts)));
    bool ended = false;
    for (int i = 0; i < pumps; ++i) ended = search->pump(1);
    if (pumps % 2 == 0) continue;  // dropped
    search->cancel();
    pump(*search);
    LAPILLI_ASSERT_VALUE(const auto out, search->take());
    EXPECT_EQ(out.cancelled, !ended) << pumps;
    EXPECT_EQ(out.outputs.size(), kTexts.size());
  }
  LAPILLI_ASSERT_VALUE(auto preparation, TranslationTask::prepare(model_, translation_of({}), {1, 8, 8}));
  preparation->cancel();
  pump(*preparation);
  EXPECT_TRUE(preparation->take()->cancelled);
  LAPILLI_ASSERT_VALUE(const auto again, translate(model_, translation_of(one)));
  EXPECT_EQ(said(again), said(want));
}

TEST_P(DeviceTranslationTask, ShapesThatCannotBe) {
  EXPECT_FALSE(TranslationTask::prepare(model_, translation_of({}), {2000, 8, 8}).ok());
  EXPECT_FALSE(TranslationTask::prepare(model_, translation_of({}), {1, 1u << 20, 8}).ok());
  EXPECT_FALSE(TranslationTask::prepare(model_, translation_of({}), {1, 8, ~0u}).ok());
  TranslateRequest wrong = translation_of({});
  wrong.options.num_beams = 0;
  EXPECT_FALSE(TranslationTask::prepare(model_, wrong, {}).ok());
}

// The same model as load() gives, in slices, and without a wait.
TEST_P(DeviceTranslationTask, ModelsLoadInSteps) {
  LAPILLI_ASSERT_VALUE(const auto want, translate(model_, translation_of(kTexts)));
  const auto before = counting::calls();
  ModelLoading loading(device_, LAPILLI_SOURCE_DIR "/models/en-fr", {});
  EXPECT_FALSE(loading.take().ok()) << "it has not ended";
  uint64_t done = 0;
  while (!loading.pump(0)) {
    EXPECT_GE(loading.bytes_done(), done);
    EXPECT_LE(loading.bytes_done(), loading.bytes());
    done = loading.bytes_done();
  }
  EXPECT_EQ(counting::waits(counting::since(before)), 0u);
  EXPECT_GT(loading.bytes(), 1000000u);
  EXPECT_EQ(loading.bytes_done(), loading.bytes());
  LAPILLI_ASSERT_VALUE(const auto model, loading.take());
  LAPILLI_ASSERT_VALUE(const auto got, translate(model, translation_of(kTexts)));
  EXPECT_EQ(said(got), said(want));
}

TEST_P(DeviceTranslationTask, LoadingIsCancelledAndDroppedAtAnyTime) {
  ASSERT_TRUE(device_->settle());
  const auto before = counting::living();
  for (const int slices : {0, 1, 2, 30, 60, 100}) {
    ModelLoading loading(device_, LAPILLI_SOURCE_DIR "/models/en-fr", {});
    bool ended = false;
    for (int i = 0; i < slices && !ended; ++i) ended = loading.pump(0);
    EXPECT_FALSE(ended) << slices;
    if (slices % 4 == 0) continue;  // dropped
    loading.cancel();
    EXPECT_TRUE(loading.pump());
    EXPECT_EQ(loading.take().error().code, ErrorCode::cancelled);
  }
  ASSERT_TRUE(device_->settle());
  EXPECT_EQ(counting::living()["Buffer"], before.at("Buffer"));
  ModelLoading nowhere(device_, "/nonexistent", {});
  EXPECT_TRUE(nowhere.pump());
  EXPECT_EQ(nowhere.take().error().code, ErrorCode::not_found);
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceTranslationTask, testing::Values("full", "staging", "floor", "no-timeline"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
