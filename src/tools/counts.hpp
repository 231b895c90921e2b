// Numbers of things, for people.
#pragma once

#include <cstdint>
#include <string>

namespace lapilli::tools {

// "7,322,177".
std::string with_commas(uint64_t value);
// "1 layer", "2,048 tokens": `thing` is the word for one of them.
std::string counted(uint64_t value, const std::string& thing);

}  // namespace lapilli::tools
