// The C interface: wrong calls, sizes of structs, errors, threads, cancellation. Device tests use the bundled model.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "api/last_error.hpp"
#include "lapilli/lapilli.h"

namespace {

using lapilli::test::says;

TEST(Api, VersionIsTheHeaders) {
  const std::string version = std::to_string(LAPILLI_VERSION_MAJOR) + "." + std::to_string(LAPILLI_VERSION_MINOR) +
                              "." + std::to_string(LAPILLI_VERSION_PATCH);
  EXPECT_EQ(lapilli_version(), version);
  EXPECT_EQ(lapilli_version_number(), LAPILLI_VERSION_NUMBER);
  EXPECT_GE(lapilli_version_number(), LAPILLI_MAKE_VERSION(0, 2, 0));
}

TEST(Api, StatusNames) {
  EXPECT_STREQ(lapilli_status_name(LAPILLI_NOT_FOUND), "not found");
  for (lapilli_status status = LAPILLI_OK; status <= LAPILLI_INTERNAL; ++status) {
    EXPECT_STRNE(lapilli_status_name(status), "unknown") << status;
  }
  EXPECT_STREQ(lapilli_status_name(-1), "unknown");
  EXPECT_STREQ(lapilli_status_name(1000), "unknown");
}

TEST(Api, NullPointers) {
  lapilli_model* model = reinterpret_cast<lapilli_model*>(16);
  lapilli_result* result = reinterpret_cast<lapilli_result*>(16);
  EXPECT_EQ(lapilli_device_open(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("device is null"));
  EXPECT_EQ(lapilli_devices_json(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_load(nullptr, nullptr, &model), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(model, nullptr);  // out handles are null after an error
  EXPECT_EQ(lapilli_model_load(nullptr, nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_model_get_info(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_generate(nullptr, nullptr, 0, nullptr, &result), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(lapilli_result_get(nullptr, 0, 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_stats(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  lapilli_device_close(nullptr);
  lapilli_model_free(nullptr);
  lapilli_result_free(nullptr);
  lapilli_cancel(nullptr);
}

TEST(Api, WrongStructSizes) {
  lapilli_device* device = nullptr;
  lapilli_device_options options{};
  EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("struct_size") && says("lapilli_device_options")) << lapilli_last_error();
  options.struct_size = 0xffffffff;
  EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_INVALID_ARGUMENT);

  // A newer program's struct that sets what we do not know.
  struct Newer {
    lapilli_device_options options;
    uint64_t more;
  } newer{};
  newer.options.struct_size = sizeof newer;
  newer.more = 1;
  EXPECT_EQ(lapilli_device_open(&newer.options, &device), LAPILLI_UNSUPPORTED);
  EXPECT_EQ(device, nullptr);
}

TEST(Api, ErrorsBelongToTheirThread) {
  EXPECT_EQ(lapilli_device_open(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  const std::string mine = lapilli_last_error();
  std::thread([&mine] {
    EXPECT_STREQ(lapilli_last_error(), "");
    EXPECT_EQ(lapilli_model_get_info(nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
    EXPECT_NE(lapilli_last_error(), mine);
  }).join();
  EXPECT_EQ(lapilli_last_error(), mine);
}

// Run where no driver is found (tests.cmake).
TEST(ApiWithoutDriver, IsAnError) {
  lapilli_device* device = nullptr;
  EXPECT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_NO_DEVICE);
  EXPECT_EQ(device, nullptr);
  EXPECT_TRUE(says("install")) << lapilli_last_error();
  const char* json = nullptr;
  EXPECT_EQ(lapilli_devices_json(nullptr, &json), LAPILLI_NO_DEVICE);
  EXPECT_EQ(json, nullptr);
}

class ApiDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lapilli_set_log(LAPILLI_LOG_WARNING, nullptr, nullptr);
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK) << lapilli_last_error();
    ASSERT_EQ(lapilli_model_load(device, LAPILLI_SOURCE_DIR "/models/en-fr", &model_), LAPILLI_OK)
        << lapilli_last_error();
    lapilli_device_close(device);  // the model keeps it
  }
  static void TearDownTestSuite() {
    lapilli_model_free(model_);
    model_ = nullptr;
  }

  struct Results {
    lapilli_status status = LAPILLI_OK;
    lapilli_result* handle = nullptr;
    ~Results() { lapilli_result_free(handle); }
    std::string text(size_t input) const {
      lapilli_sequence sequence;
      sequence.struct_size = sizeof sequence;
      const lapilli_status got = lapilli_result_get(handle, input, 0, &sequence);
      return got == LAPILLI_OK ? std::string(sequence.text, sequence.text_bytes) : lapilli_status_name(got);
    }
    float score(size_t input) const {
      lapilli_sequence sequence;
      sequence.struct_size = sizeof sequence;
      return lapilli_result_get(handle, input, 0, &sequence) == LAPILLI_OK ? sequence.score : NAN;
    }
  };
  static void generate(const std::vector<const char*>& texts, const lapilli_options* options, Results& results) {
    std::vector<lapilli_input> inputs;
    for (const char* text : texts) inputs.push_back(lapilli_text(text));
    results.status = lapilli_generate(model_, inputs.data(), inputs.size(), options, &results.handle);
  }

  static lapilli_model* model_;
};
lapilli_model* ApiDevice::model_ = nullptr;

TEST_F(ApiDevice, Info) {
  lapilli_model_info info;
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(model_, &info), LAPILLI_OK);
  EXPECT_STREQ(info.family, "marian");
  EXPECT_EQ(info.has_tokenizer, 1);
  EXPECT_EQ(info.source_vocabulary, 8001u);
  EXPECT_EQ(info.max_source_tokens, 256u);
  EXPECT_GT(info.load_ms, 0);

  // An older program's struct ends earlier; nothing is written behind it.
  struct {
    uint32_t struct_size;
    int32_t has_tokenizer;
    uint64_t guard;
  } older = {8, 0, 0x1234567812345678};
  ASSERT_EQ(lapilli_model_get_info(model_, reinterpret_cast<lapilli_model_info*>(&older)), LAPILLI_OK);
  EXPECT_EQ(older.has_tokenizer, 1);
  EXPECT_EQ(older.guard, 0x1234567812345678u);
}

TEST_F(ApiDevice, TranslatesTextAndIds) {
  const int32_t ids[] = {463, 30, 16, 975, 23, 0};
  const lapilli_input inputs[2] = {lapilli_text("What time is it?"), lapilli_tokens(ids, 6)};
  Results results;
  ASSERT_EQ(lapilli_generate(model_, inputs, 2, nullptr, &results.handle), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(results.text(0), "Quelle heure est-il ?");
  EXPECT_EQ(results.text(1), "Où est la gare ?");
  lapilli_sequence sequence;
  sequence.struct_size = sizeof sequence;
  ASSERT_EQ(lapilli_result_get(results.handle, 1, 0, &sequence), LAPILLI_OK);
  EXPECT_EQ(sequence.sequences, 1u);
  EXPECT_EQ(std::vector<int32_t>(sequence.ids.ids, sequence.ids.ids + sequence.ids.count),
            (std::vector<int32_t>{327, 31, 21, 1095, 11, 0}));
  EXPECT_NEAR(sequence.score, -0.148919, 1e-3);
  EXPECT_EQ(lapilli_result_get(results.handle, 2, 0, &sequence), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get(results.handle, 0, 1, &sequence), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get(results.handle, 0, 0, nullptr), LAPILLI_INVALID_ARGUMENT);

  lapilli_stats stats;
  stats.struct_size = sizeof stats;
  ASSERT_EQ(lapilli_result_get_stats(results.handle, &stats), LAPILLI_OK);
  EXPECT_EQ(stats.source_tokens, 12u);
  EXPECT_EQ(stats.batches, 1u);
  EXPECT_GT(stats.decoder_steps, 0u);
  EXPECT_GT(stats.generated_tokens, 10u);
}

TEST_F(ApiDevice, NothingToDo) {
  Results results;
  generate({}, nullptr, results);
  EXPECT_EQ(results.status, LAPILLI_OK) << lapilli_last_error();
  ASSERT_NE(results.handle, nullptr);
}

TEST_F(ApiDevice, OneInputsFaultIsItsOwn) {
  Results results;
  generate({"\xff", "Where is the station?"}, nullptr, results);
  ASSERT_EQ(results.status, LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(results.text(0), "invalid argument");
  EXPECT_TRUE(says("UTF-8")) << lapilli_last_error();
  EXPECT_EQ(results.text(1), "Où est la gare ?");
}

TEST_F(ApiDevice, WrongInputsAndOptions) {
  lapilli_result* result = nullptr;
  EXPECT_EQ(lapilli_generate(model_, nullptr, 1, nullptr, &result), LAPILLI_INVALID_ARGUMENT);

  const auto refused = [&](const char* what, auto&& change) {
    lapilli_options options = lapilli_default_options();
    change(options);
    Results results;
    generate({"Hello."}, &options, results);
    EXPECT_EQ(results.status, LAPILLI_INVALID_ARGUMENT) << what;
    EXPECT_EQ(results.handle, nullptr) << what;
    EXPECT_TRUE(says(what)) << what << ": " << lapilli_last_error();
  };
  refused("struct_size", [](lapilli_options& o) { o.struct_size = 3; });
  refused("num_beams", [](lapilli_options& o) { o.num_beams = -7; });
  refused("num_beams", [](lapilli_options& o) { o.num_beams = 0; });
  refused("num_return_sequences", [](lapilli_options& o) { o.num_return_sequences = 1000; });
  refused("early_stopping", [](lapilli_options& o) { o.early_stopping = 3; });
  refused("length_penalty", [](lapilli_options& o) { o.length_penalty = INFINITY; });
  refused("end_tokens", [](lapilli_options& o) { o.end_tokens.count = 3; });
  refused("bad_words", [](lapilli_options& o) { o.bad_word_count = 3; });
  refused("forced_bos_token", [](lapilli_options& o) { o.forced_bos_token = -9; });
  refused("volcano", [](lapilli_options& o) { o.json = "{\"volcano\": 1}"; });
  refused("not valid JSON", [](lapilli_options& o) { o.json = "{"; });
  refused("no JSON object", [](lapilli_options& o) { o.json = "[1]"; });
  refused("num_beams", [](lapilli_options& o) { o.json = "{\"num_beams\": \"many\"}"; });
  refused("JSON", [](lapilli_options& o) { o.json = "{\"temperature\": nan}"; });
}

TEST_F(ApiDevice, SeveralSequences) {
  lapilli_options options = lapilli_default_options();
  options.num_beams = 3;
  options.num_return_sequences = 3;
  Results results;
  generate({"Good morning."}, &options, results);
  ASSERT_EQ(results.status, LAPILLI_OK) << lapilli_last_error();
  float last = 0;
  for (size_t i = 0; i < 3; ++i) {
    lapilli_sequence sequence;
    sequence.struct_size = sizeof sequence;
    ASSERT_EQ(lapilli_result_get(results.handle, 0, i, &sequence), LAPILLI_OK);
    EXPECT_EQ(sequence.sequences, 3u);
    EXPECT_LE(sequence.score, last);
    last = sequence.score;
  }
}

TEST_F(ApiDevice, TokenScoresAndPieces) {
  lapilli_options options = lapilli_default_options();
  options.task = "translate";
  options.split_sentences = 1;
  Results results;
  generate({"What time is it? Where is the station?"}, &options, results);
  ASSERT_EQ(results.status, LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(results.text(0), "Quelle heure est-il ? Où est la gare ?");
  lapilli_sequence sequence;
  sequence.struct_size = sizeof sequence;
  ASSERT_EQ(lapilli_result_get(results.handle, 0, 0, &sequence), LAPILLI_OK);
  EXPECT_EQ(sequence.parts, 2u);
  for (size_t i = 0; i < sequence.ids.count; ++i) EXPECT_LE(sequence.token_scores[i], 0);
  lapilli_part part;
  part.struct_size = sizeof part;
  ASSERT_EQ(lapilli_result_get_part(results.handle, 0, 0, 1, &part), LAPILLI_OK) << lapilli_last_error();
  EXPECT_STREQ(part.text, "Où est la gare ?");
  EXPECT_NEAR(part.score, -0.148919, 1e-3);
  EXPECT_EQ(part.source_begin, 17u);
  EXPECT_EQ(part.source_end, 38u);
  EXPECT_EQ(std::string(sequence.text + part.target_begin, sequence.text + part.target_end), part.text);
  EXPECT_EQ(lapilli_result_get_part(results.handle, 0, 0, 2, &part), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_part(results.handle, 0, 1, 0, &part), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_get_part(nullptr, 0, 0, 0, &part), LAPILLI_INVALID_ARGUMENT);

  // A program that knows none of the later fields: its structs end before them, and nothing changes for it.
  lapilli_options older = lapilli_default_options();
  older.struct_size = offsetof(lapilli_options, task);
  older.task = "nonsense";  // behind the end of what that program has
  Results whole;
  generate({"What time is it? Where is the station?"}, &older, whole);
  ASSERT_EQ(whole.status, LAPILLI_OK) << lapilli_last_error();
  sequence.struct_size = offsetof(lapilli_sequence, token_scores);
  sequence.parts = 77;
  ASSERT_EQ(lapilli_result_get(whole.handle, 0, 0, &sequence), LAPILLI_OK);
  EXPECT_EQ(sequence.parts, 77u);
}

TEST_F(ApiDevice, StreamsAndCancelsFromTheStream) {
  struct Got {
    std::string text;
    std::vector<int32_t> ids;
    int calls = 0, most = 1 << 30;
  } got;
  lapilli_options options = lapilli_default_options();
  options.num_beams = 1;
  options.steps_in_flight = 1;
  options.stream_user = &got;
  options.stream = [](void* user, const lapilli_stream_event* event) -> int32_t {
    auto& g = *static_cast<Got*>(user);
    EXPECT_EQ(event->struct_size, sizeof *event);
    EXPECT_EQ(event->input, 0u);
    EXPECT_EQ(std::strlen(event->text), event->text_bytes);
    g.text += event->text;
    g.ids.insert(g.ids.end(), event->ids.ids, event->ids.ids + event->ids.count);
    return ++g.calls >= g.most;
  };
  Results results;
  generate({"I would like a cup of coffee, please."}, &options, results);
  ASSERT_EQ(results.status, LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(got.text, results.text(0));
  EXPECT_GT(got.calls, 5);
  lapilli_sequence sequence;
  sequence.struct_size = sizeof sequence;
  ASSERT_EQ(lapilli_result_get(results.handle, 0, 0, &sequence), LAPILLI_OK);
  EXPECT_EQ(got.ids, std::vector<int32_t>(sequence.ids.ids, sequence.ids.ids + sequence.ids.count));
  got = {};
  got.most = 2;
  Results cancelled;
  generate({"I would like a cup of coffee, please."}, &options, cancelled);
  EXPECT_EQ(cancelled.status, LAPILLI_CANCELLED);
  EXPECT_EQ(got.calls, 2);
}

TEST_F(ApiDevice, TasksAndLanguages) {
  EXPECT_EQ(lapilli_model_language_count(model_), 0u);
  EXPECT_EQ(lapilli_model_language(model_, 0), nullptr);
  EXPECT_EQ(lapilli_model_language_count(nullptr), 0u);
  const auto refused = [&](const char* what, auto&& change) {
    lapilli_options options = lapilli_default_options();
    change(options);
    Results results;
    generate({"Hello."}, &options, results);
    EXPECT_EQ(results.status, LAPILLI_INVALID_ARGUMENT) << what;
    EXPECT_TRUE(says(what)) << what << ": " << lapilli_last_error();
  };
  refused("sing", [](lapilli_options& o) { o.task = "sing"; });
  refused("not to \"de\"", [](lapilli_options& o) {
    o.task = "translate";
    o.target_language = "de";
  });
  refused("split_sentences", [](lapilli_options& o) { o.split_sentences = -5; });
}

TEST_F(ApiDevice, MemoryLimitOfAModel) {
  lapilli_device* device = nullptr;
  ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK);
  lapilli_model_options options{};
  options.struct_size = sizeof options;
  options.memory_limit = 1 << 20;
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_model_load_with(device, LAPILLI_SOURCE_DIR "/models/en-fr", &options, &model),
            LAPILLI_OUT_OF_MEMORY);
  EXPECT_EQ(model, nullptr);
  EXPECT_TRUE(says("memory limit")) << lapilli_last_error();
  options.struct_size = 1;
  EXPECT_EQ(lapilli_model_load_with(device, LAPILLI_SOURCE_DIR "/models/en-fr", &options, &model),
            LAPILLI_INVALID_ARGUMENT);
  lapilli_device_close(device);
}

TEST_F(ApiDevice, DtypeOfAModel) {
  const auto load = [&](int32_t dtype, lapilli_model_info& info,
                        int32_t kv_dtype = LAPILLI_DTYPE_FP32) -> lapilli_status {
    lapilli_device* device = nullptr;
    EXPECT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK);
    lapilli_model_options options = lapilli_default_model_options();
    options.dtype = dtype;
    options.kv_dtype = kv_dtype;
    lapilli_model* model = nullptr;
    const auto status = lapilli_model_load_with(device, LAPILLI_SOURCE_DIR "/models/en-fr", &options, &model);
    info.struct_size = sizeof info;
    if (status == LAPILLI_OK) {
      EXPECT_EQ(lapilli_model_get_info(model, &info), LAPILLI_OK);
    }
    lapilli_model_free(model);
    lapilli_device_close(device);
    return status;
  };
  lapilli_model_info fp32{}, held{};
  ASSERT_EQ(load(LAPILLI_DTYPE_FP32, fp32), LAPILLI_OK);
  EXPECT_EQ(fp32.dtype, LAPILLI_DTYPE_FP32);
  for (const int32_t dtype : {LAPILLI_DTYPE_BF16, LAPILLI_DTYPE_FP16}) {
    ASSERT_EQ(load(dtype, held), LAPILLI_OK);
    EXPECT_EQ(held.dtype, dtype);
    EXPECT_EQ(held.fp32_matrices, 0u);
    EXPECT_LT(held.weight_bytes * 10, fp32.weight_bytes * 6);
  }
  ASSERT_EQ(load(LAPILLI_DTYPE_INT8, held), LAPILLI_OK);
  EXPECT_EQ(held.dtype, LAPILLI_DTYPE_INT8);
  EXPECT_LT(held.weight_bytes * 100, fp32.weight_bytes * 35);
  ASSERT_EQ(load(LAPILLI_DTYPE_INT4, held), LAPILLI_OK);
  EXPECT_EQ(held.dtype, LAPILLI_DTYPE_INT4);
  EXPECT_LT(held.weight_bytes * 100, fp32.weight_bytes * 22);
  ASSERT_EQ(load(LAPILLI_DTYPE_AUTO, held), LAPILLI_OK);
  EXPECT_TRUE(held.dtype == LAPILLI_DTYPE_BF16 || held.dtype == LAPILLI_DTYPE_FP16) << held.dtype;
  EXPECT_EQ(load(77, held), LAPILLI_UNSUPPORTED);
  EXPECT_TRUE(says("dtype is 77")) << lapilli_last_error();
  EXPECT_EQ(fp32.kv_dtype, LAPILLI_DTYPE_FP32);
  for (const int32_t kv : {LAPILLI_DTYPE_FP16, LAPILLI_DTYPE_AUTO}) {
    ASSERT_EQ(load(LAPILLI_DTYPE_FP32, held, kv), LAPILLI_OK);
    EXPECT_EQ(held.kv_dtype, kv == LAPILLI_DTYPE_FP16 ? LAPILLI_DTYPE_FP16 : LAPILLI_DTYPE_FP32);
    EXPECT_EQ(held.dtype, LAPILLI_DTYPE_FP32);
  }
  EXPECT_EQ(load(LAPILLI_DTYPE_FP32, held, LAPILLI_DTYPE_BF16), LAPILLI_UNSUPPORTED);
  EXPECT_TRUE(says("kv_dtype is 2")) << lapilli_last_error();
}

TEST_F(ApiDevice, CancelledByProgressKeepsWhatIsFinished) {
  lapilli_options options = lapilli_default_options();
  options.batch = 1;
  options.progress = [](void*, uint64_t done, uint64_t total) -> int32_t {
    EXPECT_LE(done, total);
    return done >= 2;
  };
  // Longest first. A device may finish several before it is asked again, but not so many.
  std::vector<const char*> texts(64, "I would like a cup of coffee, please.");
  texts[0] = "Hello.";
  Results results;
  generate(texts, &options, results);
  EXPECT_EQ(results.status, LAPILLI_CANCELLED);
  ASSERT_NE(results.handle, nullptr);
  EXPECT_EQ(results.text(0), "cancelled");
  size_t finished = 0;
  for (size_t i = 1; i < texts.size(); ++i) {
    if (results.text(i) == "cancelled") continue;
    EXPECT_EQ(results.text(i), "Je voudrais une tasse de café, s'il vous plaît.") << i;
    ++finished;
  }
  EXPECT_GE(finished, 2U);
}

TEST_F(ApiDevice, ProgressCountsSentences) {
  struct Seen {
    uint64_t done = 0, total = 0;
  } seen;
  lapilli_options options = lapilli_default_options();
  options.batch = 1;
  options.split_sentences = 1;
  options.progress_user = &seen;
  options.progress = [](void* user, uint64_t done, uint64_t total) -> int32_t {
    auto* s = static_cast<Seen*>(user);
    EXPECT_GE(done, s->done);
    *s = {done, total};
    return 0;
  };
  Results results;
  generate({"Hello.", "Where is it? I do not know. Good morning."}, &options, results);
  EXPECT_EQ(seen.total, 4u);
  EXPECT_EQ(seen.done, 4u);
}

TEST_F(ApiDevice, CancelledFromAnotherThread) {
  std::atomic<bool> running{false};
  lapilli_options options = lapilli_default_options();
  options.batch = 2;
  options.progress_user = &running;
  options.progress = [](void* user, uint64_t, uint64_t) -> int32_t {
    static_cast<std::atomic<bool>*>(user)->store(true);
    return 0;
  };
  std::thread other([&running] {
    while (!running) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lapilli_cancel(model_);
  });
  Results results;
  generate(std::vector<const char*>(5000, "I would like a cup of coffee, please."), &options, results);
  running = true;  // also after an error before any progress, so that the other thread ends
  other.join();
  EXPECT_EQ(results.status, LAPILLI_CANCELLED);
  EXPECT_TRUE(says("cancelled"));
  // The model goes on as if nothing had been.
  Results after;
  generate({"Where is the station?"}, nullptr, after);
  EXPECT_EQ(after.text(0), "Où est la gare ?");
}

TEST_F(ApiDevice, TwoThreadsAtOnce) {
  const auto work = [](const char* text, const char* french) {
    for (int i = 0; i < 4; ++i) {
      Results results;
      generate({text}, nullptr, results);
      EXPECT_EQ(results.text(0), french) << lapilli_last_error();
    }
  };
  std::thread other([&] { work("What time is it?", "Quelle heure est-il ?"); });
  work("Where is the station?", "Où est la gare ?");
  other.join();
}

TEST_F(ApiDevice, DrawsGoByTheNumbersOfInputs) {
  lapilli_options options = lapilli_default_options();
  options.num_beams = 1;
  options.json = "{\"do_sample\": true, \"seed\": 3}";
  const char* text = "I would like a cup of coffee, please.";
  Results all;
  generate({text, text}, &options, all);
  ASSERT_EQ(all.status, LAPILLI_OK) << lapilli_last_error();
  EXPECT_NE(all.text(0), all.text(1));
  const uint64_t numbers[] = {1, 0};
  options.input_numbers = numbers;
  Results turned, second;
  generate({text, text}, &options, turned);
  EXPECT_EQ(turned.text(0), all.text(1));
  EXPECT_EQ(turned.text(1), all.text(0));
  generate({text}, &options, second);
  EXPECT_EQ(second.text(0), all.text(1));
}

// Few rows are summed by other kernels than many are, unless all must sum in one order.
TEST_F(ApiDevice, DeterministicScoresAreTheSameInAnyCompany) {
  const std::vector<const char*> texts{"I would like a cup of coffee, please.",
                                       "The old man lives by the sea.",
                                       "Tom said he wanted to buy a house in the mountains.",
                                       "Do you know what time it is?",
                                       "We have been waiting for a long time.",
                                       "This book is more interesting than that one.",
                                       "She took the train to Paris yesterday.",
                                       "My brother works at the hospital."};
  lapilli_options options = lapilli_default_options();
  options.num_beams = 4;
  options.deterministic = 1;
  Results together;
  generate(texts, &options, together);
  ASSERT_EQ(together.status, LAPILLI_OK) << lapilli_last_error();
  for (size_t i = 0; i < texts.size(); ++i) {
    Results alone;
    generate({texts[i]}, &options, alone);
    EXPECT_EQ(alone.text(0), together.text(i));
    EXPECT_EQ(alone.score(0), together.score(i)) << texts[i];
  }
}

TEST_F(ApiDevice, WaitsOfAnyLength) {
  lapilli_device_options options{};
  options.struct_size = sizeof options;
  for (const double seconds : {1e300, static_cast<double>(INFINITY)}) {
    options.wait_timeout_s = seconds;
    lapilli_device* device = nullptr;
    lapilli_model* model = nullptr;
    lapilli_result* result = nullptr;
    ASSERT_EQ(lapilli_device_open(&options, &device), LAPILLI_OK) << lapilli_last_error();
    ASSERT_EQ(lapilli_model_load(device, LAPILLI_SOURCE_DIR "/models/en-fr", &model), LAPILLI_OK);
    const lapilli_input input = lapilli_text("Where is the station?");
    EXPECT_EQ(lapilli_generate(model, &input, 1, nullptr, &result), LAPILLI_OK) << lapilli_last_error();
    lapilli_result_free(result);
    lapilli_model_free(model);
    lapilli_device_close(device);
  }
  for (const double seconds : {-1.0, static_cast<double>(NAN)}) {
    options.wait_timeout_s = seconds;
    lapilli_device* device = nullptr;
    EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_INVALID_ARGUMENT);
  }
}

TEST_F(ApiDevice, MissingModel) {
  lapilli_device* device = nullptr;
  ASSERT_EQ(lapilli_device_open(nullptr, &device), LAPILLI_OK);
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_model_load(device, "no/such/model", &model), LAPILLI_NOT_FOUND);
  EXPECT_EQ(model, nullptr);
  EXPECT_TRUE(says("no/such/model")) << lapilli_last_error();
  lapilli_device_close(device);
}

TEST_F(ApiDevice, ListsDevices) {
  const char* json = nullptr;
  ASSERT_EQ(lapilli_devices_json(nullptr, &json), LAPILLI_OK) << lapilli_last_error();
  EXPECT_NE(std::strstr(json, "\"chosen\": true"), nullptr) << json;
}

}  // namespace
