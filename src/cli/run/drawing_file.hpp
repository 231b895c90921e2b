// Pictures of what a model looked at, as files.
#pragma once

#include <cstddef>
#include <string>

namespace lapilli::cli {

// "svg" or "png", by the name's ending; "" if it is another.
std::string drawing_format(const std::string& name);
// Why no picture can be written there; "" if nothing stands in the way, or nothing was named.
std::string obstacle_to_drawing(const std::string& name);
// Picture number `number`, from 1: FILE, then FILE-2 and so on. What is there is replaced. Gives the exit code.
int write_drawing(const std::string& name, size_t number, const std::string& content);

}  // namespace lapilli::cli
