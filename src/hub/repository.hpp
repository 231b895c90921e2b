// A model's entry on a hub: its files at a commit, and its licence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hub/names.hpp"
#include "hub/requests.hpp"

namespace lapilli::hub {

struct HubFile {
  std::string name;
  uint64_t size = 0;
  std::string sha256;    // of large files
  std::string git_blob;  // of the others: SHA-1 of "blob SIZE", a zero and the content
};

struct Repository {
  std::string commit;
  std::string licence;         // "" if none is stated
  std::vector<HubFile> files;  // those with a plain name, a size and a hash; others cannot be fetched
};

// GET /api/models/OWNER/NAME/revision/REVISION?blobs=true
Result<Repository> ask_for(Requests& requests, const ModelName& model);
// Parses the response, which is untrusted.
Result<Repository> read_repository(std::string_view text);

}  // namespace lapilli::hub
