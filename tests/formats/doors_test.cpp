// Directories of CTranslate2, through the door.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/doors/ctranslate2/model_file.hpp"
#include "formats/doors/door.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string recorded(const std::string& name) { return model_directory("../formats/" + name); }

std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A directory of CTranslate2 with another model.bin.
class Directory {
 public:
  explicit Directory(const std::string& of) : of_(recorded(of)) {
    for (const char* name : {"config.json", "shared_vocabulary.json"})
      folder_.write(name, file_text(fs::path(of_) / name));
  }
  [[nodiscard]] std::string model() const { return file_text(fs::path(of_) / "model.bin"); }
  [[nodiscard]] Result<Checkpoint> with(const std::string& model) const {
    folder_.write("model.bin", model);
    LAPILLI_TRY(const auto entered, doors::enter(folder_.path()));
    return Checkpoint::open(entered.files);
  }

 private:
  TempDirectory folder_;
  std::string of_;
};

std::vector<std::byte> bytes_of(const StoredTensor& t) {
  const auto loaded = load_bytes(t);
  EXPECT_TRUE(loaded.ok()) << (loaded ? "" : loaded.error().message);
  return loaded ? std::vector(loaded->bytes.begin(), loaded->bytes.end()) : std::vector<std::byte>();
}

template <class T>
std::vector<T> numbers_of(const doors::ct2::Variable& v) {
  std::vector<T> numbers(v.range.bytes / sizeof(T));
  EXPECT_TRUE(v.range.file.read(v.range.offset, std::as_writable_bytes(std::span(numbers))).ok());
  return numbers;
}

// The whole numbers stay bit by bit, and each block of a row has its scale as float32(1 / scale).
TEST(Doors, EightBitRowsKeepTheirNumbers) {
  const auto file = doors::ct2::read_model_file(recorded("ct2-marian/int8/model.bin"));
  ASSERT_TRUE(file.ok());
  const std::string from = "decoder/layer_1/ffn/linear_1/weight";  // 60 depths: the last block is a short one
  const auto numbers = numbers_of<int8_t>(*file->find(from));
  const auto scales = numbers_of<float>(*file->find(from + "_scale"));
  const auto entered = doors::enter(recorded("ct2-marian/int8"));
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto checkpoint = Checkpoint::open(entered->files);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const StoredTensor* t = checkpoint->find("model.decoder.layers.1.fc2.weight");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->type, StoredType::u32);
  ASSERT_EQ(t->shape, (std::vector<uint64_t>{32, 17}));
  const auto words = bytes_of(*t);
  for (size_t row = 0; row < 32; ++row)
    for (size_t depth = 0; depth < 60; ++depth) {
      const std::byte* block = words.data() + row * 17 * 4 + depth / 32 * 36;
      float scale = 0;
      std::memcpy(&scale, block, sizeof(scale));
      ASSERT_EQ(scale, 1.0f / scales[row]);
      ASSERT_EQ(static_cast<int8_t>(block[4 + depth % 32]), numbers[row * 60 + depth]);
    }
}

// ---- older binary versions, written from the newest -----------------------------------------------------------------

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put_name(std::string& to, const std::string& name) {
  put(to, static_cast<uint16_t>(name.size() + 1));
  to.append(name.c_str(), name.size() + 1);
}

void put_variable(std::string& to, uint32_t version, const std::string& name, const doors::ct2::Variable& v) {
  put_name(to, name);
  put(to, static_cast<uint8_t>(v.shape.size()));
  for (const uint64_t n : v.shape) put(to, static_cast<uint32_t>(n));
  const auto size = static_cast<uint32_t>(stored_bytes(v.type));
  const StoredType ids[] = {StoredType::f32, StoredType::i8, StoredType::i16, StoredType::i32};
  put(to, version >= 4 ? static_cast<uint8_t>(std::find(ids, ids + 4, v.type) - ids) : static_cast<uint8_t>(size));
  put(to, static_cast<uint32_t>(version >= 4 ? v.range.bytes : v.range.bytes / size));
  const auto bytes = numbers_of<char>(v);
  to.append(bytes.data(), bytes.size());
}

std::string written(const doors::ct2::ModelFile& file, uint32_t version) {
  std::string to;
  put(to, version);
  if (version >= 2) put_name(to, file.spec), put(to, file.revision);
  const size_t more = version < 3 ? file.aliases.size() : 0;
  put(to, static_cast<uint32_t>(file.variables.size() + more));
  for (const auto& [name, v] : file.variables) put_variable(to, version, name, v);
  if (version < 3) {
    for (const auto& [name, of] : file.aliases) put_variable(to, version, name, *file.find(of));
    return to;
  }
  put(to, static_cast<uint32_t>(file.aliases.size()));
  for (const auto& [name, of] : file.aliases) put_name(to, name), put_name(to, of);
  return to;
}

TEST(Doors, OlderBinaryVersionsHoldTheSameTensors) {
  const Directory directory("ct2-marian/float32");
  const auto file = doors::ct2::read_model_file(recorded("ct2-marian/float32/model.bin"));
  ASSERT_TRUE(file.ok());
  const auto newest = directory.with(directory.model());
  ASSERT_TRUE(newest.ok()) << newest.error().message;
  for (uint32_t version = 1; version <= 6; ++version) {
    const auto older = directory.with(written(*file, version));
    ASSERT_TRUE(older.ok()) << version << ": " << older.error().message;
    for (const char* name : {"final_logits_bias", "model.decoder.layers.1.encoder_attn.v_proj.weight"}) {
      ASSERT_NE(older->find(name), nullptr) << version;
      EXPECT_EQ(bytes_of(*older->find(name)), bytes_of(*newest->find(name))) << version << " " << name;
    }
  }
  const auto later = directory.with(written(*file, 7));
  ASSERT_FALSE(later.ok());
  EXPECT_THAT(later.error().message, HasSubstr("binary version 7; 1 to 6 are read"));
}

// ---- damaged files --------------------------------------------------------------------------------------------------

TEST(Doors, AllReasonsAreNamedAtOnce) {
  const Directory directory("ct2-marian/float32");
  std::string model = directory.model();
  for (const char* name : {"decoder/layer_0/ffn/linear_0/bias", "encoder/layer_1/ffn/linear_1/weight"})
    model.replace(model.find(name), 3, "xxx");
  const auto opened = directory.with(model);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  EXPECT_THAT(opened.error().message, HasSubstr("it lacks encoder/layer_1/ffn/linear_1/weight"));
  EXPECT_THAT(opened.error().message, HasSubstr("it has xxxoder/layer_0/ffn/linear_0/bias"));
}

// Shapes without values ask for no memory: believed, each of these would ask for gigabytes.
TEST(Doors, SizesOfNothingAreNotBelieved) {
  const Directory directory("ct2-marian/float32");
  const auto file = doors::ct2::read_model_file(recorded("ct2-marian/float32/model.bin"));
  ASSERT_TRUE(file.ok());
  constexpr uint64_t kMost = 0xFFFFFFFF;
  for (const char* name : {"decoder/embeddings/weight", "encoder/layer_0/self_attention/linear_0/weight",
                           "encoder/position_encodings/encodings", "decoder/projection/bias"})
    for (const auto& shape : {std::vector<uint64_t>{kMost, 0}, {0, kMost}}) {
      auto changed = *file;
      const auto alias = changed.aliases.find(name);
      auto& variable = changed.variables[alias == changed.aliases.end() ? name : alias->second];
      variable = {variable.type, shape, {file->variables.begin()->second.range.file, 0, 0}};
      const auto opened = directory.with(written(changed, 6));
      ASSERT_FALSE(opened.ok()) << name;
      EXPECT_EQ(opened.error().code, ErrorCode::unsupported) << opened.error().message;
    }
}

TEST(Doors, CutFilesAreRefused) {
  const Directory directory("ct2-marian/int8");
  const std::string whole = directory.model();
  for (size_t size = 8; size < whole.size(); size += 499) {
    const auto opened = directory.with(whole.substr(0, size));
    ASSERT_FALSE(opened.ok()) << size;
    EXPECT_THAT(opened.error().message, HasSubstr("model.bin"));
  }
  EXPECT_FALSE(directory.with(whole + "x").ok());
}

// Whatever a byte becomes: an error, or tensors that can be read.
TEST(Doors, ChangedBytesDoNoHarm) {
  const Directory directory("ct2-marian/int8");
  const std::string whole = directory.model();
  std::mt19937 random(7);
  size_t refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string changed = whole;
    // Most of the file is numbers; every other change is near a name.
    size_t at = random() % whole.size();
    if (i % 2) at = whole.find("coder/", at) == std::string::npos ? at : whole.find("coder/", at) + random() % 48;
    changed[std::min(at, whole.size() - 1)] = static_cast<char>(random());
    const auto opened = directory.with(changed);
    refused += opened ? 0 : 1;
    if (opened)
      for (const auto& t : opened->tensors()) (void)load_bytes(t);
  }
  EXPECT_GT(refused, 50u);
}

// The content of model.bin counts, and not its name.
TEST(Doors, CheckpointsOfPytorchMayBeCalledModelBin) {
  TempDirectory folder;
  const std::string of = model_directory("marian/model-pytorch-legacy/pytorch_model.bin");
  folder.write("model.bin", file_text(of));
  const auto entered = doors::enter(folder.path());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_EQ(entered->origin.program, "PyTorch");
  const auto opened = Checkpoint::open(entered->files), as_named = Checkpoint::open_file(of);
  ASSERT_TRUE(opened.ok() && as_named.ok());
  EXPECT_EQ(opened->names(), as_named->names());
}

TEST(Doors, OtherFilesAreNotCTranslate2s) {
  const Directory directory("ct2-marian/int8");
  const auto pointer = directory.with("version https://git-lfs.github.com/spec/v1\n");
  ASSERT_FALSE(pointer.ok());
  EXPECT_THAT(pointer.error().message, HasSubstr("git lfs pull"));
  for (const std::string& start :
       {std::string("PK\x03\x04 a zip of some bytes"), std::string("GGUF\x03\0\0\0\0\0\0\0", 12),
        std::string("version https://git-lfs.github.com/spec/v1\n"), std::string("<html></html>")})
    EXPECT_FALSE(directory.with(start).ok()) << start;
}

}  // namespace
}  // namespace lapilli
