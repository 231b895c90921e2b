// Placeholders in app texts, which a program replaces by words: "{name}", "%1$s".
#pragma once

#include <cstddef>
#include <string_view>

namespace lapilli {

struct Placeholder {
  size_t begin = 0, end = 0;  // bytes of the text; an empty range if there is none
};

// The first placeholder from `from` on: printf's (%d, %1$s, %-5.2f, %@, %(name)s), braces ({name}, {0}, {user.name:>5},
// {}, ${x}, #{x}), templates ({{ name | upper }}), Ruby's (%{x}, %<x>s), Symfony's (%name%) and Qt's (%1). Words in
// single braces are none ("{see below}"), nor is "100 % sure". Empty if there is none. Finding all of a text's takes
// linear time.
Placeholder find_placeholder(std::string_view text, size_t from);

}  // namespace lapilli
