// Errors as values: what is handed on, copied and taken out.
#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace lapilli {
namespace {

Result<std::unique_ptr<int>> half(int of) {
  if (of % 2 != 0) return fail(ErrorCode::invalid_argument, "%d is odd", of);
  return std::make_unique<int>(of / 2);
}
Result<int> quarter(int of) {
  LAPILLI_TRY(const auto once, half(of));
  LAPILLI_TRY(const auto twice, half(*once));
  return *twice;
}
Status check_quarter(int of) {
  LAPILLI_CHECK(half(of));
  if (auto q = quarter(of); !q) return std::move(q).error().in("quarter");
  return {};
}

TEST(Result, HandsValuesAndErrorsOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  const auto first = quarter(7), second = quarter(14);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(first.error().message, "7 is odd");
  EXPECT_EQ(second.error().message, "7 is odd");
  EXPECT_TRUE(check_quarter(4));
  EXPECT_EQ(check_quarter(6).error().message, "quarter: 3 is odd");
}

TEST(Result, ACopyHasAnErrorOfItsOwn) {
  const Status failed = check_quarter(3);
  Status copy = failed;
  EXPECT_NE(&copy.error(), &failed.error());
  const Error taken = std::move(copy).error();
  EXPECT_EQ(taken.message, "3 is odd");
  EXPECT_EQ(failed.error().message, "3 is odd");
  copy = Status();
  EXPECT_TRUE(copy);
  copy = failed;
  EXPECT_EQ(copy.error().message, failed.error().message);
}

TEST(Result, AnAssignedValueTakesTheErrorsPlace) {
  Result<int> r = fail(ErrorCode::timeout, "late");
  r = 5;
  ASSERT_TRUE(r);
  EXPECT_EQ(*r, 5);
  r = Error{ErrorCode::internal, "again"};
  EXPECT_FALSE(r);
  const Failure none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::internal);
}

}  // namespace
}  // namespace lapilli
