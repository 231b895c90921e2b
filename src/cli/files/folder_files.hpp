// Files below a folder that was given as an input.
#pragma once

#include <string>
#include <vector>

#include "cli/files/left_out.hpp"

namespace lapilli::cli {

struct FolderFile {
  std::string path;
  std::string below;                      // the path below the folder
  const ForeignKind* left_out = nullptr;  // hidden, or a link to a folder, a pipe, a device: such are not for reading
};

// All that is below, sorted folder by folder, without the folder `but` ("": none); nothing below hidden folders.
// The exit code; what is wrong is said on stderr.
int files_below(const std::string& folder, const std::string& but, std::vector<FolderFile>& files);

}  // namespace lapilli::cli
