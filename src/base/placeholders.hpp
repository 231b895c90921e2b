// Placeholders of app texts: what a program puts words in for, "{name}", "%1$s".
#pragma once

#include <cstddef>
#include <string_view>

namespace lapilli {

struct Placeholder {
  size_t begin = 0, end = 0;  // bytes of the text; none is empty
};

// The first one from `from` on: printf's (%d, %1$s, %-5.2f, %@, %(name)s), braces' ({name}, {0}, {user.name:>5}, {},
// ${x}, #{x}), templates' ({{ name | upper }}), those of Ruby (%{x}, %<x>s), Symfony (%name%) and Qt (%1). Single
// braces hold no words: "{see below}" is none, nor is "100 % sure". None where there is none; all of a text takes
// linear time.
Placeholder find_placeholder(std::string_view text, size_t from);

}  // namespace lapilli
