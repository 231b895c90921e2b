// Recordings that only ffmpeg reads, where it is installed: it runs as a child process, and its samples are read as
// they come.
#pragma once

#include <memory>
#include <string>

#include "recordings/reader.hpp"

namespace lapilli::recordings {

// True if ffmpeg is in a folder of PATH.
bool has_ffmpeg();
// Reads a file by its name, or the open `input` (null: none). kind: the kind of file, for messages.
Result<std::unique_ptr<Reader>> open_by_ffmpeg(const std::string& path, Stream input, const char* kind,
                                               const MediaRequest& request);

}  // namespace lapilli::recordings
