// Shared by tests with a device: opening one, and unwrapping results with their messages.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/result.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::testing_support {

inline std::string message_of(const Status& s) { return s.ok() ? "ok" : s.error().message; }
template <class T>
std::string message_of(const Result<T>& r) {
  return r.ok() ? "ok" : r.error().message;
}

}  // namespace lapilli::testing_support

// The expression (a Status or a Result) succeeded; else its message is shown.
#define LAPILLI_EXPECT_OK(expr)                                                   \
  do {                                                                            \
    const auto& result_ = (expr);                                                 \
    EXPECT_TRUE(result_.ok()) << ::lapilli::testing_support::message_of(result_); \
  } while (0)
#define LAPILLI_ASSERT_OK(expr)                                                   \
  do {                                                                            \
    const auto& result_ = (expr);                                                 \
    ASSERT_TRUE(result_.ok()) << ::lapilli::testing_support::message_of(result_); \
  } while (0)
// LAPILLI_ASSERT_VALUE(auto x, expr): x is the value of a Result that must be one.
#define LAPILLI_ASSERT_VALUE_(tmp, target, expr)                        \
  auto tmp = (expr);                                                    \
  ASSERT_TRUE(tmp.ok()) << ::lapilli::testing_support::message_of(tmp); \
  target = std::move(tmp).value()
#define LAPILLI_ASSERT_VALUE(target, expr) LAPILLI_ASSERT_VALUE_(LAPILLI_CONCAT(value_, __LINE__), target, expr)
