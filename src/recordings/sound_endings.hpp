// File name endings of recordings, for folders; the kind of a single file is told by its content.
#pragma once

#include <span>
#include <string_view>

namespace lapilli::recordings {

// Lower-case endings, without a dot, of files that open_sound_file() reads.
std::span<const std::string_view> endings_that_are_read();
// Endings of sound files and films, whatever reads them.
std::span<const std::string_view> endings_of_sound();

}  // namespace lapilli::recordings
