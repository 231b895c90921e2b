// Lists the files below a folder that was given as an input.
#pragma once

#include <string>
#include <vector>

#include "cli/files/left_out.hpp"

namespace lapilli::cli {

struct FolderFile {
  std::string path;
  std::string below;                      // the path below the folder
  const ForeignKind* left_out = nullptr;  // hidden, a link to a folder, a pipe or a device: not to be read
};

// Reads "fr" as people mean it: a suffix that begins with a letter gets a dot before it, and an output without an
// ending that is not there is a folder if one of the inputs is.
void settle_places(const std::vector<std::string>& inputs, std::string& output, std::string& suffix);

// Lists all files, sorted folder by folder, without the folder `but` ("": none) and without what is in hidden folders.
// Gives the exit code; errors go to stderr.
int files_below(const std::string& folder, const std::string& but, std::vector<FolderFile>& files);

}  // namespace lapilli::cli
