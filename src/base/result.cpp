#include "base/result.hpp"

#include <cstdarg>
#include <cstdio>

namespace lapilli {

namespace {
std::string vformat(const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int n = std::vsnprintf(nullptr, 0, format, args);
  std::string text(n > 0 ? static_cast<size_t>(n) : 0, '\0');
  if (n > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}
}  // namespace

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::ok: return "ok";
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::invalid_data: return "invalid data";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::out_of_memory: return "out of memory";
    case ErrorCode::no_device: return "no device";
    case ErrorCode::device_lost: return "device lost";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal error";
  }
  return "unknown";
}

Failure::Failure(Error error) : error_(new Error(std::move(error))) {}
Failure::Failure(const Failure& other) : error_(other.error_ ? new Error(*other.error_) : nullptr) {}
void Failure::destroy(Error* error) { delete error; }

Error& Failure::none() {
  thread_local Error error;
  error = {};
  return error;
}

Failure fail(ErrorCode code, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Error error{code, vformat(format, args)};
  va_end(args);
  return error;
}

std::string format(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = vformat(format, args);
  va_end(args);
  return text;
}

}  // namespace lapilli
