// Files below a folder that was given as an input.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

struct FolderFile {
  std::string path;
  std::string below;  // the path below the folder
};

// All that is below, sorted folder by folder: without hidden names, links to folders, and the folder `but` ("": none).
// The exit code; what is wrong is said on stderr.
int files_below(const std::string& folder, const std::string& but, std::vector<FolderFile>& files);

}  // namespace lapilli::cli
