// Files of whisper.cpp: blocks bit by bit, tensors against the record that they were made from, ids by the rule, and
// each kind of damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "base/half.hpp"
#include "formats/doors/door.hpp"
#include "formats/doors/ggml/ggml_blocks.hpp"
#include "formats/doors/ggml/ggml_file.hpp"
#include "formats/doors/ggml/whisper_ids.hpp"
#include "formats/foreign_model.hpp"
#include "formats/hf_config.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::doors {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kFolder = LAPILLI_TEST_DATA "/formats/ggml-whisper/";
const std::string kRecord = LAPILLI_TEST_DATA "/models/whisper/model/";

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file beside the record's settings, which name the special ids of its small vocabulary.
class GgmlFiles : public ::testing::Test {
 protected:
  TempDirectory dir_;

  GgmlFiles() {
    for (const char* name : {"config.json", "generation_config.json"})
      (void)dir_.write(name, content_of(kRecord + name));
  }
  Result<Entered> come_in(const std::string& content) { return enter(Files(dir_.write("ggml-model.bin", content))); }
  void refused(const std::string& content, const std::string& why, ErrorCode code = ErrorCode::invalid_data) {
    const auto in = come_in(content);
    ASSERT_FALSE(in.ok()) << "expected: " << why;
    EXPECT_EQ(in.error().code, code);
    EXPECT_THAT(in.error().message, AllOf(HasSubstr("ggml-model.bin"), HasSubstr(why)));
  }
};

// ---- blocks ---------------------------------------------------------------------------------------------------------

std::string block_of(float scale, const std::string& rest) { return little(float_to_half(scale)) + rest; }

std::vector<std::byte> made_of_block(GgmlType type, const std::string& block) {
  std::vector<std::byte> made(ggml_made_bytes(type));
  EXPECT_EQ(block.size(), ggml_unit_bytes(type));
  EXPECT_TRUE(convert_block(type, reinterpret_cast<const std::byte*>(block.data()), made.data()));
  return made;
}

float scale_of(const std::vector<std::byte>& made) {
  float scale = 0;
  std::memcpy(&scale, made.data(), sizeof scale);
  return scale;
}

TEST(GgmlBlocks, WholeNumbersAndScalesStayAsTheyAre) {
  std::string q8;
  for (int j = 0; j < 32; ++j) q8 += static_cast<char>(j * 8 - 128 + j % 7);
  const auto eight = made_of_block(GgmlType::q8_0, block_of(-0.375f, q8));
  EXPECT_EQ(scale_of(eight), -0.375f);
  EXPECT_EQ(std::memcmp(eight.data() + 4, q8.data(), 32), 0);

  std::string nibbles;
  for (int j = 0; j < 16; ++j) nibbles += static_cast<char>(j | (15 - j) << 4);
  const auto four = made_of_block(GgmlType::q4_0, block_of(2.5f, nibbles));
  EXPECT_EQ(scale_of(four), 2.5f);
  const uint32_t high = 0xa5c30f81;
  const auto five = made_of_block(GgmlType::q5_0, block_of(2.5f, little(high) + nibbles));
  for (int j = 0; j < 32; ++j) {
    const int low = j < 16 ? j : 31 - j, fifth = static_cast<int>(high >> j & 1u) << 4;
    EXPECT_EQ(static_cast<int8_t>(four[4 + static_cast<size_t>(j)]), low - 8) << j;
    EXPECT_EQ(static_cast<int8_t>(five[4 + static_cast<size_t>(j)]), low + fifth - 16) << j;
  }
}

TEST(GgmlBlocks, ThoseWithAMinimumBecomeFloats) {
  std::string nibbles;
  for (int j = 0; j < 16; ++j) nibbles += static_cast<char>(j | (15 - j) << 4);
  const std::string least = little(float_to_half(-1.75f));
  const auto four = made_of_block(GgmlType::q4_1, block_of(0.1f, least + nibbles));
  const float scale = half_to_float(float_to_half(0.1f));
  for (int j = 0; j < 32; ++j) {
    float value = 0;
    std::memcpy(&value, four.data() + 4 * j, 4);
    EXPECT_EQ(value, static_cast<float>(j < 16 ? j : 31 - j) * scale - 1.75f) << j;
  }
}

TEST(GgmlBlocks, ScalesThatAreNoNumbersAreSeen) {
  for (const GgmlType type : {GgmlType::q8_0, GgmlType::q5_0, GgmlType::q4_0, GgmlType::q4_1, GgmlType::q5_1})
    for (const uint16_t scale : {0x7c00, 0xfc00, 0x7e00}) {
      const std::string block = little(scale) + std::string(ggml_unit_bytes(type) - 2, '\1');
      std::vector<std::byte> made(ggml_made_bytes(type));
      EXPECT_FALSE(convert_block(type, reinterpret_cast<const std::byte*>(block.data()), made.data()));
    }
}

// ---- files ----------------------------------------------------------------------------------------------------------

TEST_F(GgmlFiles, Fp32HasTheRecordsTensors) {
  const auto in = come_in(content_of(kFolder + "ggml-f32.bin"));
  ASSERT_TRUE(in.ok()) << in.error().message;
  const auto made = Checkpoint::open(in->files), record = Checkpoint::open(kRecord);
  ASSERT_TRUE(made.ok() && record.ok());
  EXPECT_EQ(in->origin.program, "whisper.cpp");
  EXPECT_EQ(made->names(), record->names());
  for (const StoredTensor& t : record->tensors()) {
    ASSERT_TRUE(made->find(t.name));
    EXPECT_TRUE(same_values(*made->find(t.name), t)) << t.name;
  }
}

// A packed matrix in numbers.
std::vector<float> unpacked(const StoredTensor& t) {
  std::vector<float> out;
  const auto stored = load_bytes(t);
  EXPECT_TRUE(stored.ok());
  for (size_t at = 0; at < stored->bytes.size(); at += 36)
    for (size_t j = 0; j < 32; ++j) {
      float scale = 0;
      std::memcpy(&scale, stored->bytes.data() + at, 4);
      out.push_back(scale * static_cast<float>(static_cast<int8_t>(stored->bytes[at + 4 + j])));
    }
  return out;
}

TEST_F(GgmlFiles, QuantizedOnesAreTheRecordWithinTheirSteps) {
  const auto record = Checkpoint::open(kRecord);
  const auto expected = read_json_file(kFolder + "expected.json");
  ASSERT_TRUE(record.ok() && expected.ok());
  for (const auto& [kind, file] : (*expected)["files"].items()) {
    const auto in = come_in(content_of(kFolder + file["file"].get<std::string>()));
    ASSERT_TRUE(in.ok()) << in.error().message;
    const auto made = Checkpoint::open(in->files);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(in->origin.version, "ggml, " + kind);
    double worst = 0;
    for (const StoredTensor& t : record->tensors()) {
      const StoredTensor* own = made->find(t.name);
      ASSERT_TRUE(own) << t.name;
      const auto right = *read_floats(t), ours = own->type == StoredType::u32 ? unpacked(*own) : *read_floats(*own);
      ASSERT_EQ(ours.size(), right.size()) << t.name;
      for (size_t i = 0; i < ours.size(); ++i)
        worst = std::max(worst, static_cast<double>(std::abs(ours[i] - right[i])));
    }
    const double largest = file["largest_weight_error"].get<double>();
    EXPECT_NEAR(worst, largest, 1e-6 * largest) << kind;
  }
}

TEST_F(GgmlFiles, TheTextsAreThoseOfADirectory) {
  const auto in = come_in(content_of(kFolder + "ggml-q5_0.bin"));
  ASSERT_TRUE(in.ok()) << in.error().message;
  const auto ours = read_json_file(in->files / "config.json"), record = read_json_file(kRecord + "config.json");
  ASSERT_TRUE(ours.ok() && record.ok());
  for (const auto& [key, value] : ours->items())
    if (key != "quantization_config" && key != "scale_embedding") {
      EXPECT_EQ(value, (*record)[key]) << key;
    }
  EXPECT_EQ((*ours)["quantization_config"]["dtype"], "int8");
  EXPECT_EQ(*read_text_file(in->files / "generation_config.json"), content_of(kRecord + "generation_config.json"));
  EXPECT_EQ(read_json_file(in->files / "vocab.json")->size(), 278u);
}

TEST_F(GgmlFiles, SpecialIdsThatNobodyGivesAreRefusedWithTheNumber) {
  remove_even_mapped(named(dir_.path() + "/config.json"));
  refused(content_of(kFolder + "ggml-f32.bin"), "vocabulary of 330 ids", ErrorCode::unsupported);
}

// Case 26: content decides. GGUF under the name of such a file: CliForeignNames.ModelsOfOthersAreNamed.
TEST_F(GgmlFiles, NamesOfOtherFormatsDoNotMatter) {
  const auto called_gguf = enter(Files(dir_.write("model.gguf", content_of(kFolder + "ggml-f16.bin"))));
  ASSERT_TRUE(called_gguf.ok()) << called_gguf.error().message;
  EXPECT_EQ(called_gguf->origin.program, "whisper.cpp");
  const auto in_folder = enter(Files(dir_.path()));
  ASSERT_TRUE(in_folder.ok()) << in_folder.error().message;
  EXPECT_EQ(in_folder->origin.program, "whisper.cpp");
}

// A folder is refused as its only file is.
TEST_F(GgmlFiles, GgufUnderSuchANameIsNamed) {
  const std::string file = dir_.write("ggml-base.bin", std::string("GGUF\x03\0\0\0", 8));
  for (const std::string& model : {dir_.path(), file}) {
    const Status form = check_form(Files(model));
    ASSERT_FALSE(form.ok()) << model;
    EXPECT_EQ(form.error().code, ErrorCode::unsupported);
    EXPECT_THAT(form.error().message, AllOf(HasSubstr("GGUF"), HasSubstr("ggml-base.bin"), HasSubstr("safetensors")));
  }
}

TEST_F(GgmlFiles, OfSeveralInADirectoryOneMustBeNamed) {
  for (const char* name : {"a.bin", "b.bin"}) (void)dir_.write(name, content_of(kFolder + "ggml-f16.bin"));
  const auto in = enter(Files(dir_.path()));
  ASSERT_FALSE(in.ok());
  EXPECT_THAT(in.error().message, AllOf(HasSubstr("'a.bin'"), HasSubstr("name the file")));
  EXPECT_TRUE(enter(Files(dir_.path() + "/a.bin")).ok());
}

// ---- damage ---------------------------------------------------------------------------------------------------------

// Writes a number into the file's head.
std::string with_number(std::string content, size_t word, int32_t number) {
  std::memcpy(content.data() + 4 * word, &number, 4);
  return content;
}

TEST_F(GgmlFiles, SizesThatCannotBeAreRefused) {
  const std::string good = content_of(kFolder + "ggml-q8_0.bin");
  refused(with_number(good, 4, 0), "0 heads do not divide");
  refused(with_number(good, 8, 5), "5 heads do not divide");
  refused(with_number(good, 5, 1000000), "1000000 and 2 layers cannot be");
  refused(with_number(good, 9, 0), "0 layers cannot be");
  refused(with_number(good, 1, 277), "278 tokens for a vocabulary of 277");
  refused(with_number(good, 7, 64), "encoder and decoder are 32 and 64 wide");
  refused(with_number(good, 12, -1), "the number of mel filters at byte 48 is -1");
  refused(with_number(good, 12, 0x7fffffff), "the number of mel filters");
  refused(with_number(with_number(good, 12, 1024), 13, 1024), "are more than the file holds");
  refused(with_number(good, 14, 0x3f800000), "mel filters", ErrorCode::unsupported);
}

TEST_F(GgmlFiles, FilesThatAreCutSayWhere) {
  const std::string good = content_of(kFolder + "ggml-q4_1.bin");
  for (const size_t bytes : {4u, 40u, 50u, 1000u, 64400u, 65500u})
    refused(good.substr(0, bytes), bytes < 64000 ? "" : "at byte");
  refused(good.substr(0, good.size() - 1), "are left");
  for (size_t bytes = 4; bytes < good.size(); bytes += 997) EXPECT_FALSE(come_in(good.substr(0, bytes)).ok()) << bytes;
}

// The first tensor's head, behind filters and tokens.
struct Heads {
  size_t first = 0, name = 0;
};
Heads heads_of(const std::string& good) {
  Heads h;
  h.name = good.find("decoder.blocks.0.attn.key.weight");
  h.first = h.name - 5 * 4;
  return h;
}

TEST_F(GgmlFiles, TensorsThatAreWrongAreNamed) {
  const std::string good = content_of(kFolder + "ggml-q8_0.bin");
  const Heads h = heads_of(good);
  const auto changed = [&](size_t at, int32_t number) {
    std::string s = good;
    std::memcpy(s.data() + at, &number, 4);
    return s;
  };
  for (const int32_t dims : {0, 5, -1}) refused(changed(h.first, dims), "no tensor begins at byte");
  refused(changed(h.first + 8, 12), "'decoder.blocks.0.attn.key.weight' has type 12", ErrorCode::unsupported);
  refused(changed(h.first + 12, 31), "'decoder.blocks.0.attn.key.weight' is q8_0, and its rows of 31");
  refused(changed(h.first + 16, 0x7fffffff), "'decoder.blocks.0.attn.key.weight' needs");
  refused(changed(h.first + 16, -1), "'decoder.blocks.0.attn.key.weight' has a shape that cannot be");
  std::string other = good;
  other[h.name] = 'D';
  refused(other, "tensor decoder.blocks.0.attn.key.weight is missing");
  std::string twice = good;
  twice.replace(h.name, 32, "decoder.blocks.0.attn.key.weighX");
  refused(twice + good.substr(h.first, 20 + 32 + 32 * 34), "'decoder.blocks.0.attn.key.weighX' is none of Whisper's");
  refused(good + good.substr(h.first, 20 + 32 + 32 * 34), "is there twice");
}

TEST_F(GgmlFiles, ValuesThatAreNoNumbersAreAnErrorWhenTheyAreRead) {
  std::string bad = content_of(kFolder + "ggml-q5_1.bin");
  const size_t block = bad.find("decoder.blocks.0.attn.key.weight") + 32 + 3 * 24;
  bad.replace(block, 2, "\x00\x7e", 2);
  const auto in = come_in(bad);
  ASSERT_TRUE(in.ok()) << in.error().message;
  const auto made = Checkpoint::open(in->files);
  const auto values = read_floats(*made->find("model.decoder.layers.0.self_attn.k_proj.weight"));
  ASSERT_FALSE(values.ok());
  EXPECT_THAT(values.error().message, HasSubstr("no finite numbers (in the block at byte"));
}

// Each mutant enters or is refused, and what enters can be read.
TEST_F(GgmlFiles, MutantsDoNoHarm) {
  const std::string good = content_of(kFolder + "ggml-q4_0.bin");
  std::mt19937 random(41);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int entered = 0;
  for (int i = 0; i < 300; ++i) {
    std::string s = good;
    for (size_t changes = 1 + pick(3); changes-- > 0;) {
      const size_t at = pick(4) == 0 ? pick(60) : pick(s.size());
      if (pick(2) == 0)
        s[at] = static_cast<char>(pick(256));
      else if (pick(2) == 0)
        s.erase(at, 1 + pick(8));
      else
        s.insert(at, s.substr(pick(s.size()), 1 + pick(64)));
    }
    const auto in = come_in(s);
    if (!in) {
      EXPECT_FALSE(in.error().message.empty());
      continue;
    }
    if (in->origin.program.empty()) continue;  // its beginning has changed
    ++entered;
    const auto made = Checkpoint::open(in->files);
    ASSERT_TRUE(made.ok());
    for (const StoredTensor& t : made->tensors()) (void)load_bytes(t).ok();
  }
  EXPECT_GT(entered, 3);
  EXPECT_LT(entered, 297);
}

// ---- ids ------------------------------------------------------------------------------------------------------------

TEST(WhisperIds, FollowFromTheVocabularyWhereTheRuleHolds) {
  const auto english = whisper_ids(51864), many = whisper_ids(51865), more = whisper_ids(51866);
  ASSERT_TRUE(english && many && more);
  EXPECT_FALSE(english->multilingual);
  EXPECT_EQ(english->end, 50256);
  EXPECT_EQ(english->start, 50257);
  EXPECT_EQ(english->no_timestamps, 50362);
  EXPECT_EQ(many->end, 50257);
  EXPECT_EQ(many->languages.size(), 99u);
  EXPECT_EQ(many->languages[98], std::pair(std::string("su"), 50357));
  EXPECT_EQ(many->translate, 50358);
  EXPECT_EQ(many->transcribe, 50359);
  EXPECT_EQ(many->no_timestamps, 50363);
  EXPECT_EQ(more->languages[99], std::pair(std::string("yue"), 50358));
  EXPECT_EQ(more->no_timestamps, 50364);
  for (const uint32_t vocabulary : {0u, 50368u, 51863u, 51867u, 51870u, 4000000000u})
    EXPECT_FALSE(whisper_ids(vocabulary)) << vocabulary;
}

TEST(MergedTokens, AreMadeOfTwoEach) {
  const MergedTokens tokens({"a", "b", "c", "", "ab", "abc", "cc", "abcc", "xyz"});
  EXPECT_EQ(tokens.pieces("abccc"), (std::vector<std::string>{"abc", "cc"}));
  const auto merges = tokens.merges();
  ASSERT_EQ(merges.size(), 4u);
  EXPECT_EQ(merges[1], std::pair(std::string("ab"), std::string("c")));
  EXPECT_EQ(merges[3], std::pair(std::string("abc"), std::string("c")));
  EXPECT_EQ(in_byte_alphabet(" a\n\xc3"), "\u0120a\u010a\u00c3");
}

}  // namespace
}  // namespace lapilli::doors
