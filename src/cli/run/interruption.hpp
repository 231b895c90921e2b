// A cancel token for calls that cannot ask whether the program was interrupted.
#pragma once

#include <atomic>
#include <thread>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// While it lives a signal cancels its token, a moment later: waking a thread is none of what a signal handler may do.
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
