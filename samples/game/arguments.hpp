// The program's arguments in UTF-8, on Windows as well: there argv is in the code page, which lacks most letters.
#pragma once

#include <string>
#include <vector>

namespace game {

std::vector<std::string> utf8_arguments(int argc, char** argv);

}  // namespace game
