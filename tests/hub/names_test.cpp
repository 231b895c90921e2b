// Names and addresses from a hub, which may be anything.
#include "fetched/names.hpp"

#include <gtest/gtest.h>

#include "hub/url.hpp"

namespace lapilli::hub {
namespace {

TEST(HubNames, ModelsAreOwnerAndName) {
  const auto plain = parse_model_name("Helsinki-NLP/opus-mt-en-de");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->owner, "Helsinki-NLP");
  EXPECT_EQ(plain->name, "opus-mt-en-de");
  EXPECT_EQ(plain->revision, "");
  EXPECT_EQ(parse_model_name("google/flan-t5-xl@refs/pr/3")->revision, "refs/pr/3");
  EXPECT_TRUE(parse_model_name("facebook/m2m100_1.2B").has_value());
  for (const char* no : {"",
                         "/",
                         "name",
                         "/name",
                         "owner/",
                         "owner/name/more",
                         "../name",
                         "owner/..",
                         "./name",
                         "owner/.name",
                         "a b/c",
                         "owner/name@",
                         "owner/name@..",
                         "owner/name@a/../b",
                         "owner/name@/a",
                         "owner/name@a@b",
                         "~/name",
                         "C:/name",
                         "owner\\name/x",
                         "owner/n%61me",
                         "owner/con",
                         "aux/name",
                         "owner/Com1.x",
                         "owner/name?x",
                         "owner/name#x"})
    EXPECT_FALSE(parse_model_name(no).has_value()) << no;
  EXPECT_FALSE(parse_model_name("owner/" + std::string(97, 'x')).has_value());
}

TEST(HubNames, FilesArePlain) {
  for (const char* yes :
       {"config.json", "model-00001-of-00002.safetensors", "vocab-src.json", "console.txt", "com.txt"})
    EXPECT_TRUE(is_plain_name(yes)) << yes;
  for (const std::string_view no :
       {"", ".", "..", "a..b", ".lock", "a/b", "a\\b", "a:b", "a.", "CON", "nul.txt", "lpt1", "\xc3\xa9", "a\nb"})
    EXPECT_FALSE(is_plain_name(no)) << no;
  EXPECT_FALSE(is_plain_name(std::string_view("a\0b", 3)));
}

TEST(HubNames, FilesLieInOneFolderAtMost) {
  for (const char* yes : {"config.json", "1_Pooling/config.json", "0_Transformer/model-00001-of-00002.safetensors"})
    EXPECT_TRUE(is_file_name(yes)) << yes;
  for (const std::string_view no :
       {"",      "/",          "/a",          "a/",      "a//b",       "a/b/c",  "../a",   "a/..",
        "./a",   "a/.",        ".git/config", "a/.lock", "a\\b",       "a\\b/c", "a/b\\c", "C:/a",
        "con/a", "a/nul.json", "a./b",        "a /b",    "\xc3\xa9/a", "a/b\n"})
    EXPECT_FALSE(is_file_name(no)) << no;
  EXPECT_FALSE(is_file_name(std::string_view("a\0/b", 4)));
}

TEST(HubNames, CommitsAreHashes) {
  EXPECT_TRUE(is_commit(std::string(40, 'a')));
  EXPECT_TRUE(is_commit(std::string(64, '0')));
  for (const std::string& no : {std::string(39, 'a'), std::string(40, 'g'), std::string(40, 'A'), std::string("main")})
    EXPECT_FALSE(is_commit(no)) << no;
}

TEST(HubUrl, OriginsDecideWhoIsAsked) {
  EXPECT_EQ(origin_of("https://Hub.Example/a/b?c"), "https://hub.example");
  EXPECT_EQ(origin_of("HTTP://127.0.0.1:8080"), "http://127.0.0.1:8080");
  EXPECT_NE(origin_of("https://hub.example:444/"), origin_of("https://hub.example/"));
  for (const char* no : {"", "hub.example", "ftp://hub.example", "https://", "https:///path", "file:///etc/passwd",
                         "https://hub.example@other.example/", "https://hub.example\\@other.example/ x y@"})
    EXPECT_TRUE(origin_of(no).empty() || origin_of(no) == "https://hub.example") << no;
  EXPECT_EQ(origin_of("https://hub.example@other.example/"), "");
}

TEST(HubUrl, ThisMachine) {
  for (const char* yes : {"http://127.0.0.1:80", "http://localhost", "http://[::1]:8080", "http://[::1]"})
    EXPECT_TRUE(is_loopback(yes)) << yes;
  for (const char* no : {"http://127.0.0.1.example", "http://hub.example:127", "http://[::2]:80", ""})
    EXPECT_FALSE(is_loopback(no)) << no;
}

}  // namespace
}  // namespace lapilli::hub
