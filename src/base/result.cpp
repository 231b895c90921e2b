#include "base/result.hpp"

namespace lapilli {

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

Failure fail_with(ErrorCode code, std::string message) { return Error{code, std::move(message)}; }

}  // namespace lapilli
