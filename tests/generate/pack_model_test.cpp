// Directories that "lapilli pack" writes: loaded they are, word by word, what packing while loading gives; damaged ones
// and those of other tools are refused.
#include "generate/pack_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "base/path.hpp"
#include "formats/doors/door.hpp"
#include "formats/hostile.hpp"
#include "generate/fitting_tokenizer.hpp"
#include "generate/generate.hpp"
#include "generate/published.hpp"
#include "generate/weight_sources.hpp"
#include "runtime/weights/weights.hpp"
#include "search/network_on_device.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr WeightFormat kPacked[] = {WeightFormat::bf16, WeightFormat::fp16, WeightFormat::int8, WeightFormat::int4};

std::string data_model(const std::string& name) {
  return std::string(LAPILLI_TEST_DATA) + "/models/" + name + "/model";
}

// A model's directory, packed.
class PackedDirectory {
 public:
  PackedDirectory(const std::string& model, WeightFormat format) {
    auto made = pack_model(model, path(), format);
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (made) report = std::move(made).value();
  }
  [[nodiscard]] std::string path() const { return directory_.path() + "/packed"; }
  [[nodiscard]] std::string weights() const { return path() + "/model.safetensors"; }
  [[nodiscard]] std::string config() const { return path() + "/config.json"; }
  PackedModel report;

 private:
  TempDirectory directory_;
};

void write(const std::string& path, const std::string& content) {
  std::filesystem::remove(path);  // it may be mapped
  std::ofstream out(path, std::ios::binary);
  out << content;
  EXPECT_TRUE(out.good()) << path;
}

// Everything that is read before a device has it.
Status read_whole(const std::string& directory) {
  LAPILLI_TRY(const auto published, read_published(directory));
  LAPILLI_TRY(const auto sources, weight_sources(published.network));
  for (const WeightSource& source : sources)
    for (const WeightPart& part : source.parts) {
      const uint64_t bytes = part.rows * part.k * (part.format == StoredFormat::f32 ? 4 : 2);
      LAPILLI_TRY(const auto read, part.bytes(0, bytes));
      EXPECT_EQ(read.size(), bytes);
    }
  return {};
}

TEST(PackModel, TakesTheBitsThatItSays) {
  const PackedDirectory int8(data_model("marian"), WeightFormat::int8), int4(data_model("marian"), WeightFormat::int4);
  EXPECT_GT(int8.report.matrices, 10u);
  EXPECT_LT(int8.report.bytes_after * 10, int8.report.bytes_before * 4);
  EXPECT_LT(int4.report.bytes_after, int8.report.bytes_after);
  LAPILLI_ASSERT_VALUE(const auto published, read_published(int8.path()));
  LAPILLI_ASSERT_VALUE(const auto before, read_published(data_model("marian")));
  EXPECT_EQ(published.packed, WeightFormat::int8);
  EXPECT_EQ(published.network.parameters, before.network.parameters);
  for (const auto& spec : published.network.weights)
    if (spec.kind == model::WeightSpec::Kind::matrix) {
      EXPECT_EQ(spec.format, WeightFormat::int8) << spec.name;
    }
}

TEST(PackModel, CopiesWhatHoldsNoWeights) {
  TempDirectory from;
  from.copy_from(data_model("marian"));
  from.write("LICENSE.txt", "mine");
  from.write("tf_model.h5", "other weights");
  from.write(".hidden", "");
  const PackedDirectory packed(from.path(), WeightFormat::int8);
  EXPECT_EQ(read_file(packed.path() + "/LICENSE.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(packed.path() + "/tf_model.h5"));
  EXPECT_FALSE(std::filesystem::exists(packed.path() + "/.hidden"));
  EXPECT_FALSE(std::filesystem::exists(packed.path() + "/pytorch_model.bin"));
  const auto config = nlohmann::json::parse(read_file(packed.config()));
  EXPECT_EQ(config.at("quantization_config").at("quant_method"), "lapilli");
  EXPECT_EQ(config.at("quantization_config").at("dtype"), "int8");
  auto others = config;
  others.erase("quantization_config");
  EXPECT_EQ(others, nlohmann::json::parse(read_file(from.path() + "/config.json")));
}

// ---- models of other programs
// ----------------------------------------------------------------------------------------

// The ids of a text of the source and of the target, or why there are none. Paths in messages are cut away.
std::string ids_of_texts(const std::string& path) {
  const auto entered = doors::enter(path);
  if (!entered) return entered.error().message;
  const auto published = read_published(entered->files);
  if (!published) return published.error().message;
  const auto tokenizer = load_fitting_tokenizer(published->files, published->network.config);
  if (!tokenizer) return "no tokenizer";
  std::string text;
  for (const TextSide side : {TextSide::source, TextSide::target}) {
    EncodeOptions options;
    options.side = side;
    const auto ids = (*tokenizer)->encode("Where is the station? Hello, World!", options);
    text += ids ? testing::PrintToString(*ids) : ids.error().message;
  }
  return text;
}

struct ForeignFolder {
  const char* name;  // in tests/data/formats
  std::vector<std::string> kept;
};

// Beside the settings of the network and of a search.
std::vector<ForeignFolder> foreign_folders() {
  const std::vector<std::string> none, marian = {"source.spm", "target.spm", "tokenizer_config.json", "vocab.json"},
                                       codes = {"pieces.json", "source.codes", "target.codes", "tokenizer_config.json"},
                                       pieces = {"pieces.json", "source.spm", "target.spm", "tokenizer_config.json"};
  const auto with = [](std::vector<std::string> names, const char* name) { return names.push_back(name), names; };
  return {{"ct2-marian/int8", {"vocab.json"}},
          {"firefox-shared-int8-alphas", with(marian, "lex.s2t.bin")},
          {"firefox-separate-int8-alphas", with(with(marian, "lex.s2t.bin"), "target_vocab.json")},
          {"marian-npz-tied-all", marian},
          {"marian-npz-separate", with(marian, "target_vocab.json")},
          {"fairseq-args", codes},
          {"fairseq-cfg", pieces},
          {"fairseq-omegaconf", codes},
          {"opennmt-v1-shaw", codes},
          {"opennmt-v3-shaw", pieces},
          {"opennmt-v3.5-safetensors", pieces},
          {"tensor2tensor-prenorm", {"pieces.json", "tokenizer_config.json"}},
          {"tensor2tensor-separate", {"pieces.json", "tokenizer_config.json"}}};
}

TEST(PackModel, FilesOfOtherProgramsThatNothingReadsStayBehind) {
  for (const ForeignFolder& folder : foreign_folders()) {
    SCOPED_TRACE(folder.name);
    TempDirectory from;
    from.copy_from(std::string(LAPILLI_TEST_DATA "/formats/") + folder.name);
    from.write("LICENSE", "mine");
    from.write("train.log", "epoch 1");
    const PackedDirectory packed(from.path(), WeightFormat::int8);
    std::vector<std::string> kept = folder.kept;
    for (const char* name : {"LICENSE", "config.json", "generation_config.json", "model.safetensors"})
      kept.emplace_back(name);
    EXPECT_THAT(names_in(packed.path()), testing::UnorderedElementsAreArray(kept));
    EXPECT_EQ(ids_of_texts(packed.path()), ids_of_texts(from.path()));
  }
}

// The files beside a model in one file, or in an archive, that cut its texts.
TEST(PackModel, FilesOfOtherProgramsBringTheirTokenizersAlong) {
  const std::string formats = LAPILLI_TEST_DATA "/formats/";
  std::vector<std::string> models = {formats + "firefox-shared-int8-alphas/model.enpt.intgemm.alphas.bin",
                                     formats + "fairseq-args/model.pt", formats + "opennmt-v3-shaw/model_step_7.pt"};
  const TempDirectory folder;
  std::vector<ZipPart> parts;
  for (const std::string& name : names_in(formats + "marian-npz-tied-all")) {
    const std::string path = formats + "marian-npz-tied-all/" + name;
    parts.push_back({"opus/" + name, read_file(path)});
    if (name.ends_with(".npz")) models.push_back(path);
  }
  models.push_back(folder.write("opus.zip", zip(parts)));
  for (const std::string& model : models) {
    const PackedDirectory packed(model, WeightFormat::int8);
    EXPECT_EQ(ids_of_texts(packed.path()), ids_of_texts(model)) << model;
    EXPECT_THAT(ids_of_texts(model), HasSubstr("{")) << model;
  }
}

TEST(PackModel, EveryFamily) {
  for (const auto& entry : std::filesystem::directory_iterator(LAPILLI_TEST_DATA "/models")) {
    if (!std::filesystem::exists(entry.path() / "model/config.json")) continue;
    const std::string from = (entry.path() / "model").string();
    const std::string name_of_folder = entry.path().filename().string();
    const bool side_by_side =
        name_of_folder == "vit-gpt2" || name_of_folder.starts_with("xlnet") || name_of_folder.starts_with("transfo-xl");
    if (side_by_side) {  // matrices lie side by side, or by head
      const TempDirectory out;
      const auto refused = pack_model(from, out.path() + "/packed", WeightFormat::int8);
      ASSERT_FALSE(refused.ok());
      EXPECT_THAT(refused.error().message, testing::HasSubstr("side by side"));
      continue;
    }
    for (const WeightFormat format : {WeightFormat::int8, WeightFormat::fp16}) {
      const PackedDirectory packed(from, format);
      const Status read = read_whole(packed.path());
      EXPECT_TRUE(read.ok()) << entry.path() << " " << name(format) << ": " << read.error().message;
    }
  }
}

std::string sentence_model(const std::string& name) { return LAPILLI_TEST_DATA "/sentences/" + name; }

// The matrices of linear layers are copied, so only those of the network are packed.
void expect_packed_sentences(const std::string& from, const std::string& network, WeightFormat format) {
  const PackedDirectory packed(from, format);
  const Status read = read_whole(packed.path());
  EXPECT_TRUE(read.ok()) << read.error().message;
  LAPILLI_ASSERT_VALUE(const auto before, read_published(from));
  LAPILLI_ASSERT_VALUE(const auto after, read_published(packed.path()));
  EXPECT_EQ(after.packed, format);
  EXPECT_EQ(after.network.parameters, before.network.parameters);
  ASSERT_EQ(after.network.weights.size(), before.network.weights.size());
  for (const auto& spec : after.network.weights) {
    if (spec.kind != model::WeightSpec::Kind::matrix) continue;
    const std::string& stored = spec.parts.front().tensor->name;
    const bool dense = stored.starts_with("2_Dense.") || stored.starts_with("3_Dense.");
    EXPECT_EQ(spec.format, dense && packed::has_scales(format) ? WeightFormat::fp32 : format) << spec.name;
  }
  const auto is_there = [&](const std::string& name) { return std::filesystem::exists(packed.path() + "/" + name); };
  EXPECT_TRUE(is_there(network + "model.safetensors") && is_there(network + "tokenizer.json"));
  EXPECT_EQ(is_there("model.safetensors"), network.empty());
  // Beside a folder with the network it is another file, which only states a version.
  EXPECT_EQ(read_file(packed.path() + "/config.json") == read_file(from + "/config.json"), !network.empty());
  for (const char* name : {"modules.json", "1_Pooling/config.json"})
    EXPECT_EQ(read_file(packed.path() + "/" + name), read_file(from + "/" + name)) << name;
  EXPECT_THAT(packed.report.copied, testing::Contains("1_Pooling/config.json"));
}

TEST(PackModel, FoldersOfSentenceTransformers) {
  for (const WeightFormat format : kPacked) {
    SCOPED_TRACE(name(format));
    expect_packed_sentences(sentence_model("bert-cls/model"), "", format);
    expect_packed_sentences(sentence_model("distilbert-mean-dense/model"), "0_Transformer/", format);
    expect_packed_sentences(sentence_model("distilbert-mean-dense/model-newer"), "", format);
  }
  const std::string from = sentence_model("distilbert-mean-dense/model-newer");
  const PackedDirectory packed(from, WeightFormat::int8);
  EXPECT_EQ(read_file(packed.path() + "/2_Dense/model.safetensors"), read_file(from + "/2_Dense/model.safetensors"));
}

TEST(PackModel, FoldersOfDecodersThatEmbed) {
  for (const WeightFormat format : kPacked) {
    SCOPED_TRACE(name(format));
    expect_packed_sentences(sentence_model("qwen3-lasttoken/model"), "", format);
    expect_packed_sentences(sentence_model("gemma3-bidirectional/model"), "", format);
  }
  const TempDirectory out;  // GPT-2 stores its matrices transposed
  const auto refused =
      pack_model(sentence_model("gpt2-weightedmean/model"), out.path() + "/packed", WeightFormat::int8);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("transposed"), HasSubstr("--dtype int8 when it is loaded")));
}

TEST(PackModel, WithoutAFormatMatricesKeepTheirs) {
  const PackedDirectory bf16(data_model("marian"), WeightFormat::bf16);
  TempDirectory published, out;
  published.copy_from(data_model("marian"));
  published.write("model.safetensors", read_file(bf16.weights()));
  const auto made = pack_model(published.path(), out.path() + "/made", std::nullopt);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->format, WeightFormat::bf16);
  EXPECT_EQ(read_file(out.path() + "/made/model.safetensors"), read_file(bf16.weights()));
  const auto nothing = pack_model(data_model("marian"), out.path() + "/none", std::nullopt);
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(nothing.error().message, HasSubstr("matrices in fp32"));
}

TEST(PackModel, WhatCannotBePacked) {
  TempDirectory out;
  const auto error = [&](const std::string& model, const std::string& to, WeightFormat format) {
    const auto made = pack_model(model, to, format);
    return made ? std::string() : made.error().message;
  };
  EXPECT_THAT(error(data_model("marian"), out.path() + "/x", WeightFormat::fp32), HasSubstr("nothing to pack"));
  EXPECT_THAT(error(out.path() + "/none", out.path() + "/x", WeightFormat::int8), HasSubstr("not a directory"));
  out.write("file", "");
  EXPECT_THAT(error(data_model("marian"), out.path(), WeightFormat::int8), HasSubstr("is there already"));
  EXPECT_THAT(error(data_model("marian"), out.path() + "/file", WeightFormat::int8), HasSubstr("is there already"));
  EXPECT_THAT(error(data_model("marian"), out.path() + "/file/x", WeightFormat::int8), HasSubstr("cannot be made"));
  const PackedDirectory packed(data_model("marian"), WeightFormat::int8);
  EXPECT_THAT(error(packed.path(), out.path() + "/x", WeightFormat::int4),
              AllOf(HasSubstr("is packed as int8 already"), HasSubstr("was made from")));
  EXPECT_FALSE(std::filesystem::exists(out.path() + "/x"));
}

TEST(PackModel, OthersAreRefusedByName) {
  TempDirectory model;
  model.copy_from(data_model("marian"));
  const auto with = [&](const nlohmann::json& quantization) {
    auto config = nlohmann::json::parse(read_file(model_directory("marian") + "/model/config.json"));
    config["quantization_config"] = quantization;
    model.write("config.json", config.dump());
    const auto read = read_published(model.path());
    return read ? std::string() : read.error().message;
  };
  const std::pair<const char*, const char*> tools[] = {{"bitsandbytes", "bitsandbytes"},
                                                       {"gptq", "GPTQ"},
                                                       {"awq", "AWQ"},
                                                       {"fp8", "FP8"},
                                                       {"compressed-tensors", "compressed-tensors"},
                                                       {"torchao", "torchao"}};
  for (const auto& [method, name] : tools)
    EXPECT_THAT(with({{"quant_method", method}, {"bits", 4}}), AllOf(HasSubstr(name), HasSubstr("lapilli pack")));
  EXPECT_THAT(with({{"load_in_8bit", true}}), HasSubstr("bitsandbytes"));
  EXPECT_THAT(with(nlohmann::json::object()), HasSubstr("an unnamed tool"));
  EXPECT_THAT(with("int8"), HasSubstr("is not an object"));
  EXPECT_THAT(with({{"quant_method", 3}}), HasSubstr("quant_method"));
  EXPECT_THAT(with({{"quant_method", "lapilli"}, {"dtype", "int8"}}), HasSubstr("version"));
  EXPECT_THAT(with({{"quant_method", "lapilli"}, {"version", 2}, {"dtype", "int8"}}), HasSubstr("newer Lapilli"));
  for (const char* dtype : {"int3", "auto", "fp32"})
    EXPECT_THAT(with({{"quant_method", "lapilli"}, {"version", 1}, {"dtype", dtype}}),
                HasSubstr("no format of packed"));
  EXPECT_THAT(with({{"quant_method", "lapilli"}, {"version", 1}, {"dtype", "int8"}, {"tied", {{"a", "b"}}}}),
              HasSubstr("cannot be tied"));
  EXPECT_THAT(with({{"quant_method", "lapilli"}, {"version", 1}, {"dtype", "int8"}, {"tied", {{"a", 1}}}}),
              HasSubstr("tied"));
  EXPECT_EQ(with(nullptr), "");
}

// One tensor of a packed file is changed in its header, whose size stays.
class DamagedDirectory : public testing::Test {
 protected:
  std::string with(const std::string& from, const std::string& to) {
    std::string bytes = whole_;
    for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 1))
      bytes.replace(at, from.size(), to);
    EXPECT_NE(bytes, whole_);
    return error_of(bytes);
  }
  std::string error_of(const std::string& bytes) {
    write(packed_.weights(), bytes);
    const auto read = read_whole(packed_.path());
    return read ? std::string() : read.error().message;
  }
  PackedDirectory packed_{data_model("marian"), WeightFormat::int8};
  std::string whole_ = read_file(packed_.weights());
};

TEST_F(DamagedDirectory, Shapes) {
  EXPECT_THAT(with("\"U32\"", "\"I32\""), HasSubstr("has shape"));
  EXPECT_THAT(with("\"U32\"", "\"F32\""), HasSubstr("has shape"));
  EXPECT_THAT(error_of(whole_.substr(0, whole_.size() - 1)), Not(""));
  EXPECT_THAT(error_of(whole_.substr(0, whole_.size() / 2)), Not(""));
  EXPECT_THAT(error_of(""), Not(""));
  write(packed_.weights(), whole_);
  auto config = nlohmann::json::parse(read_file(packed_.config()));
  config["quantization_config"]["dtype"] = "int4";
  write(packed_.config(), config.dump());
  EXPECT_THAT(error_of(whole_), HasSubstr("packed as int4"));
  config.erase("quantization_config");
  write(packed_.config(), config.dump());
  EXPECT_THAT(error_of(whole_), AnyOf(HasSubstr("U32"), HasSubstr("has shape")));
}

// A scale that is infinite, or no number, where the first matrix begins.
TEST_F(DamagedDirectory, Scales) {
  uint64_t size = 0;
  std::memcpy(&size, whole_.data(), 8);
  const auto header = nlohmann::json::parse(whole_.substr(8, size));
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__" || tensor.at("dtype") != "U32") continue;
    for (const uint32_t scale : {0x7f800000u, 0x7fc00000u, 0xffffffffu}) {
      std::string bytes = whole_;
      std::memcpy(bytes.data() + 8 + size + tensor.at("data_offsets").at(0).get<uint64_t>(), &scale, 4);
      EXPECT_THAT(error_of(bytes), AllOf(HasSubstr(name), HasSubstr("scales that are no numbers")));
    }
  }
  EXPECT_EQ(error_of(whole_), "");
}

// Bytes changed at random, in the end of the configuration, where the quantization stands, in the header of the
// weights, or in the words: refused with words, or read.
TEST_F(DamagedDirectory, Mutations) {
  std::mt19937 random(11);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  uint64_t size = 0;
  std::memcpy(&size, whole_.data(), 8);
  const std::string config = read_file(packed_.config());
  int read = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string bytes = whole_, text = config;
    const auto change = [&](std::string& target, size_t begin, size_t end) {
      for (size_t n = 1 + pick(3); n > 0; --n)
        target[begin + pick(end - begin)] = "{}[]\":,0123456789.-eE\\\xff"[pick(22)];
    };
    if (i % 3 == 0) change(text, config.find("quantization_config"), config.size());
    if (i % 3 == 1) change(bytes, 0, 8 + size);
    if (i % 3 == 2) change(bytes, 8 + size, bytes.size());
    if (i % 7 == 0) bytes.resize(pick(bytes.size()));
    write(packed_.config(), text);
    read += error_of(bytes).empty();
  }
  EXPECT_GT(read, 200);
  EXPECT_LT(read, 900);
}

std::vector<std::byte> words_on(const Model& model, uint32_t index) {
  const BufferRef ref = model.on_device().weights->find(index);
  std::vector<std::byte> bytes(ref.size);
  LAPILLI_EXPECT_OK(model.device()->read(*ref.buffer, ref.offset, bytes));
  return bytes;
}

Result<std::shared_ptr<Model>> load(const std::shared_ptr<vulkan::Device>& device, const std::string& directory,
                                    std::optional<WeightFormat> format = WeightFormat::fp32) {
  LoadOptions options;
  options.format = format;
  return Model::load(device, directory, options);
}

class DevicePackModel : public testing::Test {
 protected:
  void SetUp() override { LAPILLI_ASSERT_VALUE(device_, testing_support::shared_device()); }
  // All weights on the device, and what a search makes of them.
  void expect_same(const std::string& directory, WeightFormat format) {
    const PackedDirectory packed(directory, format);
    LAPILLI_ASSERT_VALUE(const auto at_load, load(device_, directory, format));
    LAPILLI_ASSERT_VALUE(const auto before, load(device_, packed.path()));
    EXPECT_EQ(before->info().format, format);
    EXPECT_EQ(before->info().weight_bytes, at_load->info().weight_bytes);
    EXPECT_EQ(before->info().fp32_matrices, at_load->info().fp32_matrices);
    EXPECT_EQ(before->info().parameters, at_load->info().parameters);
    const auto count = static_cast<uint32_t>(at_load->on_device().network.weights.size());
    ASSERT_EQ(before->on_device().network.weights.size(), count);
    for (uint32_t i = 0; i < count; ++i)
      ASSERT_EQ(words_on(*at_load, i), words_on(*before, i))
          << at_load->on_device().network.weights[i].name << " " << name(format);
    GenerateRequest request;
    request.sources = {{5, 6, 7, 8, 1}, {9, 3, 1}};
    request.options.max_new_tokens = 12;
    LAPILLI_ASSERT_VALUE(const auto a, generate(at_load, request));
    LAPILLI_ASSERT_VALUE(const auto b, generate(before, request));
    for (size_t i = 0; i < 2; ++i) EXPECT_EQ(a.hypotheses[i].front().ids, b.hypotheses[i].front().ids);
  }
  std::shared_ptr<vulkan::Device> device_;
};

TEST_F(DevicePackModel, LoadsTheVeryWords) {
  for (const WeightFormat format : kPacked)
    for (const char* model : {"marian", "marian-separate-vocab", "t5-v1_1", "prophetnet"})
      expect_same(data_model(model), format);
}

TEST_F(DevicePackModel, TheDirectorySaysTheDtype) {
  const PackedDirectory packed(data_model("marian"), WeightFormat::int8);
  for (const auto format :
       {std::optional<WeightFormat>(), std::optional(WeightFormat::fp32), std::optional(WeightFormat::int8)}) {
    LAPILLI_ASSERT_VALUE(const auto model, load(device_, packed.path(), format));
    EXPECT_EQ(model->info().format, WeightFormat::int8);
    EXPECT_EQ(model->info().stored_dtype, "int8");
  }
  const auto other = load(device_, packed.path(), WeightFormat::bf16);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(other.error().message,
              AllOf(HasSubstr("packed as int8"), HasSubstr("bf16"), HasSubstr("leave the dtype")));
}

}  // namespace
}  // namespace lapilli
