// Numbers of things, for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapilli {

// "1,234,567".
std::string grouped(uint64_t number);
// "1 layer", "2,048 tokens": `thing` is the word for one of them.
std::string counted(uint64_t number, std::string_view thing);
// "49,664 parameters", "7.3 million parameters".
std::string parameters_text(uint64_t parameters);
// "194 KiB", "28.5 MiB".
std::string size_text(uint64_t bytes);

}  // namespace lapilli
