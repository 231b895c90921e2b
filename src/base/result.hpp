// Errors as values. Every function that can fail returns Result<T> or Status; nothing in the library throws or aborts.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

// Of a function like printf: which parameter is the format, and which the first that it speaks of.
#if defined(__GNUC__)
#define LAPILLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LAPILLI_PRINTF(text, first)
#endif

namespace lapilli {

// What kind of failure, for programs; the message is for people. The C API maps these one to one.
enum class ErrorCode : int {
  ok = 0,
  invalid_argument,  // the caller's options or ids are wrong
  not_found,         // a file or directory does not exist or cannot be opened
  invalid_data,      // a file's content contradicts its format
  unsupported,       // valid, but not something this build or version does
  out_of_memory,     // host or device
  no_device,         // no Vulkan loader, driver or suitable device
  device_lost,
  timeout,
  cancelled,
  internal,  // a broken invariant of ours
};

const char* error_code_name(ErrorCode code);

// A message says what failed, where (file, tensor, option) and, where there is something to do, what to do.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  // Puts context in front: "loading DIR: message".
  [[nodiscard]] Error in(const std::string& where) && { return {code, where + ": " + message}; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return v_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // Only after ok().
  T& value() & { return assert(ok()), *std::get_if<0>(&v_); }
  const T& value() const& { return assert(ok()), *std::get_if<0>(&v_); }
  T&& value() && { return assert(ok()), std::move(*std::get_if<0>(&v_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  // Only after !ok().
  const Error& error() const& { return assert(!ok()), *std::get_if<1>(&v_); }
  Error&& error() && { return assert(!ok()), std::move(*std::get_if<1>(&v_)); }

 private:
  std::variant<T, Error> v_;
};

// Success, or an error. `return {};` is success.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit on purpose
  [[nodiscard]] bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return assert(failed_), error_; }
  Error&& error() && { return assert(failed_), std::move(error_); }

 private:
  bool failed_ = false;
  Error error_;
};

// Makes an Error from printf-style arguments.
LAPILLI_PRINTF(2, 3)
Error fail(ErrorCode code, const char* format, ...);

// printf into a string; for messages.
LAPILLI_PRINTF(1, 2)
std::string format(const char* format, ...);

}  // namespace lapilli

#define LAPILLI_CONCAT_(a, b) a##b
#define LAPILLI_CONCAT(a, b) LAPILLI_CONCAT_(a, b)

// LAPILLI_CHECK(status_expression): returns its error from this function.
#define LAPILLI_CHECK(expr)                                  \
  do {                                                       \
    if (auto s_ = (expr); !s_) return std::move(s_).error(); \
  } while (0)

// LAPILLI_TRY(auto x, result_expression): declares or assigns x, or returns the error.
#define LAPILLI_TRY_(tmp, target, expr)    \
  auto tmp = (expr);                       \
  if (!tmp) return std::move(tmp).error(); \
  target = std::move(tmp).value()
#define LAPILLI_TRY(target, expr) LAPILLI_TRY_(LAPILLI_CONCAT(try_, __LINE__), target, expr)
