// Files of pictures that show what a model looked at.
#pragma once

#include <cstddef>
#include <string>

namespace lapilli::cli {

// "svg" or "png", by the name's ending; "" for others.
std::string drawing_format(const std::string& name);
// Why no picture can be written to this name; "" if it can, or if no name is given.
std::string obstacle_to_drawing(const std::string& name);
// Writes picture number `number`, from 1: FILE, then FILE-2 and so on. Replaces existing files. Gives the exit code.
int write_drawing(const std::string& name, size_t number, const std::string& content);

}  // namespace lapilli::cli
