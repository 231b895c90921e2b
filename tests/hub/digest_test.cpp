// Hashes against the examples of FIPS 180-4 and what git says.
#include "hub/digest.hpp"

#include <gtest/gtest.h>

#include "hub/fake_hub.hpp"

namespace lapilli::hub {
namespace {

std::string hash(Digest::Kind kind, const std::string& text, size_t piece) {
  Digest digest(kind);
  for (size_t at = 0; at < text.size(); at += piece) digest.update(std::string_view(text).substr(at, piece));
  return digest.hex();
}

TEST(HubDigest, PublishedExamples) {
  const std::string two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", million(1000000, 'a');
  using Kind = Digest::Kind;
  for (const size_t piece : {1000000, 64, 63, 7}) {
    EXPECT_EQ(hash(Kind::sha256, "", piece), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hash(Kind::sha256, "abc", piece), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hash(Kind::sha256, two_blocks, piece),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hash(Kind::sha256, million, piece), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(hash(Kind::sha1, "", piece), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    EXPECT_EQ(hash(Kind::sha1, "abc", piece), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(hash(Kind::sha1, two_blocks, piece), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    EXPECT_EQ(hash(Kind::sha1, million, piece), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  }
}

// Lengths around a block, whose end is padded in one block more or less: as sha256sum says.
TEST(HubDigest, EveryLengthOfABlock) {
  std::string all;
  for (size_t length = 0; length < 130; ++length) all += test::sha256_of(std::string(length, 'x'));
  EXPECT_EQ(test::sha256_of(all), "199af942eba7fa5d1e16d475169eb24018b14e69339c93d26a9ea6d873b4ace6");
}

// git hash-object
TEST(HubDigest, BlobsOfGit) {
  EXPECT_EQ(test::git_blob_of(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(test::git_blob_of("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
}

}  // namespace
}  // namespace lapilli::hub
