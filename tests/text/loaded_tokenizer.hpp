#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "text/tokenizer.hpp"

namespace lapilli {

// Null, after a failure, if the directory is refused.
inline std::unique_ptr<Tokenizer> loaded_tokenizer(const std::string& directory, const std::string& family = "") {
  auto t = load_tokenizer(directory, family);
  if (!t) {
    ADD_FAILURE() << t.error().message;
    return nullptr;
  }
  return std::move(t).value();
}

}  // namespace lapilli
