#include "formats/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/half.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::HasSubstr;

Checkpoint opened(const std::string& directory) {
  auto c = Checkpoint::open(directory);
  EXPECT_TRUE(c.ok()) << (c ? "" : c.error().message);
  return c ? std::move(c).value() : Checkpoint{};
}

std::vector<float> floats(const Checkpoint& c, const std::string& name) {
  const auto* t = c.find(name);
  EXPECT_NE(t, nullptr) << name;
  if (!t) return {};
  auto v = read_floats(*t);
  EXPECT_TRUE(v.ok()) << (v ? "" : v.error().message);
  return v ? std::move(v).value() : std::vector<float>{};
}

TEST(Safetensors, Marian) {
  const auto c = opened(model_directory("marian/model"));
  EXPECT_EQ(c.format(), "safetensors");
  const auto names = c.names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_GT(names.size(), 60u);
  const auto* t = c.find("model.shared.weight");
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->shape, (std::vector<uint64_t>{257, 32}));
  EXPECT_EQ(t->strides, (std::vector<uint64_t>{32, 1}));
  EXPECT_EQ(t->bytes.size(), 257u * 32 * 4);
  EXPECT_EQ(t->describe(), "'model.shared.weight' F32 [257, 32]");
  EXPECT_THAT(c.path(*t), HasSubstr("model.safetensors"));
  EXPECT_EQ(c.find("model.shared"), nullptr);
  EXPECT_EQ(c.find(""), nullptr);
  uint64_t bytes = 0;
  for (const auto& tensor : c.tensors()) bytes += tensor.bytes.size();
  EXPECT_EQ(c.total_bytes(), bytes);
}

TEST(Safetensors, TensorsOutliveAMove) {
  auto c = opened(model_directory("marian/model"));
  const auto* t = c.find("final_logits_bias");
  const Checkpoint moved = std::move(c);
  EXPECT_EQ(moved.find("final_logits_bias"), t);
  EXPECT_EQ(read_floats(*t)->size(), 257u);
}

TEST(Safetensors, HalfPrecisionAgreesWithSingle) {
  const auto f16 = opened(model_directory("marian-half/model-fp16"));
  const auto bf16 = opened(model_directory("marian-half/model-bf16"));
  ASSERT_EQ(f16.names(), bf16.names());
  double largest = 0;
  for (const auto& name : f16.names()) {
    EXPECT_EQ(f16.find(name)->type, StoredType::f16);
    EXPECT_EQ(bf16.find(name)->type, StoredType::bf16);
    const auto a = floats(f16, name), b = floats(bf16, name);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], std::abs(a[i]) / 128 + 1e-6) << name << " " << i;
      largest = std::max<double>(largest, std::abs(a[i]));
    }
  }
  EXPECT_GT(largest, 0.1);
}

TEST(Safetensors, ExpectedResultsHoldIntegersToo) {
  const auto c = Checkpoint::open_file(model_directory("marian/expected.safetensors"));
  ASSERT_TRUE(c.ok()) << c.error().message;
  size_t integers = 0;
  for (const auto& t : c->tensors()) {
    if (t.type != StoredType::i32) continue;
    ++integers;
    const auto v = read_integers(t);
    ASSERT_TRUE(v.ok()) << v.error().message;
    EXPECT_EQ(v->size(), t.elements());
    EXPECT_FALSE(read_floats(t).ok());
  }
  EXPECT_GT(integers, 2u);
}

// Both forms hold tied names that the safetensors file leaves out, and older ones tables that it does not store.
class PytorchCheckpoint : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(PytorchCheckpoint, HasTheValuesOfTheSafetensors) {
  const auto reference = opened(model_directory("marian/model"));
  const auto c = opened(model_directory(std::string("marian/") + GetParam().first));
  EXPECT_EQ(c.format(), GetParam().second);
  size_t values = 0;
  for (const auto& t : reference.tensors()) {
    const auto* other = c.find(t.name);
    ASSERT_NE(other, nullptr) << t.name;
    EXPECT_EQ(other->type, t.type) << t.name;
    EXPECT_EQ(other->shape, t.shape) << t.name;
    EXPECT_EQ(floats(c, t.name), floats(reference, t.name)) << t.name;
    EXPECT_TRUE(same_values(*other, t)) << t.name;
    values += t.elements();
  }
  EXPECT_GT(values, 30000u);
  const auto* shared = c.find("model.shared.weight");
  for (const char* tied :
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}) {
    ASSERT_NE(c.find(tied), nullptr) << tied;
    EXPECT_EQ(c.find(tied)->bytes.data(), shared->bytes.data()) << tied;
    EXPECT_TRUE(same_values(*c.find(tied), *shared));
  }
  uint64_t with_ties = 0;
  for (const auto& t : c.tensors()) with_ties += t.bytes.size();
  EXPECT_EQ(with_ties - c.total_bytes(), 3 * shared->bytes.size());
}

INSTANTIATE_TEST_SUITE_P(Marian, PytorchCheckpoint,
                         ::testing::Values(std::pair{"model-pytorch", "PyTorch zip"},
                                           std::pair{"model-pytorch-legacy", "PyTorch stream"}),
                         [](const auto& param) {
                           return std::string(param.param.second) == "PyTorch zip" ? "Zip" : "Stream";
                         });

// ---- several files --------------------------------------------------------------------------------------------------

// One float tensor in a safetensors file.
std::string one_tensor(const std::string& name, const std::vector<float>& values) {
  return safetensors("{\"" + name + R"(":{"dtype":"F32","shape":[)" + std::to_string(values.size()) +
                         R"(],"data_offsets":[0,)" + std::to_string(4 * values.size()) + "]}}",
                     floats_as_bytes(values));
}

class Sharded : public ::testing::Test {
 protected:
  TempDirectory dir_;

  Result<Checkpoint> open(const std::string& weight_map) {
    (void)dir_.write("model.safetensors.index.json",
                     R"({"metadata":{"total_size":20},"weight_map":)" + weight_map + "}");
    (void)dir_.write("model-1.safetensors", one_tensor("a", {1, 2}));
    (void)dir_.write("model-2.safetensors", one_tensor("b", {3, 4, 5}));
    return Checkpoint::open(dir_.path());
  }
  void refused(const std::string& weight_map, const std::string& why) {
    const auto c = open(weight_map);
    ASSERT_FALSE(c.ok());
    EXPECT_THAT(c.error().message, HasSubstr(why));
  }
};

TEST_F(Sharded, ReadsAllFiles) {
  const auto c = open(R"({"b":"model-2.safetensors","a":"model-1.safetensors"})");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->format(), "safetensors (2 files)");
  EXPECT_EQ(floats(*c, "a"), (std::vector<float>{1, 2}));
  EXPECT_EQ(floats(*c, "b"), (std::vector<float>{3, 4, 5}));
  EXPECT_THAT(c->path(*c->find("a")), HasSubstr("model-1.safetensors"));
  EXPECT_THAT(c->path(*c->find("b")), HasSubstr("model-2.safetensors"));
  EXPECT_EQ(c->total_bytes(), 20u);
}
TEST_F(Sharded, Pytorch) {
  using namespace pickled;
  (void)dir_.write("pytorch_model.bin.index.json", R"({"weight_map":{"a":"x.bin","b":"y.bin"}})");
  (void)dir_.write("x.bin", torch_zip(state_dict({{"a", tensor({})}}), {{"0", floats_as_bytes({1, 2, 3, 4})}}));
  (void)dir_.write("y.bin", torch_zip(state_dict({{"b", tensor({})}}), {{"0", floats_as_bytes({5, 6, 7, 8})}}));
  const auto c = Checkpoint::open(dir_.path());
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->format(), "PyTorch zip (2 files)");
  EXPECT_EQ(floats(*c, "b"), (std::vector<float>{5, 6, 7, 8}));
}
TEST_F(Sharded, FileMissing) { refused(R"({"a":"model-3.safetensors"})", "model-3.safetensors"); }
TEST_F(Sharded, TensorNotInItsFile) { refused(R"({"b":"model-1.safetensors"})", "lacks tensor 'b'"); }
TEST_F(Sharded, FileOutsideTheDirectory) { refused(R"({"a":"../model-1.safetensors"})", "no plain file name"); }
TEST_F(Sharded, AbsoluteFile) { refused(R"({"a":"/etc/passwd"})", "no plain file name"); }
TEST_F(Sharded, ParentAsFile) { refused(R"({"a":".."})", "no plain file name"); }
TEST_F(Sharded, FileWithANulByte) { refused(R"({"a":"model-1.safetensors\u0000x"})", "no plain file name"); }
TEST_F(Sharded, FileIsANumber) { refused(R"({"a":1})", "'a' is not text"); }
TEST_F(Sharded, EmptyMap) { refused("{}", "empty"); }
TEST_F(Sharded, MapIsAList) { refused("[]", "no weight_map"); }
TEST_F(Sharded, TooManyFiles) {
  std::string map = "{";
  for (int i = 0; i < 5000; ++i) map += (i ? ",\"" : "\"") + std::to_string(i) + "\":\"f" + std::to_string(i) + "\"";
  refused(map + "}", "more than 4096 files");
}

// ---- which file is taken --------------------------------------------------------------------------------------------

TEST(CheckpointOpen, PrefersSafetensors) {
  TempDirectory dir;
  (void)dir.write("pytorch_model.bin", "rubbish");
  (void)dir.write("model.safetensors", one_tensor("a", {1}));
  EXPECT_EQ(opened(dir.path()).format(), "safetensors");
}
TEST(CheckpointOpen, TellsByContentNotByName) {
  TempDirectory dir;
  (void)dir.write("pytorch_model.bin", one_tensor("a", {1}));
  EXPECT_EQ(opened(dir.path()).format(), "safetensors");
}
TEST(CheckpointOpen, HeaderSizesThatLookLikeOtherFormats) {
  TempDirectory dir;
  for (const size_t size : {size_t{0x4b50}, size_t{0x0280}, size_t{0x020280}}) {
    std::string file = one_tensor("a", {1}).substr(8);
    file.insert(file.find('}') + 2, size + 4 - file.size(), ' ');  // spaces behind the header
    (void)dir.write("model.safetensors", little<uint64_t>(size) + file);
    EXPECT_EQ(floats(opened(dir.path()), "a"), std::vector<float>{1}) << size;
  }
}
TEST(CheckpointOpen, NoDirectory) {
  TempDirectory dir;
  const auto c = Checkpoint::open(dir.path() + "/absent");
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().code, ErrorCode::not_found);
  EXPECT_THAT(c.error().message, HasSubstr("absent is not a directory"));
}
TEST(CheckpointOpen, NoWeights) {
  TempDirectory dir;
  const auto c = Checkpoint::open(dir.path());
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().code, ErrorCode::not_found);
  EXPECT_THAT(c.error().message, HasSubstr("holds no weights"));
}
TEST(CheckpointOpen, OnlyForeignWeights) {
  TempDirectory dir;
  (void)dir.write("tf_model.h5", "x");
  const auto c = Checkpoint::open(dir.path());
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().code, ErrorCode::unsupported);
  EXPECT_THAT(c.error().message, HasSubstr("tf_model.h5"));
}

// ---- values ---------------------------------------------------------------------------------------------------------

std::vector<std::byte> as_bytes(const std::string& s) {
  std::vector<std::byte> out(s.size());
  std::memcpy(out.data(), s.data(), s.size());
  return out;
}

TEST(StoredTensorValues, EachFloatingType) {
  const double d[] = {1.5, -2};
  const float f[] = {1.5f, -2};
  const uint16_t h[] = {0x3e00, 0xc000}, b[] = {0x3fc0, 0xc000};
  const auto view = [](const auto& array, StoredType type) {
    return StoredTensor{"w", type, {2}, {1}, std::as_bytes(std::span(array))};
  };
  const std::vector<float> expected{1.5f, -2};
  EXPECT_EQ(*read_floats(view(d, StoredType::f64)), expected);
  EXPECT_EQ(*read_floats(view(f, StoredType::f32)), expected);
  EXPECT_EQ(*read_floats(view(h, StoredType::f16)), expected);
  EXPECT_EQ(*read_floats(view(b, StoredType::bf16)), expected);
  EXPECT_THAT(read_floats(view(h, StoredType::i16)).error().message, HasSubstr("'w' I16 [2]"));
  EXPECT_THAT(read_integers(view(f, StoredType::f32)).error().message, HasSubstr("'w' F32 [2]"));
}

TEST(StoredTensorValues, EachIntegerType) {
  const auto bytes = as_bytes(std::string(16, '\xff'));
  const auto value = [&](StoredType type) {
    return read_integers({"w", type, {}, {}, std::span(bytes).first(stored_bytes(type))})->at(0);
  };
  EXPECT_EQ(value(StoredType::i64), -1);
  EXPECT_EQ(value(StoredType::i32), -1);
  EXPECT_EQ(value(StoredType::i16), -1);
  EXPECT_EQ(value(StoredType::i8), -1);
  EXPECT_EQ(value(StoredType::u32), 0xffffffff);
  EXPECT_EQ(value(StoredType::u16), 0xffff);
  EXPECT_EQ(value(StoredType::u8), 0xff);
  EXPECT_EQ(value(StoredType::boolean), 1);
}

TEST(StoredTensorValues, AtAnyAddress) {
  const auto bytes = as_bytes("x" + floats_as_bytes({1, 2}));
  EXPECT_EQ(*read_floats({"w", StoredType::f32, {2}, {1}, std::span(bytes).subspan(1)}), (std::vector<float>{1, 2}));
}

TEST(StoredTensorValues, PermutedThreeDimensions) {
  std::vector<float> storage(24);
  for (size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<float>(i);
  const StoredTensor t{"w", StoredType::f32, {4, 2, 3}, {1, 12, 4}, std::as_bytes(std::span(storage))};
  EXPECT_FALSE(t.contiguous());
  std::vector<float> expected;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 2; ++j)
      for (size_t k = 0; k < 3; ++k) expected.push_back(storage[i + 12 * j + 4 * k]);
  EXPECT_EQ(*read_floats(t), expected);
  const StoredTensor copy{"c", StoredType::f32, {4, 2, 3}, {6, 3, 1}, std::as_bytes(std::span(expected))};
  EXPECT_TRUE(copy.contiguous());
  EXPECT_TRUE(same_values(t, copy));
  EXPECT_TRUE(same_values(copy, t));
  expected[23] += 1;
  EXPECT_FALSE(same_values(t, copy));
  EXPECT_FALSE(same_values(t, {"c", StoredType::f32, {24}, {1}, std::as_bytes(std::span(expected))}));
}

// A stride of 0 makes any number of elements of one; where addresses have 32 bits, 2^62 of them count as none.
TEST(StoredTensorValues, MoreThanAddressesReach) {
  const auto bytes = as_bytes(std::string(8, '\x01'));
  const uint64_t many = uint64_t{1} << 62;
  const auto floats = read_floats({"w", StoredType::f32, {many}, {0}, std::span(bytes)});
  ASSERT_FALSE(floats.ok());
  EXPECT_EQ(floats.error().code, ErrorCode::out_of_memory);
  const auto integers = read_integers({"w", StoredType::i32, {many}, {0}, std::span(bytes)});
  ASSERT_FALSE(integers.ok());
  EXPECT_EQ(integers.error().code, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace lapilli
