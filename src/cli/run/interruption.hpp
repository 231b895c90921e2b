// A cancel token for calls that cannot ask if the program was interrupted.
#pragma once

#include <atomic>
#include <thread>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// During its lifetime a signal cancels its token, with a short delay: a signal handler must not wake a thread.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  [[nodiscard]] const CancelToken& token() const { return token_; }

 private:
  CancelToken token_;
  std::atomic<bool> over_{false};
  std::thread watch_;
};

}  // namespace lapilli::cli
