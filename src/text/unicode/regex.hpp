// Regular expressions in the dialect of tokenizer.json files (Oniguruma's, Ruby syntax), run by PCRE2. The library is
// optional: CMake option LAPILLI_REGEX.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

bool regex_available();

// Immutable; find_all() may be called from several threads and may throw std::bad_alloc.
class Regex {
 public:
  // Errors: a build without the library, a pattern that is wrong or too long, or one that PCRE2 cannot express.
  static Result<Regex> compile(const std::string& pattern);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  struct Match {
    size_t begin = 0;
    size_t end = 0;
  };
  // All matches from left to right, not overlapping; `text` must be valid UTF-8. Bounded in time and memory: an error
  // if the pattern backtracks too much on this text.
  [[nodiscard]] Result<std::vector<Match>> find_all(std::string_view text) const;

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace lapilli
