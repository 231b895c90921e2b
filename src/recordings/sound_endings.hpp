// Recordings by the endings of their names, for folders; what a file is, its content says.
#pragma once

#include <span>
#include <string_view>

namespace lapilli::recordings {

// Without a dot, in small letters: of files that open_sound_file() reads.
std::span<const std::string_view> endings_that_are_read();
// Of files of sound, and of films, whatever reads them.
std::span<const std::string_view> endings_of_sound();

}  // namespace lapilli::recordings
