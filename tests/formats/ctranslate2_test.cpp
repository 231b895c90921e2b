// Directories of CTranslate2 that no record has: other types of numbers, vocabularies as lines, settings that are
// missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/half.hpp"
#include "formats/checkpoint.hpp"
#include "formats/doors/ctranslate2/model_file.hpp"
#include "formats/doors/door.hpp"
#include "support/temp_directory.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string recorded_model(const std::string& name) { return model_directory("../formats/" + name); }

struct Stored {
  StoredType type = StoredType::f32;
  std::vector<uint64_t> shape;
  std::string bytes;
};
using Variables = std::map<std::string, Stored>;

Variables variables_of(const doors::ct2::ModelFile& file) {
  Variables all;
  for (const auto& [name, v] : file.variables) {
    std::string bytes(v.range.bytes, '\0');
    EXPECT_TRUE(v.range.file.read(v.range.offset, std::as_writable_bytes(std::span(bytes))).ok());
    all[name] = {v.type, v.shape, std::move(bytes)};
  }
  return all;
}

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
void append_name(std::string& to, const std::string& name) {
  append(to, static_cast<uint16_t>(name.size() + 1));
  to.append(name.c_str(), name.size() + 1);
}

// model.bin of version 6.
std::string model_of(const doors::ct2::ModelFile& file, const Variables& variables) {
  constexpr StoredType kIds[] = {StoredType::f32, StoredType::i8,  StoredType::i16,
                                 StoredType::i32, StoredType::f16, StoredType::bf16};
  std::string to;
  append(to, uint32_t{6});
  append_name(to, file.spec);
  append(to, file.revision);
  append(to, static_cast<uint32_t>(variables.size()));
  for (const auto& [name, v] : variables) {
    append_name(to, name);
    append(to, static_cast<uint8_t>(v.shape.size()));
    for (const uint64_t n : v.shape) append(to, static_cast<uint32_t>(n));
    append(to, static_cast<uint8_t>(std::find(std::begin(kIds), std::end(kIds), v.type) - std::begin(kIds)));
    append(to, static_cast<uint32_t>(v.bytes.size()));
    to += v.bytes;
  }
  append(to, static_cast<uint32_t>(file.aliases.size()));
  for (const auto& [name, of] : file.aliases) append_name(to, name), append_name(to, of);
  return to;
}

std::vector<float> floats_in(const Stored& v) {
  std::vector<float> values(v.bytes.size() / sizeof(float));
  std::memcpy(values.data(), v.bytes.data(), v.bytes.size());
  return values;
}

class CTranslate2 : public ::testing::Test {
 protected:
  explicit CTranslate2(const std::string& of = "ct2-marian/float32") : of_(recorded_model(of)) {
    for (const auto& entry : fs::directory_iterator(of_))
      fs::copy(entry.path(), fs::path(dir_.path()) / entry.path().filename());
    file_ = std::move(doors::ct2::read_model_file(of_ + "/model.bin")).value();
    variables_ = variables_of(file_);
  }
  void write_model() const { (void)dir_.write("model.bin", model_of(file_, variables_)); }
  [[nodiscard]] std::vector<float> values(const std::string& directory, const std::string& name) const {
    const auto entered = doors::enter(directory);
    EXPECT_TRUE(entered.ok()) << (entered ? "" : entered.error().message);
    const auto weights = entered ? Checkpoint::open(entered->files) : Result<Checkpoint>(entered.error());
    EXPECT_TRUE(weights.ok()) << (weights ? "" : weights.error().message);
    const StoredTensor* t = weights ? weights->find(name) : nullptr;
    return t ? *read_floats(*t) : std::vector<float>();
  }
  [[nodiscard]] nlohmann::json made(const std::string& name) const {
    const auto entered = doors::enter(dir_.path());
    EXPECT_TRUE(entered.ok()) << (entered ? "" : entered.error().message);
    return entered ? nlohmann::json::parse(*read_text_file(entered->files / name)) : nlohmann::json();
  }

  const std::string of_;
  TempDirectory dir_;
  doors::ct2::ModelFile file_;
  Variables variables_;
};

constexpr const char* kMatrix = "decoder/layer_1/ffn/linear_1/weight";
constexpr const char* kTensor = "model.decoder.layers.1.fc2.weight";

// value = whole number / scale, with a scale for each row.
TEST_F(CTranslate2, SixteenBitNumbersAreDividedByTheirScales) {
  Stored& matrix = variables_.at(kMatrix);
  const auto before = floats_in(matrix);
  const uint64_t rows = matrix.shape[0], columns = matrix.shape[1];
  Stored scales{StoredType::f32, {rows}, ""}, whole{StoredType::i16, matrix.shape, ""};
  std::vector<float> expected;
  for (uint64_t r = 0; r < rows; ++r) {
    const float scale = 1000.0f + static_cast<float>(r);
    append(scales.bytes, scale);
    for (uint64_t c = 0; c < columns; ++c) {
      const auto number = static_cast<int16_t>(std::lround(before[r * columns + c] * scale));
      append(whole.bytes, number);
      expected.push_back(static_cast<float>(number) / scale);
    }
  }
  matrix = whole;
  variables_[std::string(kMatrix) + "_scale"] = scales;
  write_model();
  EXPECT_EQ(values(dir_.path(), kTensor), expected);
  EXPECT_NE(expected, before);
}

TEST_F(CTranslate2, BrainFloatsStayAsTheyAre) {
  std::vector<float> expected;
  for (auto& [name, v] : variables_) {
    if (v.type != StoredType::f32 || v.shape.size() < 2) continue;
    Stored halves{StoredType::bf16, v.shape, ""};
    for (const float value : floats_in(v)) {
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      append(halves.bytes, static_cast<uint16_t>(bits >> 16));
      if (name == kMatrix) expected.push_back(bfloat16_to_float(static_cast<uint16_t>(bits >> 16)));
    }
    v = halves;
  }
  write_model();
  EXPECT_EQ(values(dir_.path(), kTensor), expected);
  const auto entered = doors::enter(dir_.path());
  EXPECT_EQ(Checkpoint::open(entered->files)->find(kTensor)->type, StoredType::bf16);
}

TEST_F(CTranslate2, VocabulariesOfLinesAreThoseOfJson) {
  const auto before = made("vocab.json");
  const auto tokens = nlohmann::json::parse(*read_text_file(dir_.path() + "/shared_vocabulary.json"));
  std::string lines;
  for (const auto& token : tokens) lines += token.get<std::string>() + "\r\n";
  fs::remove(dir_.path() + "/shared_vocabulary.json");
  (void)dir_.write("shared_vocabulary.txt", lines);
  EXPECT_EQ(made("vocab.json"), before);
  // One for each side.
  fs::remove(dir_.path() + "/shared_vocabulary.txt");
  (void)dir_.write("source_vocabulary.txt", lines);
  (void)dir_.write("target_vocabulary.txt", lines);
  EXPECT_EQ(made("vocab.json"), before);
  EXPECT_EQ(made("target_vocab.json"), before);
}

TEST_F(CTranslate2, FilesAndSettingsThatNothingReadsAreNamed) {
  (void)dir_.write("README.md", "a model");
  (void)dir_.write("tokenizer.json", "{}");
  variables_["decoder/alignment_layer"] = {StoredType::i16, {}, std::string("\x01\0", 2)};
  write_model();
  const auto entered = doors::enter(dir_.path());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_THAT(entered->origin.unused, Contains("README.md"));
  EXPECT_THAT(entered->origin.unused, Contains("decoder/alignment_layer"));
  EXPECT_THAT(entered->origin.unused, ::testing::Not(Contains("tokenizer.json")));
  EXPECT_THAT(entered->left_out, Contains("shared_vocabulary.json"));
}

TEST_F(CTranslate2, ATokenizerThatIsMissingIsNamedWithItsFiles) {
  const auto entered = doors::enter(dir_.path());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto tokenizer = load_tokenizer(entered->files, "marian");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_THAT(tokenizer.error().message, HasSubstr("looked for source.spm, target.spm and vocab.json"));
  EXPECT_THAT(tokenizer.error().message, HasSubstr("--ids"));
}

// ---- Whisper --------------------------------------------------------------------------------------------------------

class CTranslate2Whisper : public CTranslate2 {
 protected:
  CTranslate2Whisper() : CTranslate2("ct2-whisper/float32") {}
  // Tokens by id, in the alphabet of byte-level vocabularies.
  void name_tokens(const std::map<size_t, std::string>& names) {
    const std::string path =
        fs::exists(dir_.path() + "/vocabulary.json") ? "vocabulary.json" : "shared_vocabulary.json";
    auto tokens = nlohmann::json::parse(*read_text_file(dir_.path() + "/" + path));
    for (const auto& [id, name] : names) tokens.at(id) = name;
    (void)dir_.write(path, tokens.dump());
  }
  void set(const nlohmann::json& changes) {
    auto settings = nlohmann::json::parse(*read_text_file(dir_.path() + "/config.json"));
    settings.update(changes);
    (void)dir_.write("config.json", settings.dump());
  }
  void remove(const std::vector<std::string>& keys) {
    auto settings = nlohmann::json::parse(*read_text_file(dir_.path() + "/config.json"));
    for (const std::string& key : keys) settings.erase(key);
    (void)dir_.write("config.json", settings.dump());
  }
};

TEST_F(CTranslate2Whisper, IdsThatAreNoSpeechComeFromTheVocabularyWhereNoSettingHasThem) {
  name_tokens({{5, "["}, {6, "\u0120["}, {7, "\u0120"}, {8, "word"}});
  for (const bool missing : {false, true}) {
    set({{"suppress_ids", nullptr}, {"suppress_ids_begin", nullptr}});
    if (missing) remove({"suppress_ids", "suppress_ids_begin"});
    const auto generation = made("generation_config.json");
    EXPECT_THAT(generation["suppress_tokens"].get<std::vector<int>>(), Contains(5));
    EXPECT_THAT(generation["suppress_tokens"].get<std::vector<int>>(), Contains(6));
    EXPECT_THAT(generation["suppress_tokens"].get<std::vector<int>>(), ::testing::Not(Contains(8)));
    EXPECT_THAT(generation["begin_suppress_tokens"].get<std::vector<int>>(), Contains(7));
  }
  set({{"suppress_ids", {11}}, {"suppress_ids_begin", {12}}});
  EXPECT_EQ(made("generation_config.json")["suppress_tokens"], nlohmann::json({11}));
  EXPECT_EQ(made("generation_config.json")["begin_suppress_tokens"], nlohmann::json({12}));
}

// Case 27: the convolution says the bands, whatever the directory lacks, and vocabularies come as lines as well.
TEST_F(CTranslate2Whisper, BandsAreThoseOfTheConvolution) {
  const auto before = made("preprocessor_config.json");
  Stored& convolution = variables_.at("encoder/conv1/weight");
  EXPECT_EQ(before["feature_size"], convolution.shape[1]);
  const uint64_t bands = 128, others = convolution.shape[0] * convolution.shape[2];
  convolution.shape[1] = bands;
  convolution.bytes.assign(others * bands * sizeof(float), '\0');
  write_model();
  EXPECT_EQ(made("preprocessor_config.json")["feature_size"], bands);
  EXPECT_EQ(made("config.json")["num_mel_bins"], bands);
  const auto generation = made("generation_config.json");
  const auto tokens = nlohmann::json::parse(*read_text_file(dir_.path() + "/vocabulary.json"));
  std::string lines;
  for (const auto& token : tokens) lines += token.get<std::string>() + "\n";
  fs::remove(dir_.path() + "/vocabulary.json");
  (void)dir_.write("vocabulary.txt", lines);
  EXPECT_EQ(made("generation_config.json"), generation) << "its ids are those of the vocabulary's words";
}

// Case 28: each language of the vocabulary counts, whatever lang_ids says of them.
TEST_F(CTranslate2Whisper, LanguagesComeFromTheVocabulary) {
  const auto before = made("generation_config.json");
  ASSERT_EQ(before["lang_to_id"].size(), 3u) << before["lang_to_id"];
  set({{"lang_ids", {281, 282}}});
  EXPECT_EQ(made("generation_config.json"), before) << "without the first";
  set({{"lang_ids", nullptr}});
  EXPECT_EQ(made("generation_config.json"), before);
  remove({"lang_ids"});
  EXPECT_EQ(made("generation_config.json"), before);
}

TEST_F(CTranslate2Whisper, HeadsByDefaultAreMarked) {
  set({{"alignment_heads", nullptr}});
  EXPECT_EQ(made("generation_config.json")["alignment_heads_by_default"], true);
  EXPECT_FALSE(made("generation_config.json")["alignment_heads"].empty());
  set({{"alignment_heads", {{0, 1}}}});
  EXPECT_FALSE(made("generation_config.json").contains("alignment_heads_by_default"));
}

}  // namespace
}  // namespace lapilli
