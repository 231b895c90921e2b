// The program's tools turn exceptions into errors.
#include <gtest/gtest.h>

#include <vector>

#include "tools/guard.hpp"

namespace lapilli::tools {
namespace {

TEST(ApiTools, WhatDoesNotFitIsNoBug) {
  const auto throws = [](auto&& thrown) { return guarded("plan", [&]() -> Result<std::string> { throw thrown; }); };
  EXPECT_EQ(throws(std::bad_alloc()).status, static_cast<int>(ErrorCode::out_of_memory));
  EXPECT_EQ(throws(std::length_error("vector")).text, "plan: out of memory");
  EXPECT_EQ(throws(std::logic_error("odd")).status, static_cast<int>(ErrorCode::internal));
  EXPECT_EQ(guarded("plan", [] { return Result<std::string>("good"); }).text, "good");
  EXPECT_EQ(guarded("plan", [] { return Result<std::string>(fail(ErrorCode::not_found, "none")); }).text, "none");
}

}  // namespace
}  // namespace lapilli::tools
