// The C++ face: values, errors, options that arrive, exceptions that pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include "lapilli/lapilli.hpp"

namespace {

const std::string kEnFrModel = LAPILLI_SOURCE_DIR "/models/en-fr";

TEST(CppDevice, Translates) {
  auto model = lapilli::Model::load(kEnFrModel);
  ASSERT_TRUE(model) << model.error().what();
  auto results = model->translate({"Where is the station?", "\xff"});
  ASSERT_TRUE(results) << results.error().what();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[0].text(), "Où est la gare ?");
  EXPECT_FALSE((*results)[1].ok());
  EXPECT_EQ((*results)[1].error->status(), lapilli::Status::invalid_argument);
  EXPECT_EQ((*results)[1].text(), "");

  auto ids = model->generate_ids({{463, 30, 16, 975, 23, 0}, {}});
  ASSERT_TRUE(ids) << ids.error().what();
  EXPECT_EQ((*ids)[0].sequences[0].ids, (lapilli::Ids{327, 31, 21, 1095, 11, 0}));
  EXPECT_FALSE((*ids)[1].ok());  // given, and empty
}

TEST(CppDevice, OptionsArrive) {
  auto model = lapilli::Model::load(kEnFrModel).value();
  lapilli::Options options;
  options.num_beams = 2;
  options.num_return_sequences = 2;
  options.max_new_tokens = 3;
  options.forced_eos_token = LAPILLI_NO_TOKEN;
  options.bad_words = std::vector<lapilli::Ids>{{327}};  // the token that the answer would begin with
  auto results = model.translate({"Where is the station?"}, options).value();
  ASSERT_EQ(results[0].sequences.size(), 2u);
  for (const auto& sequence : results[0].sequences) {
    EXPECT_LE(sequence.ids.size(), 3u);
    EXPECT_EQ(std::count(sequence.ids.begin(), sequence.ids.end(), 327), 0);
  }
  options.num_return_sequences = 3;
  EXPECT_EQ(model.translate({"Hello."}, options).error().status(), lapilli::Status::invalid_argument);
  // Options in JSON hold where no field says otherwise.
  options = {};
  options.json = R"({"num_beams": 3, "num_return_sequences": 2})";
  EXPECT_EQ(model.translate({"Hello."}, options).value()[0].sequences.size(), 2u);
  options.num_return_sequences = 1;
  EXPECT_EQ(model.translate({"Hello."}, options).value()[0].sequences.size(), 1u);
  options.input_numbers = {4, 5};
  EXPECT_EQ(model.translate({"Hello."}, options).error().status(), lapilli::Status::invalid_argument);
  options.input_numbers = {4};
  EXPECT_TRUE(model.translate({"Hello."}, options).ok());
}

TEST(CppDevice, ExceptionsOfProgressPassTheLibrary) {
  auto model = lapilli::Model::load(kEnFrModel).value();
  lapilli::Options options;
  options.progress = [](uint64_t, uint64_t) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW((void)model.translate({"Hello."}, options), std::runtime_error);
}

TEST(CppDevice, StreamsAndGivesParts) {
  auto model = lapilli::Model::load(kEnFrModel).value();
  EXPECT_TRUE(model.languages().value().empty());
  lapilli::Options options;
  std::string text;
  lapilli::Ids ids;
  options.stream = [&](size_t input, std::string_view more, const lapilli::Ids& fresh) {
    EXPECT_EQ(input, 0u);
    text += more;
    ids.insert(ids.end(), fresh.begin(), fresh.end());
    return true;
  };
  options.split_sentences = true;
  auto results = model.translate({"What time is it? Where is the station?"}, options).value();
  const auto& best = results[0].sequences[0];
  EXPECT_EQ(text, best.text);
  EXPECT_EQ(ids, best.ids);
  EXPECT_EQ(best.token_scores.size(), best.ids.size());
  ASSERT_EQ(best.parts.size(), 2u);
  EXPECT_EQ(best.parts[1].text, "Où est la gare ?");
  const auto parts = [&](std::optional<bool> split) {
    options = {};
    options.split_sentences = split;
    return model.translate({"What time is it? Where is the station?"}, options).value()[0].sequences[0].parts.size();
  };
  EXPECT_EQ(parts(std::nullopt), 2u);
  EXPECT_EQ(parts(false), 1u);
  options = {};
  options.stream = [](size_t, std::string_view, const lapilli::Ids&) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW((void)model.translate({"Hello."}, options), std::runtime_error);
  lapilli::ModelOptions limits;
  limits.memory_limit = 1000;
  EXPECT_EQ(lapilli::Model::load(kEnFrModel, {}, limits).error().status(), lapilli::Status::out_of_memory);
  limits = {};
  limits.dtype = lapilli::Dtype::bf16;
  limits.kv_dtype = lapilli::Dtype::fp16;
  EXPECT_EQ(lapilli::Model::load(kEnFrModel, {}, limits).value().info().value().dtype, LAPILLI_DTYPE_BF16);
  EXPECT_EQ(lapilli::Model::load(kEnFrModel, {}, limits).value().info().value().kv_dtype, LAPILLI_DTYPE_FP16);
}

// A file in memory, closed by its end.
class CppReader final : public lapilli::FileReader {
 public:
  CppReader(std::string content, int& open) : content_(std::move(content)), open_(open) { ++open_; }
  ~CppReader() override { --open_; }
  CppReader(const CppReader&) = delete;
  CppReader& operator=(const CppReader&) = delete;
  uint64_t size() const override { return content_.size(); }
  lapilli::Status read(uint64_t offset, void* to, uint64_t bytes, uint64_t& done) override {
    done = content_.copy(static_cast<char*>(to), bytes, offset);
    return lapilli::Status::ok;
  }

 private:
  std::string content_;
  int& open_;
};

std::string content_of(const std::ifstream& file) {
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TEST(CppDevice, FilesOfTheProgram) {
  using Opened = lapilli::Result<std::unique_ptr<lapilli::FileReader>>;
  int open = 0;
  lapilli::ModelOptions options;
  options.open_file = [&](const std::string& name) -> Opened {
    std::ifstream file(kEnFrModel + "/" + name, std::ios::binary);
    if (!file) return lapilli::Error(lapilli::Status::not_found, "none");
    return std::unique_ptr<lapilli::FileReader>(new CppReader(content_of(file), open));
  };
  const auto device = lapilli::Device::open().value();
  auto model = lapilli::Model::load(device, "pak", options).value();
  EXPECT_EQ(open, 0);
  const std::string text = model.translate({"Where is the station?"}).value()[0].text();
  auto loading_open = lapilli::Loading::start(device, "pak", options).value();
  while (!loading_open.wait(1000).value())
    EXPECT_LE(loading_open.progress().value().done_bytes, loading_open.progress().value().all_bytes);
  EXPECT_EQ(open, 0);
  EXPECT_EQ(loading_open.take().value().translate({"Where is the station?"}).value()[0].text(), text);
  EXPECT_EQ(text, "Où est la gare ?");
  options.open_file = [](const std::string&) -> Opened { throw std::runtime_error("not today"); };
  EXPECT_THROW((void)lapilli::Model::load(device, "pak", options), std::runtime_error);
  auto thrown = lapilli::Loading::start(device, "pak", options).value();
  EXPECT_TRUE(thrown.wait().value());
  EXPECT_THROW((void)thrown.take(), std::runtime_error);
  options.open_file = [](const std::string&) -> Opened { return lapilli::Error(lapilli::Status::cancelled, "no"); };
  EXPECT_EQ(lapilli::Model::load(device, "pak", options).error().status(), lapilli::Status::cancelled);

  options = {};
  std::map<std::string, std::string> files;
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors", "source.spm", "target.spm",
                           "tokenizer_config.json", "vocab.json"}) {
    std::ifstream file(kEnFrModel + "/" + name, std::ios::binary);
    files[name] = content_of(file);
    options.parts.push_back(lapilli::FilePart::in_memory(name, files[name].data(), files[name].size()));
  }
  // A loading keeps what it needs of the options.
  auto loading = lapilli::Loading::start(device, "pak", std::exchange(options, {})).value();
  EXPECT_TRUE(loading.wait().value());
  auto other = loading.take().value();
  EXPECT_EQ(other.translate({"Where is the station?"}).value()[0].text(), text);
}

TEST(CppDevice, TextsWithoutATask) {
  auto model = lapilli::Model::load(kEnFrModel).value();
  EXPECT_EQ(model.generate({"Where is the station?"}).value()[0].text(), "Où est la gare ?");
}

// Objects that hold nothing give an error, and never crash.
template <class T>
void expect_empty(const lapilli::Result<T>& result) {
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().status(), lapilli::Status::invalid_argument) << result.error().what();
  EXPECT_FALSE(result.error().message().empty());
}

TEST(Cpp, EmptyModelsAndDevicesGiveErrors) {
  const lapilli::Device device;
  EXPECT_FALSE(device);
  expect_empty(lapilli::Model::load(device, kEnFrModel));
  expect_empty(lapilli::Loading::start(device, kEnFrModel));
  expect_empty(device.usage());
  expect_empty(device.trim());
  expect_empty(device.pause());
  expect_empty(device.resume());
  expect_empty(device.store_cache());
  expect_empty(device.write_trace());
  expect_empty(device.append(nullptr, 0));
  expect_empty(device.completed(1));
  expect_empty(device.dropped(1));
  const lapilli::Model model;
  EXPECT_FALSE(model);
  expect_empty(model.translate({"Hello."}));
  expect_empty(model.summarize({"Hello."}));
  expect_empty(model.generate({"Hello."}));
  expect_empty(model.generate_ids({{1, 0}}));
  expect_empty(model.transcribe({}));
  expect_empty(model.describe({}));
  expect_empty(model.start({"Hello."}));
  expect_empty(model.prepare({}));
  expect_empty(model.pump());
  expect_empty(model.wait());
  expect_empty(model.tune({}, 1));
  expect_empty(model.info());
  expect_empty(model.languages());
  expect_empty(model.encode("Hello."));
  expect_empty(model.count_tokens("Hello."));
  expect_empty(model.decode({1}));
  expect_empty(model.trim());
  model.cancel();
  expect_empty(lapilli::draw_attention(model, {}, 0));
}

TEST(Cpp, EmptyJobsGiveErrors) {
  lapilli::Job job;
  EXPECT_FALSE(job);
  expect_empty(job.pump());
  expect_empty(job.wait());
  expect_empty(job.next_event());
  expect_empty(job.append_samples(0, nullptr, 0));
  expect_empty(job.end_samples(0));
  expect_empty(job.wants_samples());
  expect_empty(job.draw_attention());
  expect_empty(job.resume({}));
  expect_empty(job.take());
  job.cancel();
  lapilli::Loading loading;
  EXPECT_FALSE(loading);
  expect_empty(loading.pump());
  expect_empty(loading.wait());
  expect_empty(loading.progress());
  expect_empty(loading.take());
  loading.cancel();
  const lapilli::Attention attention;
  EXPECT_FALSE(attention);
  expect_empty(lapilli::Attention::run({}, {}, 0));
  expect_empty(attention.map());
  expect_empty(attention.token(false, 0));
  expect_empty(attention.json());
  expect_empty(attention.png());
  expect_empty(attention.align());
}

TEST(CppDevice, CancelledResults) {
  auto model = lapilli::Model::load(kEnFrModel).value();
  lapilli::Options options;
  options.progress = [](uint64_t, uint64_t) { return false; };
  auto results = model.translate({"Hello."}, options).value();
  EXPECT_TRUE(results.cancelled());
  EXPECT_EQ(results[0].error->status(), lapilli::Status::cancelled);
}

TEST(CppDevice, ValueOfAFailureThrowsTheError) {
  auto model = lapilli::Model::load("no/such/model");
  ASSERT_FALSE(model);
  try {
    (void)model.value();
    FAIL();
  } catch (const lapilli::Error& error) {
    EXPECT_EQ(error.status(), lapilli::Status::not_found);
    EXPECT_NE(error.message().find("no/such/model"), std::string::npos);
  }
}

}  // namespace
