// Options that people know from other programs, and their counterparts here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lapilli::cli {

// Advice on an option that the command does not have; "" if no other program has it either. `ours`: the names of the
// command's own options, "--beam".
std::string foreign_option(std::string_view typed, const std::vector<std::string>& ours);

// Finds an argument that would be read as an option of ours with a value, but is another program's option: -osrt is -o
// srt. Gives advice on it; "" if there is none.
std::string foreign_spelling(const std::vector<std::string>& arguments, const std::vector<std::string>& ours);

// Advice to append if no device has this name; "" unless other programs name devices like that.
std::string foreign_device(std::string_view select);

}  // namespace lapilli::cli
