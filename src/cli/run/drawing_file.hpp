// Pictures of what a model looked at, as files.
#pragma once

#include <cstddef>
#include <string>

namespace lapilli::cli {

// "svg" or "png", by the name's ending; "" if it is another.
std::string drawing_format(const std::string& name);
// What is said of such a name.
std::string no_drawing(const std::string& name);
// Picture number `number`, from 1: FILE, then FILE-2 and so on. What is there is replaced. Gives the exit code.
int write_drawing(const std::string& name, size_t number, const std::string& content);

}  // namespace lapilli::cli
