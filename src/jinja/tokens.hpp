// A template cut into tokens by jinja2's rules: text with its blanks trimmed, and what stands in {{ }} and {% %}.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::jinja {

enum class TokenKind : uint8_t {
  text,
  begin_output,
  end_output,
  begin_block,
  end_block,
  name,
  string,  // without quotes and escapes
  integer,
  real,
  mark,  // an operator or a bracket
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  uint32_t line = 0;
};

// The last token is TokenKind::end.
Result<std::vector<Token>> cut_tokens(std::string_view source);

}  // namespace lapilli::jinja
