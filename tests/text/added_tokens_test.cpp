#include "text/added_tokens.hpp"

#include <gtest/gtest.h>

namespace lapilli {
namespace {

// "[text]" for a token, "text" for plain text, joined by "|".
std::string show(const AddedTokens& tokens, std::string_view text) {
  std::string out;
  for (const auto& part : tokens.split(text)) {
    if (!out.empty()) out += "|";
    out += part.token != nullptr ? "[" + part.token->text + "]" : std::string(part.text);
  }
  return out;
}

TEST(AddedTokens, TakesTheLongestAtEachPlace) {
  const AddedTokens tokens({{"<a>", 1}, {"<a><b>", 2}, {"</s>", 0}});
  EXPECT_EQ(show(tokens, ""), "");
  EXPECT_EQ(show(tokens, "plain"), "plain");
  EXPECT_EQ(show(tokens, "<a><b><a>x</s>"), "[<a><b>]|[<a>]|x|[</s>]");
  EXPECT_EQ(show(tokens, "x <a <a> y"), "x <a |[<a>]| y");
}

TEST(AddedTokens, SwallowsSpacesAsTold) {
  AddedToken left{"<l>", 1}, right{"<r>", 2};
  left.lstrip = true;
  right.rstrip = true;
  const AddedTokens tokens({left, right});
  EXPECT_EQ(show(tokens, "a <l> b"), "a|[<l>]| b");
  EXPECT_EQ(show(tokens, "a <r> b"), "a |[<r>]|b");
  EXPECT_EQ(show(tokens, "<r>  <l>"), "[<r>]|[<l>]");
}

TEST(AddedTokens, FirstOfDuplicatesCounts) {
  const AddedTokens tokens({{"<a>", 1}, {"<a>", 2}, {"<b>", 1}});
  ASSERT_EQ(tokens.all().size(), 1u);
  ASSERT_NE(tokens.by_id(1), nullptr);
  EXPECT_EQ(tokens.by_id(1)->text, "<a>");
  EXPECT_EQ(tokens.by_id(2), nullptr);
  EXPECT_EQ(tokens.by_text("<b>"), nullptr);
}

}  // namespace
}  // namespace lapilli
