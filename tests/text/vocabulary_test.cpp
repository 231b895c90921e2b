#include "text/vocabulary.hpp"

#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

Result<Vocabulary> vocabulary_of(const std::string& content) {
  const TempDirectory d;
  return Vocabulary::load(d.write("vocab.json", content));
}

TEST(Vocabulary, MapsBothWays) {
  auto v = vocabulary_of(R"({"</s>": 0, "\u2581caf\u00e9": 3, "": 2})");
  ASSERT_TRUE(v.ok()) << v.error().message;
  EXPECT_EQ(v->size(), 4u);
  EXPECT_EQ(v->id("\xE2\x96\x81"
                  "caf\xC3\xA9"),
            3);
  EXPECT_EQ(v->id("x"), -1);
  ASSERT_NE(v->token(0), nullptr);
  EXPECT_EQ(*v->token(0), "</s>");
  EXPECT_EQ(v->token(1), nullptr);  // an unused id
  ASSERT_NE(v->token(2), nullptr);  // an empty token
  EXPECT_EQ(*v->token(2), "");
  EXPECT_EQ(v->token(4), nullptr);
  EXPECT_EQ(v->token(-1), nullptr);
  // Views into the object stay right when it moves.
  const Vocabulary moved = std::move(v).value();
  EXPECT_EQ(moved.id("</s>"), 0);
}

TEST(Vocabulary, RefusesBadFiles) {
  const struct {
    const char* content;
    const char* message;
  } cases[] = {
      {"", "not valid JSON"},
      {"{\"a\": 0", "not valid JSON, at byte"},
      {"{\"a\": 0} x", "not valid JSON"},
      {"{\"\xFF\": 0}", "not valid JSON"},
      {"[\"a\"]", "expected an object of token: id, found an array"},
      {"7", "expected an object of token: id, found a number"},
      {"-7", "expected an object of token: id, found a number"},
      {"null", "expected an object"},
      {"{}", "no token in it"},
      {R"({"a": "0"})", "the id of token \"a\" is a string"},
      {R"({"a": null})", "the id of token \"a\" is null"},
      {R"({"a": {"b": 0}})", "the id of token \"a\" is an object"},
      {R"({"a": [0]})", "the id of token \"a\" is an array"},
      {R"({"a": 1.0})", "the id of token \"a\" is 1.0"},
      {R"({"a": -1})", "the id of token \"a\" is -1"},
      {R"({"a": 2147483648})", "the id of token \"a\" is 2147483648"},
      {R"({"a": 99999999999999999999999})", "ids are integers from 0"},
      {R"({"a": 1e999})", "not valid JSON"},
      {R"({"a": 2147483647})", "too far apart"},
      {R"({"a": 0, "b": 0})", "tokens \"a\" and \"b\" have the same id 0"},
      {R"({"a": 0, "a": 1})", "token \"a\" is given twice"},
  };
  for (const auto& c : cases) {
    auto v = vocabulary_of(c.content);
    ASSERT_FALSE(v.ok()) << c.content;
    EXPECT_EQ(v.error().code, ErrorCode::invalid_data);
    EXPECT_NE(v.error().message.find("vocab.json: "), std::string::npos) << v.error().message;
    EXPECT_NE(v.error().message.find(c.message), std::string::npos) << c.content << ": " << v.error().message;
  }
  // Deep nesting must not cost stack.
  EXPECT_FALSE(vocabulary_of("{\"a\":" + std::string(1000000, '[')).ok());
  EXPECT_FALSE(vocabulary_of(std::string(1000000, '[')).ok());
}

TEST(Vocabulary, MissingFile) {
  const TempDirectory d;
  auto v = Vocabulary::load(d.path() + "/vocab.json");
  ASSERT_FALSE(v.ok());
  EXPECT_EQ(v.error().code, ErrorCode::not_found);
  EXPECT_NE(v.error().message.find("vocab.json"), std::string::npos);
}

}  // namespace
}  // namespace lapilli
