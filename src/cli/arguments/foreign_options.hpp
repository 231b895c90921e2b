// Options of other programs that people know, and what serves for them here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lapilli::cli {

// What to say of an option that a command does not have; "" if it is nobody's. `ours`: the names of the command's own,
// "--beam".
std::string foreign_option(std::string_view typed, const std::vector<std::string>& ours);

// Of arguments one that would be taken for an option of ours with a value, and is another program's: -osrt is -o srt.
// With what to say of it; "" if there is none.
std::string foreign_spelling(const std::vector<std::string>& arguments, const std::vector<std::string>& ours);

// What to say behind the message that no device has this name; "" if it is not one by which other programs name
// devices.
std::string foreign_device(std::string_view select);

}  // namespace lapilli::cli
