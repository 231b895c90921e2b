// Files by their names in UTF-8, on Windows as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace game {

// Throws with the name and the reason.
std::vector<uint8_t> read_file(const std::string& path);
void write_file(const std::string& path, const void* bytes, size_t count);
void make_folder(const std::string& path);  // nothing if it is there
bool file_is_there(const std::string& path);

}  // namespace game
