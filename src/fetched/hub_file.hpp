// A model's entry on a hub: its files at a commit, and its licence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lapilli::hub {

struct HubFile {
  std::string name;  // is_file_name()
  uint64_t size = 0;
  std::string sha256;    // of large files
  std::string git_blob;  // of the others: SHA-1 of "blob SIZE", a zero and the content; both "": nothing is stated
};

struct Repository {
  std::string commit;
  std::string licence;         // "" if none is stated
  std::vector<HubFile> files;  // those with a file name, a size and a hash; others cannot be fetched
};

}  // namespace lapilli::hub
