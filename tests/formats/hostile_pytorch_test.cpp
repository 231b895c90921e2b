// PyTorch checkpoints that are wrong or mean harm: refused with the reason, by class name where a class is asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/checkpoint.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::HasSubstr;
using namespace pickled;

const std::string four = floats_as_bytes({1, 2, 3, 4});

class PytorchFile : public ::testing::Test {
 protected:
  TempDirectory dir_;

  Result<Checkpoint> open(const std::string& content) {
    (void)dir_.write("pytorch_model.bin", content);
    return Checkpoint::open(dir_.path());
  }
  void refused(const std::string& content, const std::string& why, ErrorCode code = ErrorCode::invalid_data) {
    const auto c = open(content);
    ASSERT_FALSE(c.ok()) << "expected: " << why;
    EXPECT_EQ(c.error().code, code) << c.error().message;
    EXPECT_THAT(c.error().message, HasSubstr("pytorch_model.bin"));
    EXPECT_THAT(c.error().message, HasSubstr(why));
  }
  std::vector<float> read(const std::string& content, const std::string& name) {
    const auto c = open(content);
    EXPECT_TRUE(c.ok()) << (c ? "" : c.error().message);
    const auto* t = c ? c->find(name) : nullptr;
    EXPECT_NE(t, nullptr) << name;
    return t ? *read_floats(*t) : std::vector<float>{};
  }
};

class HostilePickle : public PytorchFile {
 protected:
  void refused_pickle(const std::string& pickle, const std::string& why, ErrorCode code = ErrorCode::invalid_data) {
    refused(torch_zip(pickle, {{"0", four}}), why, code);
  }
  void refused_value(const std::string& value, const std::string& why, ErrorCode code = ErrorCode::invalid_data) {
    refused_pickle(state_dict({{"w", value}}), why, code);
  }
  void refused_tensor(const Tensor& t, const std::string& why) { refused_value(tensor(t), why); }
};

// ---- what must work ----

TEST_F(PytorchFile, TheMakerMakesAGoodZip) {
  EXPECT_EQ(read(torch_zip(state_dict({{"w", tensor({})}}), {{"0", four}}), "w"), (std::vector<float>{1, 2, 3, 4}));
}
TEST_F(PytorchFile, TransposedStrides) {
  const auto file = torch_zip(state_dict({{"w", tensor({.strides = {1, 2}})}}), {{"0", four}});
  EXPECT_EQ(read(file, "w"), (std::vector<float>{1, 3, 2, 4}));
}
TEST_F(PytorchFile, OffsetAndGap) {
  const auto file = torch_zip(state_dict({{"w", tensor({.offset = 1, .shape = {2}, .strides = {2}})}}), {{"0", four}});
  EXPECT_EQ(read(file, "w"), (std::vector<float>{2, 4}));
  EXPECT_EQ(open(file)->find("w")->bytes.size(), 12u);
}
TEST_F(PytorchFile, ExpandedTensor) {
  const auto file = torch_zip(state_dict({{"w", tensor({.shape = {3, 2}, .strides = {0, 1}})}}), {{"0", four}});
  EXPECT_EQ(read(file, "w"), (std::vector<float>{1, 2, 1, 2, 1, 2}));
}
TEST_F(PytorchFile, ScalarAndEmpty) {
  const auto file = torch_zip(state_dict({{"s", tensor({.offset = 3, .shape = {}, .strides = {}})},
                                          {"e", tensor({.shape = {0, 5}, .strides = {5, 1}})}}),
                              {{"0", four}});
  EXPECT_EQ(read(file, "s"), (std::vector<float>{4}));
  EXPECT_TRUE(read(file, "e").empty());
}
TEST_F(PytorchFile, EveryStorageType) {
  const std::pair<const char*, StoredType> types[] = {
      {"DoubleStorage", StoredType::f64},  {"FloatStorage", StoredType::f32},     {"HalfStorage", StoredType::f16},
      {"LongStorage", StoredType::i64},    {"BFloat16Storage", StoredType::bf16}, {"IntStorage", StoredType::i32},
      {"ShortStorage", StoredType::i16},   {"CharStorage", StoredType::i8},       {"ByteStorage", StoredType::u8},
      {"BoolStorage", StoredType::boolean}};
  for (const auto& [name, type] : types) {
    const auto c = open(torch_zip(state_dict({{"w", tensor({.type = name})}}), {{"0", std::string(32, '\1')}}));
    ASSERT_TRUE(c.ok()) << c.error().message;
    EXPECT_EQ(c->find("w")->type, type) << name;
    EXPECT_EQ(c->find("w")->bytes.size(), 4 * stored_bytes(type));
  }
}
TEST_F(PytorchFile, ParametersAndStateOfTheDict) {
  const std::string parameter =
      global("torch._utils", "_rebuild_parameter") + mark + tensor({}) + no + ordered_dict + tuple + reduce;
  const std::string dict = proto + ordered_dict + mark + text("w") + parameter + setitems + empty_dict +
                           text("_metadata") + ordered_dict + setitem + build + stop;
  EXPECT_EQ(read(torch_zip(dict, {{"0", four}}), "w"), (std::vector<float>{1, 2, 3, 4}));
}
TEST_F(PytorchFile, EntriesThatAreNoTensorsArePassedOver) {
  const auto c = open(torch_zip(state_dict({{"n", none}, {"w", tensor({})}, {"i", integer(3)}}), {{"0", four}}));
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->names(), std::vector<std::string>{"w"});
}
TEST_F(PytorchFile, TheMakerMakesAGoodStream) {
  TorchStream s{
      .state = state_dict({{"w", tensor({.key = "b"}, none)}, {"v", tensor({.key = "a", .strides = {1, 2}})}}),
      .keys = {"a", "b"},
      .data = little<int64_t>(4) + four + little<int64_t>(4) + floats_as_bytes({5, 6, 7, 8})};
  EXPECT_EQ(read(s.bytes(), "w"), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(read(s.bytes(), "v"), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(open(s.bytes())->format(), "PyTorch stream");
}
TEST_F(PytorchFile, Zip64) {
  const auto file = zip({{.name = "a/data.pkl", .data = state_dict({{"w", tensor({})}}), .zip64 = true},
                         {.name = "a/data/0", .data = four, .zip64 = true}},
                        true);
  EXPECT_EQ(read(file, "w"), (std::vector<float>{1, 2, 3, 4}));
}
TEST_F(PytorchFile, ZipWithComment) {
  auto file = torch_zip(state_dict({{"w", tensor({})}}), {{"0", four}});
  EXPECT_EQ(read(file + std::string(60000, 'c'), "w"), (std::vector<float>{1, 2, 3, 4}));
}

// ---- classes ----

TEST_F(HostilePickle, OsSystem) {
  refused_pickle(proto + global("os", "system") + mark + text("touch owned") + tuple + reduce + stop,
                 "asks for class 'os.system': refused", ErrorCode::unsupported);
}
TEST_F(HostilePickle, OsSystemAsAValue) {
  refused_value(global("posix", "system") + mark + text("x") + tuple + reduce, "'posix.system'",
                ErrorCode::unsupported);
}
TEST_F(HostilePickle, BuiltinsEval) {
  refused_value(global("builtins", "eval") + mark + text("1") + tuple + reduce, "'builtins.eval'",
                ErrorCode::unsupported);
}
TEST_F(HostilePickle, StackGlobal) {
  refused_value(text("subprocess") + text("Popen") + "\x93", "'subprocess.Popen'", ErrorCode::unsupported);
}
TEST_F(HostilePickle, StackGlobalOfNumbers) { refused_value(integer(1) + integer(2) + "\x93", "by what is no text"); }
TEST_F(HostilePickle, Inst) { refused_value(mark + "ios\nsystem\n", "'os.system'", ErrorCode::unsupported); }
TEST_F(HostilePickle, InstOfAKnownClass) {
  refused_value(mark + "icollections\nOrderedDict\n", "'collections.OrderedDict'", ErrorCode::unsupported);
}
TEST_F(HostilePickle, DottedName) {
  refused_value(global("torch._utils", "_rebuild_tensor_v2.__globals__"), "__globals__", ErrorCode::unsupported);
}
TEST_F(HostilePickle, ModuleThatOnlyStartsLikeTorch) {
  refused_value(global("torch_evil", "FloatStorage"), "'torch_evil.FloatStorage'", ErrorCode::unsupported);
}
TEST_F(HostilePickle, UnknownStorage) {
  refused_value(tensor({.type = "QUInt8Storage"}), "'torch.QUInt8Storage'", ErrorCode::unsupported);
}
TEST_F(HostilePickle, LoadFromBytes) {
  refused_value(global("torch.storage", "_load_from_bytes"), "_load_from_bytes", ErrorCode::unsupported);
}
TEST_F(HostilePickle, ClassNameWithControlCharacters) {
  refused_value(global("\x1b[2J", "x"), "'\\x1b[2J.x'", ErrorCode::unsupported);
}
TEST_F(HostilePickle, ClassNameWithoutEnd) { refused_value("c" + std::string(100'000, 'a'), "without an end"); }
TEST_F(HostilePickle, NewObject) { refused_value(empty_tuple + empty_tuple + "\x81", "opcode 0x81"); }
TEST_F(HostilePickle, ExtensionRegistry) { refused_value("\x82\x01", "opcode 0x82"); }
TEST_F(HostilePickle, TextPersistentId) { refused_value("Pid\n", "opcode 0x50"); }
TEST_F(HostilePickle, PlainOldPickleOfOsSystem) {
  refused("cos\nsystem\n(S'touch owned'\ntR.", "asks for class 'os.system'", ErrorCode::unsupported);
}

// ---- structure ----

TEST_F(HostilePickle, NestingOfTuples) {
  std::string deep = empty_tuple;
  for (int i = 0; i < 1'000'000; ++i) deep += "\x85";
  refused_value(deep, "nests deeper");
}
TEST_F(HostilePickle, NestingOfLists) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "]";
  refused_value(deep + std::string(100'000, 'a'), "nests deeper");
}
TEST_F(HostilePickle, NestingOfMarks) { refused_value(std::string(1'000'000, '('), "nests deeper"); }
TEST_F(HostilePickle, ListThatHoldsItself) {
  std::string cycle = "]q\x01";
  for (int i = 0; i < 100; ++i)
    cycle +=
        "h\x01"
        "a";
  refused_value(cycle, "nests deeper");
}
TEST_F(HostilePickle, TooManyOpcodes) {
  refused_value(mark + std::string(5'000'000, 'N') + tuple, "more than 4194304 opcodes");
}
TEST_F(HostilePickle, DictCopiedWithoutEnd) {
  std::string list = "]q\x01(";
  for (int i = 0; i < 50'000; ++i) list += "NN\x86";
  list += appends + "0";
  for (int i = 0; i < 50'000; ++i) list += global("collections", "OrderedDict") + "h\x01\x85" + reduce + "0";
  refused_value(list + none, "more than 4194304 opcodes");
}
TEST_F(HostilePickle, MemoIndexOfAllOnes) {
  EXPECT_TRUE(open(torch_zip(state_dict({{"w", tensor({}) + "r\xff\xff\xff\xff"}}), {{"0", four}})).ok());
}
TEST_F(HostilePickle, MemoNeverWritten) { refused_value("h\x07", "never remembered"); }
TEST_F(HostilePickle, MemoOfNothing) { refused_pickle(proto + "q" + std::string(1, '\0') + stop, "empty stack"); }
TEST_F(HostilePickle, PopOfNothing) { refused_pickle(proto + "00" + stop, "empty stack"); }
TEST_F(HostilePickle, PopThroughAMark) { refused_pickle(proto + none + mark + "0" + stop, "empty stack"); }
TEST_F(HostilePickle, TupleWithoutMark) { refused_pickle(proto + none + tuple + stop, "lacks a mark"); }
TEST_F(HostilePickle, ShortTuple) { refused_pickle(proto + none + "\x87" + stop, "empty stack"); }
TEST_F(HostilePickle, OddItems) {
  refused_pickle(proto + empty_dict + mark + none + setitems + stop, "without a value");
}
TEST_F(HostilePickle, ItemsOfANumber) {
  refused_pickle(proto + integer(1) + mark + none + none + setitems + stop, "no list or dict");
}
TEST_F(HostilePickle, AppendToADict) { refused_value(empty_dict + none + "a", "no list or dict"); }
TEST_F(HostilePickle, ReduceOfANumber) { refused_value(integer(1) + empty_tuple + reduce, "no known function"); }
TEST_F(HostilePickle, ReduceWithoutTuple) {
  refused_value(global("collections", "OrderedDict") + none + reduce, "no known function");
}
TEST_F(HostilePickle, BuildOfATensor) { refused_value(tensor({}) + empty_dict + build, "what is no dict"); }
TEST_F(HostilePickle, StorageMadeByItself) {
  refused_value(global("torch", "FloatStorage") + empty_tuple + reduce, "makes a storage");
}
TEST_F(HostilePickle, StorageReferenceIsNoTuple) { refused_value(integer(1) + persistent, "no tuple"); }
TEST_F(HostilePickle, StorageReferenceToSomethingElse) {
  refused_value(mark + text("module") + none + none + none + integer(1) + tuple + persistent, "else than a storage");
}
TEST_F(HostilePickle, StorageOfANonStorageClass) {
  refused_value(mark + text("storage") + global("collections", "OrderedDict") + text("0") + text("cpu") + integer(4) +
                    tuple + persistent,
                "else than a storage");
}
TEST_F(HostilePickle, StorageView) {
  refused_value(tensor({}, mark + text("k") + integer(0) + integer(1) + tuple), "part of a storage");
}
TEST_F(HostilePickle, DictOfANumber) {
  refused_value(global("collections", "OrderedDict") + integer(1) + "\x85" + reduce, "no list");
}
TEST_F(HostilePickle, DictOfNoPairs) {
  refused_value(global("collections", "OrderedDict") + "]" + none + "a\x85" + reduce, "no pairs");
}
TEST_F(HostilePickle, EndsWithinAMark) { refused_pickle(proto + mark + none + stop, "within a mark"); }
TEST_F(HostilePickle, EndsWithTwoValues) { refused_pickle(proto + none + none + stop, "more or less"); }
TEST_F(HostilePickle, EndsWithNothing) { refused_pickle(proto + stop, "more or less"); }
TEST_F(HostilePickle, UnknownProtocol) { refused_pickle("\x80\x63N.", "protocol 99"); }
TEST_F(HostilePickle, TextBeyondTheEnd) {
  refused_value(
      "X\xff\xff\xff\x7f"
      "abc",
      "truncated");
}
TEST_F(HostilePickle, TextOf2To63) { refused_value("\x8d" + little(uint64_t{1} << 63), "truncated"); }
TEST_F(HostilePickle, EveryTruncation) {
  const auto good = state_dict({{"w", tensor({})}});
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(open(torch_zip(good.substr(0, n), {{"0", four}})).ok()) << n;
}
TEST_F(HostilePickle, RootIsNoDict) { refused_pickle(proto + empty_list + stop, "no dict of tensors"); }
TEST_F(HostilePickle, NoTensors) { refused_pickle(state_dict({{"w", none}}), "holds no tensors"); }
TEST_F(HostilePickle, TrainingCheckpoint) {
  refused_pickle(state_dict({{"state_dict", ordered_dict}}), "'state_dict'", ErrorCode::unsupported);
}

// ---- tensors ----

TEST_F(HostilePickle, OffsetBeyondTheStorage) { refused_tensor({.offset = 1}, "'w' reaches beyond its storage"); }
TEST_F(HostilePickle, OffsetNegative) { refused_tensor({.offset = -1}, "cannot be"); }
TEST_F(HostilePickle, OffsetOf2To62) { refused_tensor({.offset = int64_t{1} << 62}, "beyond its storage"); }
TEST_F(HostilePickle, ShapeBeyondTheStorage) { refused_tensor({.shape = {3, 2}}, "beyond its storage"); }
TEST_F(HostilePickle, ShapeNegative) { refused_tensor({.shape = {-2, -2}}, "cannot be"); }
TEST_F(HostilePickle, ShapeOverflows) { refused_tensor({.shape = {int64_t{1} << 40, int64_t{1} << 40}}, "overflows"); }
TEST_F(HostilePickle, ShapeOf2To62) { refused_tensor({.shape = {int64_t{1} << 62}, .strides = {1}}, "more elements"); }
TEST_F(HostilePickle, ExpandedWithoutEnd) {
  refused_tensor({.shape = {int64_t{1} << 40}, .strides = {0}}, "more elements");
}
TEST_F(HostilePickle, StridesBeyondTheStorage) { refused_tensor({.strides = {3, 1}}, "beyond its storage"); }
TEST_F(HostilePickle, StridesNegative) { refused_tensor({.offset = 3, .strides = {-2, -1}}, "cannot be"); }
TEST_F(HostilePickle, StridesOverflow) {
  refused_tensor({.shape = {9, 2}, .strides = {int64_t{1} << 62, 1}}, "strides that overflow");
}
TEST_F(HostilePickle, StridesWrapToTheStart) {
  const int64_t half = int64_t{1} << 62;  // 4 * half is 0 modulo 2^64
  refused_tensor({.shape = {5, 1}, .strides = {half, 1}}, "overflow");
}
TEST_F(HostilePickle, StridesOfAnotherRank) { refused_tensor({.strides = {1}}, "cannot be"); }
TEST_F(HostilePickle, TooManyDimensions) {
  refused_tensor({.shape = std::vector<int64_t>(9, 1), .strides = std::vector<int64_t>(9, 1)}, "cannot be");
}
TEST_F(HostilePickle, StorageSmallerThanClaimed) { refused_tensor({.storage_elements = 5}, "needs a larger storage"); }
TEST_F(HostilePickle, StorageSizeOverflows) {
  refused_tensor({.storage_elements = int64_t{1} << 62}, "needs a larger storage");
}
TEST_F(HostilePickle, StorageNegative) { refused_tensor({.storage_elements = -1}, "else than a storage"); }
TEST_F(HostilePickle, StorageMissing) { refused_tensor({.key = "1"}, "storage '1', which the file lacks"); }
TEST_F(HostilePickle, NameTwice) {
  refused_pickle(state_dict({{"w", tensor({})}, {"w", tensor({})}}), "'w' appears twice");
}
TEST_F(HostilePickle, NameIsANumber) {
  refused_pickle(proto + empty_dict + integer(1) + tensor({}) + setitem + stop, "no text");
}
TEST_F(HostilePickle, NameOfAMegabyte) {
  refused_pickle(state_dict({{std::string(1 << 20, 'w'), tensor({})}}), "4096");
}

// ---- zip ----

class HostileZip : public PytorchFile {
 protected:
  const std::string pickle_ = state_dict({{"w", tensor({})}});
  std::string with(ZipPart storage) { return zip({{"a/data.pkl", pickle_}, std::move(storage)}); }
};

TEST_F(HostileZip, Compressed) {
  refused(with({.name = "a/data/0", .data = four, .method = 8}), "'a/data/0' is compressed", ErrorCode::unsupported);
}
TEST_F(HostileZip, Encrypted) {
  refused(with({.name = "a/data/0", .data = four, .flags = 1}), "encrypted", ErrorCode::unsupported);
}
TEST_F(HostileZip, EntryBeyondTheFile) {
  refused(with({.name = "a/data/0", .data = four, .size_lie = 1000}), "outside the file");
}
TEST_F(HostileZip, Zip64EntryBeyondTheFile) {
  refused(with({.name = "a/data/0", .data = four, .zip64 = true, .size_lie = 0x7fffffff}), "outside the file");
}
TEST_F(HostileZip, TwoNames) {
  refused(with({.name = "a/data/0", .data = four, .local_name = "a/data/1"}), "two names");
}
TEST_F(HostileZip, SameNameTwice) {
  refused(zip({{"a/data.pkl", pickle_}, {"a/data/0", four}, {"a/data/0", four}}), "'a/data/0' twice");
}
TEST_F(HostileZip, TwoPickles) { refused(zip({{"a/data.pkl", pickle_}, {"b/data.pkl", pickle_}}), "data.pkl twice"); }
TEST_F(HostileZip, NoPickle) { refused(zip({{"a/readme", "text"}}), "no data.pkl"); }
TEST_F(HostileZip, NoEntries) { refused("PK\5\6" + std::string(18, '\0'), "no data.pkl"); }
TEST_F(HostileZip, BigEndian) {
  refused(torch_zip(pickle_, {{"0", four}}, "big"), "big-endian", ErrorCode::unsupported);
}
TEST_F(HostileZip, MiddleEndian) { refused(torch_zip(pickle_, {{"0", four}}, "pdp"), "byteorder is 'pdp'"); }
TEST_F(HostileZip, EveryTruncation) {
  const auto good = torch_zip(pickle_, {{"0", four}});
  ASSERT_TRUE(open(good).ok());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(open(good.substr(0, n)).ok()) << n;
}
TEST_F(HostileZip, DirectoryBeyondTheFile) {
  auto file = with({.name = "a/data/0", .data = four});
  file.replace(file.size() - 6, 4, little<uint32_t>(0x7fffffff));
  refused(file, "outside the file");
}
TEST_F(HostileZip, ManyEntriesClaimed) {
  auto file = with({.name = "a/data/0", .data = four});
  file.replace(file.size() - 14, 4, std::string("\xfe\xff\xfe\xff"));
  refused(file, "directory is cut");
}
TEST_F(HostileZip, Zip64ClaimsEndlessEntries) {
  auto file = zip({{"a/data.pkl", pickle_}}, true);
  const size_t record = file.rfind("PK\x06\x06");
  file.replace(record + 24, 16, std::string(15, '\xff') + "\xff");
  refused(file, "claims 18446744073709551615 entries", ErrorCode::unsupported);
}
TEST_F(HostileZip, Zip64LocatorBeyondTheFile) {
  auto file = zip({{"a/data.pkl", pickle_}}, true);
  file.replace(file.rfind("PK\x06\x07") + 8, 8, std::string(8, '\xff'));
  refused(file, "zip64");
}

// ---- stream ----

class HostileStream : public PytorchFile {
 protected:
  TorchStream good_{.state = state_dict({{"w", tensor({}, none)}}), .keys = {"0"}, .data = little<int64_t>(4) + four};
};

TEST_F(HostileStream, WrongMagic) {
  good_.magic[8] ^= 1;
  refused(good_.bytes(), "magic number");
}
TEST_F(HostileStream, WrongProtocol) {
  good_.protocol = 1000;
  refused(good_.bytes(), "unknown protocol");
}
TEST_F(HostileStream, BigEndian) {
  good_.little_endian = false;
  refused(good_.bytes(), "big-endian", ErrorCode::unsupported);
}
TEST_F(HostileStream, OsSystem) {
  good_.state = proto + global("os", "system") + mark + text("touch owned") + tuple + reduce + stop;
  refused(good_.bytes(), "asks for class 'os.system'", ErrorCode::unsupported);
}
TEST_F(HostileStream, OsSystemInTheFirstPickle) {
  good_.magic = proto + global("os", "system") + mark + text("touch owned") + tuple + reduce + stop;
  refused(good_.bytes(), "asks for class 'os.system'", ErrorCode::unsupported);
}
TEST_F(HostileStream, StorageCountOf2To63) {
  good_.data = little(uint64_t{1} << 63) + four;
  refused(good_.bytes(), "ends beyond the file");
}
TEST_F(HostileStream, StorageCountThatWraps) {
  good_.data = little((uint64_t{1} << 62) + 4) + four;
  refused(good_.bytes(), "ends beyond the file");
}
TEST_F(HostileStream, StorageSmallerThanClaimed) {
  good_.data = little<int64_t>(3) + four;
  refused(good_.bytes(), "needs a larger storage");
}
TEST_F(HostileStream, StorageOfNoTensor) {
  good_.keys = {"0", "stranger"};
  refused(good_.bytes(), "'stranger' belongs to no tensor");
}
TEST_F(HostileStream, StorageListedTwice) {
  good_.keys = {"0", "0"};
  good_.data += good_.data;
  refused(good_.bytes(), "listed twice");
}
TEST_F(HostileStream, StorageNotListed) {
  good_.keys = {};
  refused(good_.bytes(), "which the file lacks");
}
TEST_F(HostileStream, StorageOfTwoTypes) {
  good_.state = state_dict({{"w", tensor({}, none)}, {"v", tensor({.type = "LongStorage"}, none)}});
  refused(good_.bytes(), "two types");
}
TEST_F(HostileStream, EveryTruncation) {
  const auto good = good_.bytes();
  ASSERT_TRUE(open(good).ok());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(open(good.substr(0, n)).ok()) << n;
}

}  // namespace
}  // namespace lapilli
