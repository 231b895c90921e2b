// Recordings that only ffmpeg reads, where it is installed: it is started, and its samples are read while it makes
// them.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "recordings/reader.hpp"

namespace lapilli::recordings {

// It is in a folder of PATH.
bool has_ffmpeg();
// Reads a file by its name, or `input` that is open (null: it is not). kind: what it is, for messages.
Result<std::unique_ptr<Reader>> open_by_ffmpeg(const std::string& path, Stream input, const char* kind,
                                               const MediaRequest& request);

}  // namespace lapilli::recordings
