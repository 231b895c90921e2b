// A device that is lost under a job of recordings or pictures: what was told stays, the rest comes as if nothing had
// been. Through the counting table, which also shows that nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "api/handles.hpp"
#include "api/recording_events.hpp"
#include "support/counting_vulkan.hpp"
#include "support/host_device.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;

vulkan::DeviceOptions device_options() {
  vulkan::DeviceOptions options;
  options.max_submit_us = 1'000'000'000;  // what is counted does not depend on how busy the machine is
  options.get_instance_proc_addr = counting::get_instance_proc_addr();
  return options;
}

DeviceHandle open_device() {
  auto made = vulkan::Device::create(device_options());
  EXPECT_TRUE(made.ok()) << made.error().message;
  if (!made) return {};
  DeviceHandle handle(new lapilli_device);
  handle->place = std::make_shared<api::ReplaceableDevice>(std::move(*made), device_options());
  return handle;
}

std::string alive() {
  std::string s;
  for (const auto& [kind, n] : counting::living()) s += kind + " " + std::to_string(n) + " ";
  return s;
}

class ApiLossDeviceMedia : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    lapilli_set_log(LAPILLI_LOG_ERROR, nullptr, nullptr);  // each loss is a warning
    long_ = samples_of("long.wav");
    long_.resize(48000);
  }
  void TearDown() override {
    lapilli_set_log(LAPILLI_LOG_NOTE, nullptr, nullptr);
    counting::reset();
  }

  // A recording that is there and one that goes on, pushed whenever the job wants more.
  std::string transcribe(lapilli_status* status) {
    const DeviceHandle device = open_device();
    lapilli_model* loaded = nullptr;
    if ((*status = lapilli_model_load(device.get(), (kWhisper + "/model").c_str(), &loaded)) != LAPILLI_OK) return "";
    const ModelHandle model(loaded);
    const lapilli_input inputs[] = {input_of(long_), lapilli_sample_stream(16000)};
    const AllOptions options = speech_options(nullptr);
    lapilli_job* started = nullptr;
    if ((*status = lapilli_job_start(loaded, inputs, 2, &options, &started)) != LAPILLI_OK) return "";
    const JobHandle job(started);
    Events events(2);
    size_t at = 0;
    for (int32_t finished = 0; !finished; events.read(started)) {
      EXPECT_EQ(lapilli_job_wait(started, LAPILLI_UNLIMITED, &finished), LAPILLI_OK) << lapilli_last_error();
      if (finished) break;
      const size_t n = std::min<size_t>(9000, long_.size() - at);
      EXPECT_EQ(
          n > 0 ? lapilli_job_append_samples(started, 1, long_.data() + at, n) : lapilli_job_end_samples(started, 1),
          LAPILLI_OK)
          << lapilli_last_error();
      at += n;
    }
    events.read(started);
    lapilli_result* taken = nullptr;
    *status = lapilli_job_take(started, &taken);
    const ResultHandle result(taken);
    if (*status != LAPILLI_OK) return lapilli_last_error();
    for (const size_t i : {0, 1}) events.expect_is(taken, i);
    return events.segments[0] + "--\n" + events.segments[1];
  }
  void lose_at_each(uint64_t first, uint64_t stride) {
    lapilli_status status = LAPILLI_OK;
    const std::string want = transcribe(&status);
    ASSERT_EQ(status, LAPILLI_OK) << want;
    ASSERT_NE(want.find("249"), want.npos) << want;
    int losses = 0;
    for (uint64_t nth = first;; nth += stride) {
      ASSERT_LT(nth, 5000u);
      counting::reset();
      counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST, nth);
      const std::string got = transcribe(&status);
      ASSERT_EQ(alive(), "") << "after submission " << nth;
      ASSERT_EQ(status, LAPILLI_OK) << "submission " << nth << ": " << got;
      ASSERT_EQ(got, want) << "submission " << nth;
      if (!counting::failed()) break;
      ++losses;
    }
    EXPECT_GT(losses, 2);
  }
  std::vector<float> long_;
};

TEST_F(ApiLossDeviceMedia, TheSameSegmentsAfterALoss) { lose_at_each(9, 41); }
TEST_F(ApiLossDeviceMedia, TheSameSegmentsAfterALossAtAnySubmission) { lose_at_each(1, 1); }

// Text and classes of two inputs, from opening the device to the end.
std::string said(const std::string& directory, const std::vector<lapilli_input>& inputs) {
  const DeviceHandle device = open_device();
  const ModelHandle model = load(device, directory);
  AllOptions options = lapilli_default_options();
  options.max_length = 12;
  lapilli_job* started = nullptr;
  EXPECT_EQ(lapilli_job_start(model.get(), inputs.data(), inputs.size(), &options, &started), LAPILLI_OK)
      << lapilli_last_error();
  const JobHandle job(started);
  int32_t finished = 0;
  EXPECT_EQ(lapilli_job_wait(started, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  Events events(inputs.size());
  events.read(started);
  lapilli_result* taken = nullptr;
  EXPECT_EQ(lapilli_job_take(started, &taken), LAPILLI_OK) << lapilli_last_error();
  const ResultHandle result(taken);
  std::string lines;
  for (size_t i = 0; i < inputs.size() && taken; ++i) {
    events.expect_is(taken, i);
    lines += events.texts[i] + "|" + line_of(0, 0, {events.ids[i].data(), events.ids[i].size()});
  }
  return lines;
}

TEST_F(ApiLossDeviceMedia, PicturesAndWholeRecordings) {
  const TempDirectory folder;
  const auto complete = [&](const std::string& name, const char* preprocessor) {
    std::filesystem::copy(kModels + name + "/model", folder.path() + "/" + name);
    std::ofstream(folder.path() + "/" + name + "/preprocessor_config.json") << preprocessor;
    return folder.path() + "/" + name;
  };
  const char* const vit = R"({"image_processor_type": "ViTImageProcessor", "size": 32})";
  const char* const sound = R"({"feature_extractor_type": "Wav2Vec2FeatureExtractor", "sampling_rate": 16000})";
  std::vector<uint8_t> rgb(size_t{20} * 15 * 3);
  for (size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<uint8_t>(i * 7);
  const std::vector<lapilli_input> pictures = {lapilli_pixels(rgb.data(), 20, 15), lapilli_pixels(rgb.data(), 10, 10)};
  const std::vector<lapilli_input> recordings = {lapilli_samples(long_.data(), 9000, 16000),
                                                 lapilli_samples(long_.data() + 500, 7000, 16000)};
  for (const auto& [directory, inputs] :
       {std::pair(complete("vit-image-classification", vit), pictures), std::pair(complete("vit-gpt2", vit), pictures),
        std::pair(complete("moonshine", sound), recordings)}) {
    counting::reset();
    const auto before = counting::calls();
    const std::string want = said(directory, inputs);
    const uint64_t submissions = counting::since(before)["vkQueueSubmit"];
    ASSERT_GT(submissions, 5u) << directory;
    // How many there are goes by how fast the device seems to be: the last ones may not come another time.
    int lost = 0;
    for (const uint64_t nth : {submissions / 4, submissions * 3 / 4, submissions - 1}) {
      counting::reset();
      counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST, nth);
      EXPECT_EQ(said(directory, inputs), want) << directory << ", submission " << nth << " of " << submissions;
      EXPECT_EQ(alive(), "");
      lost += counting::failed();
    }
    EXPECT_GE(lost, 2) << directory;
  }
}

// Samples that are asked for anew, cut where they are quiet.
TEST_F(ApiLossDeviceMedia, PiecesOfPulledSamples) {
  const auto read = [](void* user, uint64_t first, float* to, uint64_t room, uint64_t* got) -> lapilli_status {
    const auto& samples = *static_cast<const std::vector<float>*>(user);
    std::copy_n(samples.begin() + static_cast<ptrdiff_t>(first), room, to);
    *got = room;
    return LAPILLI_OK;
  };
  lapilli_sample_source source = lapilli_default_sample_source();
  source.user = &long_;
  source.count = long_.size();
  source.read = read;
  const auto transcribe = [&] {
    const DeviceHandle device = open_device();
    const ModelHandle model = load(device, kWhisper + "/model");
    AllOptions options = speech_options(nullptr);
    options.of_speech.chunks = 2;
    const lapilli_input input = lapilli_pulled_samples(&source, 16000);
    lapilli_job* started = nullptr;
    EXPECT_EQ(lapilli_job_start(model.get(), &input, 1, &options, &started), LAPILLI_OK) << lapilli_last_error();
    const JobHandle job(started);
    int32_t finished = 0;
    EXPECT_EQ(lapilli_job_wait(started, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
    Events events(1);
    events.read(started);
    lapilli_result* taken = nullptr;
    EXPECT_EQ(lapilli_job_take(started, &taken), LAPILLI_OK) << lapilli_last_error();
    const ResultHandle result(taken);
    if (taken) events.expect_is(taken, 0);
    return events.segments[0];
  };
  const auto before = counting::calls();
  const std::string want = transcribe();
  const uint64_t submissions = counting::since(before)["vkQueueSubmit"];
  ASSERT_GT(submissions, 20u);
  ASSERT_FALSE(want.empty());
  // Behind a third of them, three look for the language. Not the last ones: how many there are depends on how long the
  // first ones took.
  std::vector<uint64_t> losses = {submissions / 4, submissions / 4 * 3};
  for (uint64_t i = 0; i < 8; i += 2) losses.push_back(submissions / 3 + i);
  for (const uint64_t nth : losses) {
    counting::reset();
    counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST, nth);
    EXPECT_EQ(transcribe(), want) << "submission " << nth << " of " << submissions;
    EXPECT_TRUE(counting::failed());
    EXPECT_EQ(alive(), "");
  }
}

// A job of a host's device ends, holds nothing, and goes on with another model, whose samples come meanwhile.
TEST_F(ApiLossDeviceMedia, GoesOnWithAnotherModel) {
  lapilli_status status = LAPILLI_OK;
  const std::string want = transcribe(&status);
  counting::reset();
  counting::HostOptions host_options;
  host_options.get_instance_proc_addr = counting::get_instance_proc_addr();
  auto host = counting::HostDevice::create(host_options);
  ASSERT_TRUE(host);
  auto made = vulkan::Device::adopt(host->handles(), device_options());
  ASSERT_TRUE(made.ok()) << made.error().message;
  DeviceHandle device(new lapilli_device);
  device->place = std::make_shared<api::ReplaceableDevice>(std::move(*made), std::nullopt);
  ModelHandle model = load(device, kWhisper + "/model");
  const lapilli_input inputs[] = {input_of(long_), lapilli_sample_stream(16000)};
  const AllOptions options = speech_options(nullptr);
  lapilli_job* started = nullptr;
  ASSERT_EQ(lapilli_job_start(model.get(), inputs, 2, &options, &started), LAPILLI_OK) << lapilli_last_error();
  const JobHandle job(started);
  ASSERT_EQ(lapilli_job_append_samples(started, 1, long_.data(), 20000), LAPILLI_OK);
  Events events(2);
  int32_t finished = 0;
  while (!finished && events.segments[0].empty()) {
    ASSERT_EQ(lapilli_job_pump(started, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
    events.read(started);
  }
  counting::fail("vkQueueSubmit", VK_ERROR_DEVICE_LOST);
  ASSERT_EQ(lapilli_job_wait(started, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  ASSERT_TRUE(finished && counting::failed());
  events.read(started);
  EXPECT_THAT(events.message, HasSubstr("adopt the new device"));
  events.ends = 0;
  model.reset();
  device.reset();
  host.reset();
  EXPECT_EQ(alive(), "") << "the job holds what the host must destroy";
  ASSERT_EQ(lapilli_job_append_samples(started, 1, long_.data() + 20000, long_.size() - 20000), LAPILLI_OK)
      << lapilli_last_error();
  ASSERT_EQ(lapilli_job_end_samples(started, 1), LAPILLI_OK);

  const DeviceHandle other = open_device();
  const ModelHandle marian = load(other, kModels + "marian/model");
  EXPECT_EQ(lapilli_job_resume(started, marian.get()), LAPILLI_INVALID_ARGUMENT);
  const ModelHandle again = load(other, kWhisper + "/model");
  ASSERT_EQ(lapilli_job_resume(started, again.get()), LAPILLI_OK) << lapilli_last_error();
  ASSERT_EQ(lapilli_job_wait(started, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
  events.read(started);
  lapilli_result* taken = nullptr;
  ASSERT_EQ(lapilli_job_take(started, &taken), LAPILLI_OK) << lapilli_last_error();
  const ResultHandle result(taken);
  for (const size_t i : {0, 1}) events.expect_is(taken, i);
  EXPECT_EQ(events.segments[0] + "--\n" + events.segments[1], want);
}

}  // namespace
}  // namespace lapilli::test
