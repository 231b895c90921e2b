#include "cli/run/interruption.hpp"

#include <chrono>

#include "cli/system.hpp"

namespace lapilli::cli {

Interruption::Interruption()
    : watch_([this] {
        constexpr std::chrono::milliseconds kOften(20);
        while (!over_ && !interrupted()) std::this_thread::sleep_for(kOften);
        if (!over_) token_.cancel();
      }) {}

Interruption::~Interruption() {
  over_ = true;
  watch_.join();
}

}  // namespace lapilli::cli
