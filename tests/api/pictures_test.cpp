// Pictures through the C interface: as pixels and as files, in words and in classes, what words looked at, and
// everything that may be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "api/recording_events.hpp"
#include "image/picture.hpp"
#include "support/fixtures.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;

const std::string kPictures = LAPILLI_SOURCE_DIR "/tests/data/pictures/";
const char* const kFiles[] = {"plain.png", "vit/waves.png", "grey.png"};

class ApiDevicePictures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    device_.reset(device);
    folder_ = std::make_unique<TempDirectory>();
    vit_ = load(device_, complete("vit-image-classification"));
    gpt2_ = load(device_, complete("vit-gpt2"));
    for (const char* file : kFiles) {
      LAPILLI_ASSERT_VALUE(pictures_.emplace_back(), image::read_picture(kPictures + file));
    }
  }
  static void TearDownTestSuite() {
    vit_.reset();
    gpt2_.reset();
    device_.reset();
    pictures_.clear();
    folder_.reset();
  }
  // A model of the records with the files that it needs for pictures. Its words are bytes.
  static std::string complete(const std::string& name) {
    const std::string to = folder_->path() + "/" + name;
    std::filesystem::copy(kModels + name + "/model", to);
    std::ofstream(to + "/preprocessor_config.json") << R"({"image_processor_type": "ViTImageProcessor", "size": 32})";
    std::ofstream(to + "/tokenizer_config.json") << R"({"tokenizer_class": "ByT5Tokenizer"})";
    return to;
  }
  static lapilli_input input_of(const image::Picture& p) { return lapilli_pixels(p.rgb.data(), p.width, p.height); }
  static std::vector<lapilli_input> inputs() {
    std::vector<lapilli_input> all;
    for (const auto& p : pictures_) all.push_back(input_of(p));
    return all;
  }
  // The same pictures, read by the library.
  static ResultHandle of_files(const lapilli_options& options, const ModelHandle& model) {
    std::vector<std::string> paths;
    for (const char* file : kFiles) paths.push_back(kPictures + file);
    std::vector<lapilli_input> all;
    for (const std::string& path : paths) all.push_back(lapilli_picture_file(path.c_str()));
    return generate(all, options, model);
  }
  static ResultHandle generate(const std::vector<lapilli_input>& inputs, const lapilli_options& options,
                               const ModelHandle& model) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model.get(), inputs.data(), inputs.size(), &options, &result), LAPILLI_OK)
        << lapilli_last_error();
    return ResultHandle(result);
  }
  static std::string refused(const lapilli_input& input, lapilli_status status,
                             const lapilli_options& options = lapilli_default_options(),
                             const ModelHandle& model = vit_) {
    lapilli_result* result = nullptr;
    EXPECT_EQ(lapilli_generate(model.get(), &input, 1, &options, &result), status) << lapilli_last_error();
    EXPECT_EQ(result, nullptr);
    lapilli_result_free(result);
    return lapilli_last_error();
  }
  static std::string classes_of(const lapilli_result* result, size_t input) {
    size_t count = 0;
    EXPECT_EQ(lapilli_result_classes(result, input, &count), LAPILLI_OK);
    std::string lines;
    for (size_t i = 0; i < count; ++i) {
      lapilli_class found{};
      found.struct_size = sizeof found;
      EXPECT_EQ(lapilli_result_get_class(result, input, i, &found), LAPILLI_OK) << lapilli_last_error();
      lines += line(found.index, found.label, found.probability);
    }
    return lines;
  }
  static std::string line(unsigned index, const std::string& label, double probability) {
    char text[128];
    std::snprintf(text, sizeof text, "%u %s %.17g\n", index, label.c_str(), probability);
    return text;
  }
  static lapilli_sequence sequence_of(const lapilli_result* result, size_t input) {
    lapilli_sequence s{};
    s.struct_size = sizeof s;
    EXPECT_EQ(lapilli_result_get(result, input, 0, &s), LAPILLI_OK) << lapilli_last_error();
    return s;
  }

  static DeviceHandle device_;
  static std::unique_ptr<TempDirectory> folder_;
  static ModelHandle vit_, gpt2_;
  static std::vector<image::Picture> pictures_;
};
DeviceHandle ApiDevicePictures::device_;
std::unique_ptr<TempDirectory> ApiDevicePictures::folder_;
ModelHandle ApiDevicePictures::vit_, ApiDevicePictures::gpt2_;
std::vector<image::Picture> ApiDevicePictures::pictures_;

TEST_F(ApiDevicePictures, ClassesOfPixelsAndOfFiles) {
  const ResultHandle want = of_files(lapilli_default_options(), vit_);
  const ResultHandle result = generate(inputs(), lapilli_default_options(), vit_);
  ASSERT_TRUE(want && result);
  for (size_t i = 0; i < pictures_.size(); ++i) {
    EXPECT_EQ(classes_of(result.get(), i), classes_of(want.get(), i)) << i;
    lapilli_class best{};
    best.struct_size = sizeof best;
    ASSERT_EQ(lapilli_result_get_class(want.get(), i, 0, &best), LAPILLI_OK);
    const lapilli_sequence s = sequence_of(result.get(), i);
    EXPECT_STREQ(s.text, best.label);
    EXPECT_NEAR(s.score, std::log(best.probability), 1e-6);
    EXPECT_EQ(s.ids.count, 0u);
  }
  AllOptions options = lapilli_default_options();
  options.of_picture.classes = 2;
  options.batch = 2;  // the last picture fills up a batch
  const ResultHandle two = generate(inputs(), options, vit_);
  size_t count = 0;
  EXPECT_EQ(lapilli_result_classes(two.get(), 2, &count), LAPILLI_OK);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(classes_of(result.get(), 2).substr(0, 20), classes_of(two.get(), 2).substr(0, 20));
}

TEST_F(ApiDevicePictures, WordsOfPixelsAndOfFiles) {
  AllOptions options = lapilli_default_options();
  options.max_length = 12;
  const ResultHandle want = of_files(options, gpt2_), result = generate(inputs(), options, gpt2_);
  ASSERT_TRUE(want && result);
  for (size_t i = 0; i < pictures_.size(); ++i) {
    const lapilli_sequence s = sequence_of(result.get(), i);
    EXPECT_STREQ(s.text, sequence_of(want.get(), i).text);
    EXPECT_GT(s.ids.count, 0u);
    EXPECT_LT(s.token_scores[0], 0);
    EXPECT_EQ(s.parts, 1u);
  }
  options.prompt = "abc";
  const ResultHandle prompted = generate(inputs(), options, gpt2_);
  EXPECT_TRUE(std::string(sequence_of(prompted.get(), 0).text).starts_with("abc"));
  EXPECT_TRUE(std::isnan(sequence_of(prompted.get(), 0).token_scores[0]));
}

TEST_F(ApiDevicePictures, AJobTellsWhatItsResultHolds) {
  for (const ModelHandle* model : {&vit_, &gpt2_}) {
    AllOptions options = lapilli_default_options();
    options.max_length = 12;
    lapilli_job* started = nullptr;
    {
      const auto copies = pictures_;
      std::vector<lapilli_input> all;
      for (const auto& p : copies) all.push_back(input_of(p));
      ASSERT_EQ(lapilli_job_start(model->get(), all.data(), all.size(), &options, &started), LAPILLI_OK)
          << lapilli_last_error();
    }
    const JobHandle job(started);
    Events events(3);
    for (int32_t finished = 0; !finished; events.read(started))
      ASSERT_EQ(lapilli_job_pump(started, 1000, &finished), LAPILLI_OK) << lapilli_last_error();
    EXPECT_EQ(events.done, 3u);
    EXPECT_EQ(events.total, 3u);
    lapilli_result* taken = nullptr;
    ASSERT_EQ(lapilli_job_take(started, &taken), LAPILLI_OK) << lapilli_last_error();
    const ResultHandle result(taken);
    for (size_t i = 0; i < 3; ++i) events.expect_is(taken, i);
    EXPECT_EQ(lapilli_job_append_samples(started, 0, nullptr, 0), LAPILLI_INVALID_ARGUMENT);
    const ResultHandle want = generate(inputs(), options, *model);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_STREQ(sequence_of(taken, i).text, sequence_of(want.get(), i).text);
      EXPECT_EQ(classes_of(taken, i), classes_of(want.get(), i));
    }
  }
}

// ---- files ----------------------------------------------------------------------------------------------------------

// A picture that cannot be read is named, and fails alone.
TEST_F(ApiDevicePictures, AFileThatCannotBeReadIsAloneInIt) {
  std::ofstream(folder_->path() + "/none.png") << "no picture";
  const std::string good = kPictures + "plain.png", none = folder_->path() + "/none.png",
                    nowhere = folder_->path() + "/nowhere.png";
  const std::vector<lapilli_input> all{lapilli_picture_file(nowhere.c_str()), lapilli_picture_file(none.c_str()),
                                       lapilli_picture_file(good.c_str())};
  const ResultHandle result = generate(all, lapilli_default_options(), vit_);
  ASSERT_TRUE(result);
  lapilli_sequence s{};
  s.struct_size = sizeof s;
  EXPECT_EQ(lapilli_result_get(result.get(), 0, 0, &s), LAPILLI_NOT_FOUND);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("nowhere.png"));
  EXPECT_EQ(lapilli_result_get(result.get(), 1, 0, &s), LAPILLI_INVALID_DATA);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("none.png is no picture that can be read"));
  EXPECT_EQ(lapilli_result_get(result.get(), 2, 0, &s), LAPILLI_OK) << lapilli_last_error();
  lapilli_stats stats{};
  stats.struct_size = sizeof stats;
  ASSERT_EQ(lapilli_result_get_stats(result.get(), &stats), LAPILLI_OK);
  EXPECT_GT(stats.read_ms, 0);
  EXPECT_LT(stats.read_ms, stats.total_ms);
}

TEST_F(ApiDevicePictures, PathsThatAreNone) {
  EXPECT_THAT(refused(lapilli_picture_file(nullptr), LAPILLI_INVALID_ARGUMENT), HasSubstr("text of input 0 is null"));
  lapilli_input path = lapilli_picture_file("a.png");
  path.text_bytes = 0;
  EXPECT_THAT(refused(path, LAPILLI_INVALID_ARGUMENT), HasSubstr("is empty or has a zero byte"));
  path = lapilli_text_of("a\0b.png", 7);
  path.kind = LAPILLI_INPUT_PICTURE_FILE;
  EXPECT_THAT(refused(path, LAPILLI_INVALID_ARGUMENT), HasSubstr("is empty or has a zero byte"));
}

// ---- what words looked at ------------------------------------------------------------------------------------------

TEST_F(ApiDevicePictures, WhatWordsLookedAtIsDrawn) {
  AllOptions options = lapilli_default_options();
  options.max_length = 12;
  options.keep_attention = 1;
  const ResultHandle result = of_files(options, gpt2_);
  ASSERT_TRUE(result);
  const uint8_t* file = nullptr;
  size_t bytes = 0;
  const auto drawn = [&](const lapilli_attention_drawing* how) {
    EXPECT_EQ(lapilli_result_draw_attention(gpt2_.get(), result.get(), 1, how, &file, &bytes), LAPILLI_OK)
        << lapilli_last_error();
    return std::string(reinterpret_cast<const char*>(file), bytes);
  };
  const std::string mean = drawn(nullptr);
  EXPECT_THAT(mean, HasSubstr("cross attention, mean of all layers, mean of all heads"));
  EXPECT_THAT(mean, HasSubstr("href=\"data:image/png;base64,"));
  lapilli_attention_drawing how = lapilli_default_attention_drawing();
  how.layer = how.head = 0;
  const std::string one = drawn(&how);
  EXPECT_THAT(one, HasSubstr("cross attention, layer 0, head 0"));
  EXPECT_NE(one.substr(one.find("<rect")), mean.substr(mean.find("<rect")));
  how.format = LAPILLI_DRAWING_PNG;
  EXPECT_TRUE(drawn(&how).starts_with("\x89PNG"));
}

TEST_F(ApiDevicePictures, DrawingsThatAreWrong) {
  AllOptions options = lapilli_default_options();
  options.max_length = 12;
  options.keep_attention = 1;
  const ResultHandle result = generate({input_of(pictures_[0])}, options, gpt2_),
                     classes = generate({input_of(pictures_[0])}, options, vit_);
  options.keep_attention = 0;
  const ResultHandle without = generate({input_of(pictures_[0])}, options, gpt2_);
  const auto refused = [](const ModelHandle& model, const ResultHandle& of, size_t input, lapilli_attention_drawing how,
                          lapilli_status want = LAPILLI_INVALID_ARGUMENT) -> std::string {
    const uint8_t* file = nullptr;
    size_t bytes = 1;
    EXPECT_EQ(lapilli_result_draw_attention(model.get(), of.get(), input, &how, &file, &bytes), want);
    EXPECT_EQ(file, nullptr);
    EXPECT_EQ(bytes, 0u);
    return lapilli_last_error();
  };
  const auto with = [](auto set) {
    lapilli_attention_drawing how = lapilli_default_attention_drawing();
    set(how);
    return how;
  };
  const lapilli_attention_drawing plain = lapilli_default_attention_drawing();
  EXPECT_THAT(refused(gpt2_, without, 0, plain), HasSubstr("set lapilli_options.keep_attention"));
  EXPECT_THAT(refused(gpt2_, result, 1, plain), HasSubstr("input 1 of 1"));
  EXPECT_THAT(refused(vit_, classes, 0, plain, LAPILLI_UNSUPPORTED), HasSubstr("no words"));
  EXPECT_THAT(refused(gpt2_, result, 0, with([](auto& d) { d.layer = 99; })), HasSubstr("attention layer 99"));
  EXPECT_THAT(refused(gpt2_, result, 0, with([](auto& d) { d.head = LAPILLI_ATTENTION_ALL; })),
              HasSubstr("head is -2"));
  EXPECT_THAT(refused(gpt2_, result, 0, with([](auto& d) { d.format = 3; })), HasSubstr("format is 3"));
  EXPECT_THAT(refused(gpt2_, result, 0, with([](auto& d) { d.struct_size = 0; })), HasSubstr("struct_size"));
  lapilli_cancel_token* token = nullptr;
  ASSERT_EQ(lapilli_cancel_token_create(&token), LAPILLI_OK);
  lapilli_cancel_token_cancel(token);
  EXPECT_THAT(refused(gpt2_, result, 0, with([&](auto& d) { d.cancel_token = token; }), LAPILLI_CANCELLED),
              HasSubstr("interrupted"));
  lapilli_cancel_token_free(token);
  EXPECT_THAT(refused(nullptr, result, 0, plain), HasSubstr("model or result is null"));
  EXPECT_THAT(refused(gpt2_, nullptr, 0, plain), HasSubstr("model or result is null"));
  EXPECT_EQ(lapilli_result_draw_attention(gpt2_.get(), result.get(), 0, &plain, nullptr, nullptr),
            LAPILLI_INVALID_ARGUMENT);
}

// ---- pixels ---------------------------------------------------------------------------------------------------------

// The same picture, however its pixels lie.
TEST_F(ApiDevicePictures, PixelsMayLieOtherwise) {
  const image::Picture& p = pictures_[2];  // grey
  std::vector<uint8_t> four, one, far;
  for (uint32_t y = 0; y < p.height; ++y) {
    for (uint32_t x = 0; x < p.width; ++x) {
      const uint8_t* rgb = p.rgb.data() + (size_t{y} * p.width + x) * 3;
      four.insert(four.end(), {rgb[0], rgb[1], rgb[2], static_cast<uint8_t>(x)});
      one.push_back(rgb[0]);
      far.insert(far.end(), rgb, rgb + 3);
    }
    far.insert(far.end(), 11, 99);
  }
  const std::string want = classes_of(generate({input_of(p)}, lapilli_default_options(), vit_).get(), 0);
  const auto of = [&](const std::vector<uint8_t>& pixels, uint32_t channels, size_t stride) {
    lapilli_input input = lapilli_pixels(pixels.data(), p.width, p.height);
    input.channels = channels;
    input.row_stride = stride;
    return classes_of(generate({input}, lapilli_default_options(), vit_).get(), 0);
  };
  EXPECT_EQ(of(four, 4, 0), want);
  EXPECT_EQ(of(one, 1, 0), want);
  EXPECT_EQ(of(far, 3, size_t{p.width} * 3 + 11), want);
  EXPECT_NE(of(far, 3, 0), want);
}

TEST_F(ApiDevicePictures, ModelsSayWhatTheyTake) {
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(vit_.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.reads_pictures, 1);
  EXPECT_GT(info.classes, 2u);
  EXPECT_EQ(info.sample_rate, 0u);
  EXPECT_EQ(info.input_kind, LAPILLI_INPUT_PIXELS);
  EXPECT_EQ(info.writes_text, 0);
  EXPECT_EQ(info.decoder_layers + info.decoder_heads, 0u);
  EXPECT_STREQ(info.commands, "lapilli classify");
  ASSERT_EQ(lapilli_model_get_info(gpt2_.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.reads_pictures, 1);
  EXPECT_EQ(info.classes, 0u);
  EXPECT_EQ(info.writes_text, 1);
  EXPECT_GT(info.decoder_layers, 0u);
  EXPECT_GT(info.decoder_heads, 0u);
  EXPECT_STREQ(info.commands, "lapilli caption or lapilli read");
  EXPECT_EQ(info.tokenizer_error, nullptr);
  const ModelHandle bare = load(device_, kModels + "vit-gpt2/model");
  ASSERT_EQ(lapilli_model_get_info(bare.get(), &info), LAPILLI_OK);
  EXPECT_EQ(info.reads_pictures, 0);
  EXPECT_EQ(info.input_kind, LAPILLI_INPUT_PIXELS);
  ASSERT_NE(info.tokenizer_error, nullptr);
  EXPECT_THAT(info.tokenizer_error, HasSubstr("vocab.json"));
  EXPECT_THAT(refused(input_of(pictures_[0]), LAPILLI_NOT_FOUND, lapilli_default_options(), bare),
              HasSubstr("preprocessor_config.json"));
}

TEST_F(ApiDevicePictures, InputsThatAreWrong) {
  lapilli_input input = input_of(pictures_[0]);
  const lapilli_input good = input;
  const auto with = [&](auto set, lapilli_status status = LAPILLI_INVALID_ARGUMENT) {
    input = good;
    set(input);
    return refused(input, status);
  };
  EXPECT_THAT(with([](auto& i) { i.width = i.height = 0; }), HasSubstr("a picture of 0 by 0 pixels, which holds none"));
  EXPECT_THAT(with([](auto& i) { i.height = 0; }), HasSubstr("which holds none"));
  EXPECT_THAT(with([](auto& i) { i.width = i.height = 20000; }),
              HasSubstr("a picture of 20000 by 20000 pixels; at most"));
  EXPECT_THAT(with([](auto& i) { i.width = 70000, i.height = 1; }), HasSubstr("65535 a side"));
  EXPECT_THAT(with([](auto& i) { i.row_stride = i.width * 3 - 1; }), HasSubstr("row_stride of input 0 is"));
  EXPECT_THAT(with([](auto& i) { i.row_stride = SIZE_MAX; }), HasSubstr("which cannot be"));
  EXPECT_THAT(with([](auto& i) { i.pixels = nullptr; }), HasSubstr("pixels of input 0 are at a null pointer"));
  EXPECT_THAT(with([](auto& i) { i.channels = 2; }, LAPILLI_UNSUPPORTED), HasSubstr("input 0 has 2 channels"));
  EXPECT_THAT(refused(lapilli_text("Hello."), LAPILLI_UNSUPPORTED),
              HasSubstr("read pictures: lapilli_pixels() and lapilli_picture_file() make"));
  const float sound[] = {0, 0.5f};
  EXPECT_THAT(refused(lapilli_samples(sound, 2, 16000), LAPILLI_UNSUPPORTED), HasSubstr("input 0 is samples"));
}

TEST_F(ApiDevicePictures, OptionsThatAreWrong) {
  const auto with = [&](auto set) {
    AllOptions options = lapilli_default_options();
    set(options);
    return refused(input_of(pictures_[0]), LAPILLI_INVALID_ARGUMENT, options, gpt2_);
  };
  const int32_t id = 5;
  const float temperature = 0;
  EXPECT_THAT(with([](auto& o) { o.task = "translate"; }), HasSubstr("task is not for models that read pictures"));
  EXPECT_THAT(with([](auto& o) { o.source_language = "en"; }), HasSubstr("source_language"));
  EXPECT_THAT(with([&](auto& o) { o.decoder_prompt = {&id, 1}; }), HasSubstr("lapilli_options.prompt sets"));
  EXPECT_THAT(with([&](auto& o) { o.of_speech.temperatures = &temperature, o.of_speech.temperature_count = 1; }),
              HasSubstr("temperatures"));
  EXPECT_THAT(with([](auto& o) { o.of_speech.word_times = 1; }), HasSubstr("word_times"));
  EXPECT_THAT(with([](auto& o) { o.of_speech.chunks = 2; }), HasSubstr("chunks is not for models that read pictures"));
  EXPECT_THAT(with([](auto& o) { o.of_speech.interim_samples = 2; }), HasSubstr("interim_samples is not for models"));
  EXPECT_THAT(with([](auto& o) { o.of_picture.classes = 0; }), HasSubstr("classes is 0; ask for at least 1"));
  EXPECT_THAT(with([](auto& o) { o.num_beams = 0; }), HasSubstr("num_beams"));
  EXPECT_THAT(with([](auto& o) { o.num_beams = o.num_return_sequences = 2; }), HasSubstr("num_return_sequences"));
}

TEST_F(ApiDevicePictures, ResultsThatAreNotThere) {
  const ResultHandle result = generate({input_of(pictures_[0])}, lapilli_default_options(), vit_);
  lapilli_class found{};
  EXPECT_EQ(lapilli_result_get_class(result.get(), 0, 0, &found), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("struct_size"));
  found.struct_size = sizeof found;
  EXPECT_EQ(lapilli_result_get_class(result.get(), 0, 5, &found), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("class 5 of 5 of input 0"));
  EXPECT_EQ(lapilli_result_get_class(result.get(), 1, 0, &found), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_class(nullptr, 0, 0, &found), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_classes(result.get(), 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  size_t count = 3;
  EXPECT_EQ(lapilli_result_classes(result.get(), 1, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(lapilli_result_segments(result.get(), 0, &count), LAPILLI_OK);
  EXPECT_EQ(count, 0u);
  lapilli_attention* attention = nullptr;
  EXPECT_EQ(lapilli_attention_run(vit_.get(), result.get(), 0, 0, 0, &attention), LAPILLI_UNSUPPORTED);
}

// Freed and cancelled at any time.
TEST_F(ApiDevicePictures, AJobMayEndAtAnyTime) {
  const auto all = inputs();
  for (const ModelHandle* model : {&vit_, &gpt2_}) {
    for (const int pumps : {0, 1, 2, 5, 30}) {
      lapilli_job* started = nullptr;
      ASSERT_EQ(lapilli_job_start(model->get(), all.data(), all.size(), nullptr, &started), LAPILLI_OK);
      const JobHandle job(started);
      int32_t finished = 0;
      for (int i = 0; i < pumps && !finished; ++i) ASSERT_EQ(lapilli_job_pump(started, 10, &finished), LAPILLI_OK);
      if (finished || pumps % 2 == 0) continue;
      lapilli_job_cancel(started);
      ASSERT_EQ(lapilli_job_wait(started, LAPILLI_UNLIMITED, &finished), LAPILLI_OK);
      Events events(3);
      events.read(started);
      EXPECT_EQ(events.ends, 1);
      for (const auto status : events.inputs) EXPECT_TRUE(status == LAPILLI_OK || status == LAPILLI_CANCELLED);
      lapilli_result* result = nullptr;
      EXPECT_EQ(lapilli_job_take(started, &result), LAPILLI_CANCELLED);
      lapilli_result_free(result);
    }
  }
}

}  // namespace
}  // namespace lapilli::test
