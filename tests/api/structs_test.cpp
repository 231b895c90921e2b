// How the structs of the C interface grow: arrays of programs with older and newer headers, kinds of inputs, structs
// that come out in numbers. Device tests use the bundled model.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "api/last_error.hpp"
#include "lapilli/lapilli.h"

namespace {

using lapilli::test::says;

constexpr int32_t kStation[] = {463, 30, 16, 975, 23, 0};  // "Where is the station?"

// A program of a later version, whose struct has a further field.
template <class T>
struct Newer {
  T known{};
  uint64_t further = 0;
};

// A program of an earlier version, whose inputs end before the ids.
struct Older {
  uint32_t struct_size = sizeof(Older);
  int32_t kind = LAPILLI_INPUT_TEXT;
  const char* text = nullptr;
  size_t text_bytes = LAPILLI_ZERO_TERMINATED;
};
static_assert(sizeof(Older) == offsetof(lapilli_input, ids));

class ApiDeviceStructs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    ASSERT_EQ(lapilli_model_load(device, LAPILLI_SOURCE_DIR "/models/en-fr", &model_), LAPILLI_OK)
        << lapilli_last_error();
    lapilli_device_close(device);
  }
  static void TearDownTestSuite() {
    lapilli_model_free(model_);
    model_ = nullptr;
  }

  // Generates from `count` structs of any version.
  lapilli_status generate(const void* inputs, size_t count, const lapilli_options* options = nullptr) {
    lapilli_result* made = nullptr;
    const lapilli_status status =
        lapilli_generate(model_, static_cast<const lapilli_input*>(inputs), count, options, &made);
    result_.reset(made);
    return status;
  }
  std::string text(size_t input) const {
    lapilli_sequence sequence{};
    sequence.struct_size = sizeof sequence;
    const lapilli_status got = lapilli_result_get(result_.get(), input, 0, &sequence);
    return got == LAPILLI_OK ? sequence.text : lapilli_status_name(got);
  }

  static lapilli_model* model_;
  std::unique_ptr<lapilli_result, void (*)(lapilli_result*)> result_{nullptr, &lapilli_result_free};
};
lapilli_model* ApiDeviceStructs::model_ = nullptr;

TEST_F(ApiDeviceStructs, ArraysOfNewerPrograms) {
  Newer<lapilli_input> inputs[3];
  inputs[0].known = lapilli_text("What time is it?");
  inputs[1].known = lapilli_tokens(kStation, 6);
  inputs[2].known = lapilli_text_of("Hello.Goodbye.", 6);
  for (auto& input : inputs) input.known.struct_size = sizeof input;
  ASSERT_EQ(generate(inputs, 3), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(text(0), "Quelle heure est-il ?");
  EXPECT_EQ(text(1), "Où est la gare ?");
  const std::string hello = text(2);
  const lapilli_input alone = lapilli_text("Hello.");
  ASSERT_EQ(generate(&alone, 1), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(hello, text(0));

  inputs[2].further = 1;
  EXPECT_EQ(generate(inputs, 3), LAPILLI_UNSUPPORTED);
  EXPECT_TRUE(says("lapilli_input") && says("does not know")) << lapilli_last_error();
  EXPECT_EQ(result_, nullptr);
}

TEST_F(ApiDeviceStructs, ArraysOfOlderPrograms) {
  Older inputs[2];
  inputs[0].text = "What time is it?";
  inputs[1].text = "Where is the station?";
  ASSERT_EQ(generate(inputs, 2), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(text(0), "Quelle heure est-il ?");
  EXPECT_EQ(text(1), "Où est la gare ?");
  // A field that such a program does not have is not read from the next element.
  inputs[0].kind = LAPILLI_INPUT_IDS;
  ASSERT_EQ(generate(inputs, 2), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(text(0), "invalid argument");
  EXPECT_EQ(text(1), "Où est la gare ?");
}

TEST_F(ApiDeviceStructs, SizesThatWereNotSet) {
  lapilli_input inputs[2] = {};
  EXPECT_EQ(generate(inputs, 2), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("struct_size is 0; begin with lapilli_text()")) << lapilli_last_error();
  inputs[0] = lapilli_text("Hello.");
  EXPECT_EQ(generate(inputs, 2), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("number 1 has struct_size 0")) << lapilli_last_error();
  inputs[1] = lapilli_text("Hello.");
  inputs[1].struct_size += sizeof(void*);  // arrays are walked by one size
  EXPECT_EQ(generate(inputs, 2), LAPILLI_INVALID_ARGUMENT);
  for (const uint32_t impossible : {3u, static_cast<uint32_t>(sizeof(lapilli_input)) + 1, 0xffffffffu}) {
    inputs[0].struct_size = inputs[1].struct_size = impossible;
    EXPECT_EQ(generate(inputs, 2), LAPILLI_INVALID_ARGUMENT) << impossible;
    EXPECT_TRUE(says("struct_size")) << lapilli_last_error();
  }
}

TEST_F(ApiDeviceStructs, KindsAreRefusedByName) {
  Newer<lapilli_input> input;
  input.known = lapilli_text("Hello.");
  input.known.struct_size = sizeof input;
  input.further = 1;  // what a later kind has of its own
  const auto refused = [&](int32_t kind, lapilli_status status, const char* what) {
    input.known.kind = kind;
    EXPECT_EQ(generate(&input, 1), status) << kind;
    EXPECT_TRUE(says(what)) << kind << ": " << lapilli_last_error();
  };
  refused(6, LAPILLI_UNSUPPORTED, "input 0 is of a kind that is not known (6); this version");
  refused(77, LAPILLI_UNSUPPORTED, "not known (77); this version");
  refused(-1, LAPILLI_UNSUPPORTED, "text (1), ids (2), samples (3), pixels (4) and files of pictures (5)");
  refused(LAPILLI_INPUT_SAMPLES, LAPILLI_INVALID_ARGUMENT, "has no samples");
  refused(LAPILLI_INPUT_PIXELS, LAPILLI_INVALID_ARGUMENT, "pixels of input 0 are at a null pointer");
  refused(LAPILLI_INPUT_PICTURE_FILE, LAPILLI_UNSUPPORTED, "lapilli_input sets a field");
  refused(0, LAPILLI_INVALID_ARGUMENT, "lapilli_text()");

  lapilli_input nowhere = lapilli_text(nullptr);
  EXPECT_EQ(generate(&nowhere, 1), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("text of input 0 is null")) << lapilli_last_error();
  nowhere = lapilli_tokens(nullptr, 2);
  EXPECT_EQ(generate(&nowhere, 1), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("ids of input 0")) << lapilli_last_error();
  // Fields that a kind does not have are ignored.
  lapilli_input both = lapilli_tokens(kStation, 6);
  both.text = "Hello.";
  both.text_bytes = 6;
  ASSERT_EQ(generate(&both, 1), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(text(0), "Où est la gare ?");
}

TEST_F(ApiDeviceStructs, PhrasesOfNewerPrograms) {
  const lapilli_input input = lapilli_text("Where is the station?");
  const int32_t where[] = {327}, is[] = {31};  // what the answer would begin with
  Newer<lapilli_phrase> words[2];
  words[0].known = lapilli_phrase_of(is, 1);
  words[1].known = lapilli_phrase_of(where, 1);
  for (auto& word : words) word.known.struct_size = sizeof word;
  lapilli_options options = lapilli_default_options();
  options.bad_words = &words[0].known;
  options.bad_word_count = 2;
  ASSERT_EQ(generate(&input, 1, &options), LAPILLI_OK) << lapilli_last_error();
  lapilli_sequence sequence{};
  sequence.struct_size = sizeof sequence;
  ASSERT_EQ(lapilli_result_get(result_.get(), 0, 0, &sequence), LAPILLI_OK);
  for (size_t i = 0; i < sequence.ids.count; ++i) {
    EXPECT_NE(sequence.ids.ids[i], 327);
    EXPECT_NE(sequence.ids.ids[i], 31);
  }
  words[1].known.struct_size = 0;
  EXPECT_EQ(generate(&input, 1, &options), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_phrase")) << lapilli_last_error();
}

TEST_F(ApiDeviceStructs, LinksComeOneByOne) {
  const lapilli_input input = lapilli_text("The cat sleeps.");
  ASSERT_EQ(generate(&input, 1), LAPILLI_OK) << lapilli_last_error();
  lapilli_attention* made = nullptr;
  ASSERT_EQ(lapilli_attention_run(model_, result_.get(), 0, 0, 0, &made), LAPILLI_OK) << lapilli_last_error();
  const std::unique_ptr<lapilli_attention, void (*)(lapilli_attention*)> attention(made, &lapilli_attention_free);
  size_t count = 0;
  ASSERT_EQ(lapilli_attention_align(made, LAPILLI_ATTENTION_MEAN, &count), LAPILLI_OK) << lapilli_last_error();
  ASSERT_GE(count, 3u);
  Newer<lapilli_word_link> cat;
  cat.known.struct_size = sizeof cat;
  cat.further = 9;
  ASSERT_EQ(lapilli_attention_get_link(made, 1, &cat.known), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(cat.further, 0u);  // nothing is known of it
  EXPECT_EQ(cat.known.source_word, 1u);
  EXPECT_EQ(cat.known.source_begin, 4u);
  EXPECT_EQ(cat.known.source_end, 7u);
  EXPECT_EQ(cat.known.target_word, 1u);
  EXPECT_GT(cat.known.weight, 0);
  EXPECT_LE(cat.known.weight, 1);
  lapilli_word_link beyond{};
  EXPECT_EQ(lapilli_attention_get_link(made, 0, &beyond), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("struct_size")) << lapilli_last_error();
  beyond.struct_size = sizeof beyond;
  EXPECT_EQ(lapilli_attention_get_link(made, count, &beyond), LAPILLI_INVALID_ARGUMENT);
  // After an alignment that failed there are none.
  EXPECT_EQ(lapilli_attention_align(made, 99, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(lapilli_attention_get_link(made, 0, &beyond), LAPILLI_INVALID_ARGUMENT);
}

// Later versions add fields at the end. Padding there would hold arbitrary bytes of programs of this version.
template <class T, class Last>
constexpr bool ends_with(size_t offset, Last T::*) {
  return sizeof(T) == offset + sizeof(Last);
}
#define LAPILLI_ENDS_WITH(type, last) static_assert(ends_with(offsetof(type, last), &type::last))
LAPILLI_ENDS_WITH(lapilli_device_options, memory_limit);
LAPILLI_ENDS_WITH(lapilli_host_device, submit);
LAPILLI_ENDS_WITH(lapilli_store, store);
LAPILLI_ENDS_WITH(lapilli_workers, run);
LAPILLI_ENDS_WITH(lapilli_files, close);
LAPILLI_ENDS_WITH(lapilli_file_part, bytes);
LAPILLI_ENDS_WITH(lapilli_model_options, no_prefix_cache);
LAPILLI_ENDS_WITH(lapilli_model_info, tokenizer_error);
LAPILLI_ENDS_WITH(lapilli_sample_source, read);
LAPILLI_ENDS_WITH(lapilli_input, pair_bytes);
LAPILLI_ENDS_WITH(lapilli_phrase, ids);
LAPILLI_ENDS_WITH(lapilli_speech_options, temperature_count);
LAPILLI_ENDS_WITH(lapilli_picture_options, classes);
LAPILLI_ENDS_WITH(lapilli_options, chat);
LAPILLI_ENDS_WITH(lapilli_chat_options, stop_count);
LAPILLI_ENDS_WITH(lapilli_encoder_options, ignored_label_count);
LAPILLI_ENDS_WITH(lapilli_vector, values);
LAPILLI_ENDS_WITH(lapilli_span, score);
LAPILLI_ENDS_WITH(lapilli_reading, cut);
LAPILLI_ENDS_WITH(lapilli_shape, options);
LAPILLI_ENDS_WITH(lapilli_attention_choice, head);
LAPILLI_ENDS_WITH(lapilli_attention_drawing, cancel_token);
LAPILLI_ENDS_WITH(lapilli_sequence, lost_address);
LAPILLI_ENDS_WITH(lapilli_part, target_end);
LAPILLI_ENDS_WITH(lapilli_segment, words);
LAPILLI_ENDS_WITH(lapilli_stats, saved_prompt_rows);
LAPILLI_ENDS_WITH(lapilli_tuning, encode_ratio);
static_assert(sizeof(lapilli_event_segment) <= sizeof(uint64_t[16]));

// A program that begins with zeros learns the function to begin with.
TEST_F(ApiDeviceStructs, ZeroedStructsNameTheirHelper) {
  const auto error_of = [](lapilli_status status) {
    return status == LAPILLI_INVALID_ARGUMENT ? std::string(lapilli_last_error()) : "no such error";
  };
  const auto expect = [](const std::string& error, const char* name, const char* helper) {
    EXPECT_NE(error.find(std::string(name) + ".struct_size is 0; begin with " + helper), std::string::npos) << error;
  };
  const lapilli_input input = lapilli_text("Hello.");
  lapilli_options options{};
  const auto with_options = [&] {
    lapilli_result* made = nullptr;
    return error_of(lapilli_generate(model_, &input, 1, &options, &made));
  };
  expect(with_options(), "lapilli_options", "lapilli_default_options()");
  const lapilli_speech_options speech{};
  const lapilli_picture_options picture{};
  options = lapilli_default_options();
  options.speech = &speech;
  expect(with_options(), "lapilli_speech_options", "lapilli_default_speech_options()");
  options = lapilli_default_options();
  options.picture = &picture;
  expect(with_options(), "lapilli_picture_options", "lapilli_default_picture_options()");
  const lapilli_shape shape{};
  expect(error_of(lapilli_model_prepare(model_, &shape)), "lapilli_shape", "lapilli_default_shape()");

  lapilli_device* device = nullptr;
  lapilli_device_options device_options{};
  const auto with_device = [&] { return error_of(lapilli_device_open(&device_options, &device)); };
  expect(with_device(), "lapilli_device_options", "lapilli_default_device_options()");
  const lapilli_store store{};
  device_options = lapilli_default_device_options();
  device_options.store = &store;
  expect(with_device(), "lapilli_store", "lapilli_default_store()");
  const lapilli_workers workers{};
  device_options = lapilli_default_device_options();
  device_options.workers = &workers;
  expect(with_device(), "lapilli_workers", "lapilli_default_workers()");
  const lapilli_host_device host{};
  expect(error_of(lapilli_device_adopt(&host, nullptr, &device)), "lapilli_host_device",
         "lapilli_default_host_device()");

  ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
  lapilli_model* model = nullptr;
  lapilli_model_options model_options{};
  const auto with_model = [&] { return error_of(lapilli_model_load_with(device, "pak", &model_options, &model)); };
  expect(with_model(), "lapilli_model_options", "lapilli_default_model_options()");
  const lapilli_files files{};
  model_options = lapilli_default_model_options();
  model_options.files = &files;
  expect(with_model(), "lapilli_files", "lapilli_default_files()");
  const lapilli_file_part part{};
  model_options = lapilli_default_model_options();
  model_options.parts = &part;
  model_options.part_count = 1;
  expect(with_model(), "lapilli_file_part", "lapilli_file_in_memory()");
  lapilli_device_close(device);
}

TEST_F(ApiDeviceStructs, SequencesSayWhyTheyEnd) {
  lapilli_options options = lapilli_default_options();
  options.task = "translate";
  options.max_length = 8;
  const char* texts[] = {"Good morning.",
                         "I would like a cup of coffee, please.",
                         "12:30",
                         "你好，世界。",
                         "Good morning.\n\n5\n\nI would like a cup of coffee, please.",
                         "See https://example.com/abc/def-ghi?x=12&y=3 now."};
  std::vector<lapilli_input> inputs;
  for (const char* text : texts) inputs.push_back(lapilli_text(text));
  ASSERT_EQ(generate(inputs.data(), inputs.size(), &options), LAPILLI_OK) << lapilli_last_error();
  std::vector<lapilli_sequence> all(inputs.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].struct_size = sizeof all[i];
    ASSERT_EQ(lapilli_result_get(result_.get(), i, 0, &all[i]), LAPILLI_OK) << lapilli_last_error();
    EXPECT_EQ(all[i].repeats, 0);
  }
  EXPECT_EQ(all[0].finish, LAPILLI_FINISH_STOP);
  EXPECT_EQ(all[0].unknown_tokens, 0u);
  EXPECT_GT(all[0].word_tokens, 1u);
  EXPECT_EQ(all[0].lost_address, nullptr);
  EXPECT_EQ(all[1].finish, LAPILLI_FINISH_LENGTH);
  EXPECT_EQ(all[2].finish, LAPILLI_FINISH_KEPT);
  EXPECT_STREQ(all[2].text, texts[2]);
  EXPECT_EQ(all[2].ids.count, 0u);
  EXPECT_GT(all[3].unknown_tokens, 0u);
  EXPECT_EQ(all[3].unknown_tokens, all[3].word_tokens);
  EXPECT_EQ(all[4].finish, LAPILLI_FINISH_LENGTH);
  EXPECT_STREQ(all[5].lost_address, "https://example.com/abc/def-ghi?x=12&y=3");

  lapilli_part part{};
  part.struct_size = sizeof part;
  const int32_t wanted[] = {LAPILLI_FINISH_STOP, LAPILLI_FINISH_KEPT, LAPILLI_FINISH_LENGTH};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(lapilli_result_get_part(result_.get(), 4, 0, i, &part), LAPILLI_OK) << lapilli_last_error();
    EXPECT_EQ(part.finish, wanted[i]) << i;
    EXPECT_EQ(part.repeats, 0);
  }
  // Programs that do not know them.
  lapilli_sequence older{};
  older.struct_size = offsetof(lapilli_sequence, finish);
  older.finish = 77;
  ASSERT_EQ(lapilli_result_get(result_.get(), 0, 0, &older), LAPILLI_OK);
  EXPECT_EQ(older.finish, 77);
  part.struct_size = offsetof(lapilli_part, finish);
  part.finish = 77;
  ASSERT_EQ(lapilli_result_get_part(result_.get(), 4, 0, 0, &part), LAPILLI_OK);
  EXPECT_EQ(part.finish, 77);
}

}  // namespace
