// Errors as values. Every function that can fail returns Result<T> or Status; nothing in the library throws or aborts.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "base/format.hpp"

namespace lapilli {

// The kind of failure, for programs; the message is for people. The C API maps these one to one.
enum class ErrorCode : int {
  ok = 0,
  invalid_argument,  // the caller's options or ids are wrong
  not_found,         // a file or directory does not exist or cannot be opened
  invalid_data,      // a file's content violates its format
  unsupported,       // valid, but not supported by this build or version
  out_of_memory,     // host or device
  no_device,         // no Vulkan loader, driver or suitable device
  device_lost,
  timeout,
  cancelled,
  internal,  // a broken invariant of ours
};

const char* error_code_name(ErrorCode code);

// A message says what failed, where (file, tensor, option) and, if there is a remedy, what to do.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  // Prefixes the context: "loading DIR: message".
  [[nodiscard]] Error in(const std::string& where) && { return {code, where + ": " + message}; }
};

// An Error on its way to the caller: one pointer, null for none. Nearly every line of the library can fail, so the code
// that makes, copies and destroys errors is compiled once and not inlined, which saves a seventh of the time to compile
// a large folder.
class [[nodiscard]] Failure {
 public:
  Failure() = default;
  Failure(Error error);  // NOLINT: implicit on purpose
  Failure(const Failure& other);
  Failure(Failure&& other) noexcept : error_(std::exchange(other.error_, nullptr)) {}
  Failure& operator=(Failure other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  ~Failure() {
    if (error_) destroy(error_);
  }
  explicit operator bool() const { return error_ != nullptr; }
  operator Error() && { return std::move(error()); }  // NOLINT
  // Call only on a failure; otherwise it gives an internal error without a message.
  [[nodiscard]] Error& error() const { return error_ ? *error_ : none(); }

 private:
  static void destroy(Error* error);
  static Error& none();
  Error* error_ = nullptr;
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : value_(std::move(value)) {}              // NOLINT: implicit on purpose
  Result(Error error) : failure_(std::move(error)) {}        // NOLINT
  Result(Failure failure) : failure_(std::move(failure)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  // Call only after ok().
  T& value() & { return assert(ok()), *value_; }
  const T& value() const& { return assert(ok()), *value_; }
  T&& value() && { return assert(ok()), std::move(*value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  // Call only after !ok().
  const Error& error() const& { return failure_.error(); }
  Error&& error() && { return std::move(failure_.error()); }
  [[nodiscard]] Failure failure() && { return std::move(failure_); }

 private:
  std::optional<T> value_;
  Failure failure_;
};

// Success, or an error. `return {};` is success.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failure_(std::move(error)) {}        // NOLINT: implicit on purpose
  Status(Failure failure) : failure_(std::move(failure)) {}  // NOLINT
  [[nodiscard]] bool ok() const { return !failure_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return failure_.error(); }
  Error&& error() && { return std::move(failure_.error()); }
  [[nodiscard]] Failure failure() && { return std::move(failure_); }

 private:
  Failure failure_;
};

Failure fail_with(ErrorCode code, std::string message);

// An error with a formatted message (format.hpp).
template <class... Values>
Failure fail(ErrorCode code, std::type_identity_t<Pattern<Values...>> pattern, const Values&... values) {
  return fail_with(code, format<Values...>(pattern, values...));
}

}  // namespace lapilli

#define LAPILLI_CONCAT_(a, b) a##b
#define LAPILLI_CONCAT(a, b) LAPILLI_CONCAT_(a, b)

// LAPILLI_CHECK(status_expression): returns its error from this function.
#define LAPILLI_CHECK(expr)                                    \
  do {                                                         \
    if (auto s_ = (expr); !s_) return std::move(s_).failure(); \
  } while (0)

// LAPILLI_TRY(auto x, result_expression): declares or assigns x, or returns the error.
#define LAPILLI_TRY_(tmp, target, expr)      \
  auto tmp = (expr);                         \
  if (!tmp) return std::move(tmp).failure(); \
  target = std::move(tmp).value()
#define LAPILLI_TRY(target, expr) LAPILLI_TRY_(LAPILLI_CONCAT(try_, __LINE__), target, expr)
