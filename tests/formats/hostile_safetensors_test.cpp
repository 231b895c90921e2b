// Every way in which a safetensors file can be wrong gets an error that names the file, and the tensor where there is
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/checkpoint.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::HasSubstr;

class HostileSafetensors : public ::testing::Test {
 protected:
  TempDirectory dir_;

  Result<Checkpoint> open(const std::string& content) {
    (void)dir_.write("model.safetensors", content);
    return Checkpoint::open(dir_.path());
  }
  // Expects an error that contains `why` and names the file.
  void refused(const std::string& content, const std::string& why, ErrorCode code = ErrorCode::invalid_data) {
    const auto c = open(content);
    ASSERT_FALSE(c.ok()) << "expected: " << why;
    EXPECT_EQ(c.error().code, code);
    EXPECT_THAT(c.error().message, HasSubstr("model.safetensors"));
    EXPECT_THAT(c.error().message, HasSubstr(why));
  }
  void refused_header(const std::string& header, const std::string& why, ErrorCode code = ErrorCode::invalid_data) {
    refused(safetensors(header, std::string(64, '\0')), why, code);
  }
  static std::string entry(const std::string& shape, const std::string& offsets, const std::string& type = "F32") {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  }
  void refused_entry(const std::string& one, const std::string& why, ErrorCode code = ErrorCode::invalid_data) {
    refused_header("{\"w\":" + one + "}", why, code);
    EXPECT_THAT(open(safetensors("{\"w\":" + one + "}", std::string(64, '\0'))).error().message, HasSubstr("'w'"));
  }
};

TEST_F(HostileSafetensors, TheMakerMakesAGoodFile) {
  const auto c = open(safetensors(R"({"__metadata__":{"format":"pt"},"b":)" + entry("[2,2]", "[8,24]") +
                                      ",\"a\":" + entry("[2]", "[0,8]") + ",\"scalar\":" + entry("[]", "[24,28]") +
                                      ",\"empty\":" + entry("[0,7]", "[28,28]") + "}  ",
                                  floats_as_bytes({1, 2, 3, 4, 5, 6, 7})));
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->names(), (std::vector<std::string>{"a", "b", "empty", "scalar"}));
  EXPECT_EQ(*read_floats(*c->find("b")), (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(*read_floats(*c->find("scalar")), (std::vector<float>{7}));
  EXPECT_TRUE(read_floats(*c->find("empty"))->empty());
}

TEST_F(HostileSafetensors, MetadataMayBeNothing) {
  for (const char* nothing : {"null", "{}"})
    EXPECT_TRUE(
        open(safetensors(std::string(R"({"__metadata__":)") + nothing + R"(,"w":)" + entry("[2]", "[0,8]") + "}",
                         std::string(8, '\0')))
            .ok())
        << nothing;
}

TEST_F(HostileSafetensors, EmptyFile) { refused("", "truncated"); }
TEST_F(HostileSafetensors, SevenBytes) { refused(std::string(7, '\0'), "truncated"); }
TEST_F(HostileSafetensors, HeaderSizeZero) { refused(little<uint64_t>(0) + "{}", "'{'"); }
TEST_F(HostileSafetensors, HeaderBeyondTheFile) { refused(little<uint64_t>(3) + "{}", "truncated"); }
TEST_F(HostileSafetensors, HeaderOf2To63) { refused(little(uint64_t{1} << 63) + "{}", "above the limit"); }
TEST_F(HostileSafetensors, HeaderOfAllOnes) { refused(little(~uint64_t{0}) + "{}", "above the limit"); }
TEST_F(HostileSafetensors, HeaderAbove100Megabytes) {
  refused(little<uint64_t>(100'000'001) + "{}", "above the limit");
}
TEST_F(HostileSafetensors, HeaderIsNoObject) { refused_header("[]", "'{'"); }
TEST_F(HostileSafetensors, HeaderIsNoJson) { refused_header("{\"w\":}", "not valid JSON"); }
TEST_F(HostileSafetensors, HeaderIsCutShort) { refused_header("{\"w\":{", "not valid JSON"); }
TEST_F(HostileSafetensors, HeaderHasInvalidUtf8) { refused_header("{\"\xff\":{}}", "not valid JSON"); }
TEST_F(HostileSafetensors, HeaderHasTrailingText) { refused_header("{} {}", "not valid JSON"); }

TEST_F(HostileSafetensors, NestingBombOfLists) {
  refused_header("{\"w\":" + std::string(10'000'000, '['), "nests deeper");
}
TEST_F(HostileSafetensors, NestingBombOfObjects) {
  std::string bomb;
  for (int i = 0; i < 1'000'000; ++i) bomb += "{\"a\":";
  refused_header(bomb, "field");
}
TEST_F(HostileSafetensors, NestingInMetadata) { refused_header(R"({"__metadata__":{"a":{"b":1}}})", "nests deeper"); }
TEST_F(HostileSafetensors, NestingInShape) { refused_entry(entry("[[2]]", "[0,8]"), "nests deeper"); }

TEST_F(HostileSafetensors, BeginAfterEnd) { refused_entry(entry("[2]", "[8,0]"), "after its end"); }
TEST_F(HostileSafetensors, EndBeyondTheFile) { refused_entry(entry("[17]", "[0,68]"), "only 64 bytes"); }
TEST_F(HostileSafetensors, OffsetsOf2To63) {
  refused_entry(entry("[2]", "[9223372036854775808,9223372036854775816]"), "only 64 bytes");
}
TEST_F(HostileSafetensors, OffsetsThatWrapAround) {
  refused_entry(entry("[2]", "[18446744073709551608,18446744073709551615]"), "only 64 bytes");
}
TEST_F(HostileSafetensors, OffsetsAbove64Bits) {
  refused_entry(entry("[2]", "[0,18446744073709551616]"), "no 64-bit integer");
}
TEST_F(HostileSafetensors, NegativeOffset) { refused_entry(entry("[2]", "[-8,0]"), "negative"); }
TEST_F(HostileSafetensors, FractionalOffset) { refused_entry(entry("[2]", "[0,8.0]"), "no 64-bit integer"); }
TEST_F(HostileSafetensors, OneOffset) { refused_entry(entry("[2]", "[0]"), "two data_offsets"); }
TEST_F(HostileSafetensors, ThreeOffsets) { refused_entry(entry("[2]", "[0,8,8]"), "more than two"); }
TEST_F(HostileSafetensors, ShapeProductOverflows) {
  refused_entry(entry("[4294967296,4294967296]", "[0,0]"), "overflows");
}
TEST_F(HostileSafetensors, ShapeTimesSizeOverflows) {
  refused_entry(entry("[4611686018427387904]", "[0,0]"), "overflows");
}
TEST_F(HostileSafetensors, ShapeOf2To63Bytes) {
  refused_entry(entry("[9223372036854775808]", "[0,64]", "U8"), "for a shape that needs");
}
TEST_F(HostileSafetensors, ShapeWrapsToTheRightSize) {
  // 2^62 + 2 floats are 8 bytes modulo 2^64.
  refused_entry(entry("[4611686018427387906]", "[0,8]"), "overflows");
}
TEST_F(HostileSafetensors, ShapeSmallerThanBytes) {
  refused_entry(entry("[1]", "[0,8]"), "has 8 bytes for a shape that needs 4");
}
TEST_F(HostileSafetensors, ShapeLargerThanBytes) {
  refused_entry(entry("[3]", "[0,8]"), "has 8 bytes for a shape that needs 12");
}
TEST_F(HostileSafetensors, NegativeDimension) { refused_entry(entry("[-2]", "[0,8]"), "negative"); }
TEST_F(HostileSafetensors, DimensionIsText) { refused_entry(entry("[\"2\"]", "[0,8]"), "holds text"); }
TEST_F(HostileSafetensors, TooManyDimensions) {
  refused_entry(entry("[1,1,1,1,1,1,1,1,1]", "[0,4]"), "more than 8 dimensions");
}
TEST_F(HostileSafetensors, UnknownType) {
  refused_entry(entry("[2]", "[0,8]", "F31"), "unknown dtype 'F31'", ErrorCode::unsupported);
}
TEST_F(HostileSafetensors, TypeIsANumber) {
  refused_entry(R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})", "holds a number");
}
TEST_F(HostileSafetensors, EntryIsNoObject) { refused_entry("3", "holds a number"); }
TEST_F(HostileSafetensors, EntryIsNull) { refused_entry("null", "holds null"); }
TEST_F(HostileSafetensors, EntryIsAList) { refused_entry("[1]", "nests deeper"); }
TEST_F(HostileSafetensors, LacksType) { refused_entry(R"({"shape":[2],"data_offsets":[0,8]})", "lacks"); }
TEST_F(HostileSafetensors, LacksShape) { refused_entry(R"({"dtype":"F32","data_offsets":[0,8]})", "lacks"); }
TEST_F(HostileSafetensors, LacksOffsets) { refused_entry(R"({"dtype":"F32","shape":[2]})", "lacks"); }
TEST_F(HostileSafetensors, UnknownField) {
  refused_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"code":"x"})", "unknown field 'code'");
}
TEST_F(HostileSafetensors, FieldTwice) {
  refused_entry(R"({"dtype":"F32","shape":[2],"shape":[1],"data_offsets":[0,8]})", "shape twice");
}
TEST_F(HostileSafetensors, NameTwice) {
  refused_header("{\"w\":" + entry("[2]", "[0,8]") + ",\"w\":" + entry("[2]", "[8,16]") + "}", "'w' appears twice");
}
TEST_F(HostileSafetensors, NameTwiceByEscape) {
  refused_header("{\"w\":" + entry("[2]", "[0,8]") + ",\"\\u0077\":" + entry("[2]", "[8,16]") + "}", "appears twice");
}
TEST_F(HostileSafetensors, Overlap) {
  refused_header("{\"v\":" + entry("[2]", "[0,8]") + ",\"w\":" + entry("[2]", "[4,12]") + "}", "'v' and 'w' overlap");
}
TEST_F(HostileSafetensors, OverlapByContainment) {
  refused_header("{\"v\":" + entry("[4]", "[0,16]") + ",\"w\":" + entry("[1]", "[4,8]") + "}", "overlap");
}
TEST_F(HostileSafetensors, SameBytesTwice) {
  refused_header("{\"v\":" + entry("[2]", "[0,8]") + ",\"w\":" + entry("[2]", "[0,8]") + "}", "overlap");
}
TEST_F(HostileSafetensors, ControlCharactersInANameDoNotReachTheTerminal) {
  const auto c = open(safetensors("{\"\\u001b[2Jw\\n\":" + entry("[2]", "[8,0]") + "}", std::string(64, '\0')));
  ASSERT_FALSE(c.ok());
  EXPECT_THAT(c.error().message, HasSubstr("'\\x1b[2Jw\\x0a'"));
}
TEST_F(HostileSafetensors, LongNameIsCutInTheMessage) {
  const auto c = open(safetensors("{\"" + std::string(1'000'000, 'w') + "\":3}", ""));
  ASSERT_FALSE(c.ok());
  EXPECT_LT(c.error().message.size(), 1000u);
}
TEST_F(HostileSafetensors, GitLfsPointer) {
  refused("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull");
}
TEST_F(HostileSafetensors, WebPage) { refused("<!DOCTYPE html><html>not found</html>", "web page"); }
TEST_F(HostileSafetensors, EveryTruncationOfAGoodFile) {
  const std::string good = safetensors("{\"w\":" + entry("[2]", "[0,8]") + "}", floats_as_bytes({1, 2}));
  ASSERT_TRUE(open(good).ok());
  for (size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(open(good.substr(0, n)).ok()) << n;
}

}  // namespace
}  // namespace lapilli
