// Turns errors and exceptions of the program's tools into an Outcome.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "tools/tools.hpp"

namespace lapilli::tools {

// Runs `body`, which returns a Result<std::string>. Running out of memory, or exceeding a container's limit, is no bug.
template <class Body>
Outcome guarded(const char* tool, Body&& body) {
  try {
    Result<std::string> text = body();
    if (!text) return {static_cast<int>(text.error().code), text.error().message};
    return {0, std::move(text).value()};
  } catch (const std::bad_alloc&) {
    return {static_cast<int>(ErrorCode::out_of_memory), std::string(tool) + ": out of memory"};
  } catch (const std::length_error&) {
    return {static_cast<int>(ErrorCode::out_of_memory), std::string(tool) + ": out of memory"};
  } catch (const std::exception& e) {
    return {static_cast<int>(ErrorCode::internal), std::string(tool) + ": " + e.what()};
  }
}

}  // namespace lapilli::tools
